import { pause } from "../../os/clock.ts";
import type { ClientCall } from "./client-tool.ts";

/** Milliseconds between two progress notifications. */
const PROGRESS_MS = 5_000;

/** Shows the client that a call is still running, until the work is done. */
export async function withProgress<T>(
  { progress }: Pick<ClientCall, "progress">,
  text: string,
  work: () => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const shown = showProgress(progress, text, ended.signal);
  try {
    return await work();
  } finally {
    ended.abort();
    await shown;
  }
}

async function showProgress(
  progress: ClientCall["progress"],
  text: string,
  signal: AbortSignal,
): Promise<void> {
  do progress(text);
  while ((await pause(PROGRESS_MS, signal)) === "elapsed");
}
