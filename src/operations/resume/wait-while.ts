import { steadyNow } from "../../os/clock.ts";
import { openTreeBell } from "../../wakeup/tree-bell.ts";
import type { OperationContext } from "../context.ts";

/** Longest time between two polls, in milliseconds: an agent that is killed with its launch script changes no file. */
const POLL_MS = 250;

/** Waits while a condition holds, at most `forMs` milliseconds, or until the signal aborts. */
export async function waitWhile(
  { ref }: Pick<OperationContext, "ref">,
  condition: () => boolean,
  forMs: number,
  signal?: AbortSignal,
): Promise<void> {
  if (!condition()) return;
  const bell = openTreeBell([ref.paths.dir]);
  const deadline = steadyNow() + forMs;
  try {
    while (signal?.aborted !== true && condition() && steadyNow() < deadline)
      await bell.wait({ timeoutMs: POLL_MS, ...(signal && { signal }) });
  } finally {
    bell.close();
  }
}
