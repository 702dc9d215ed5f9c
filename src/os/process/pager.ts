import { spawn } from "node:child_process";
import type { Env } from "../env.ts";

/** Exit codes of the shell for a program that it cannot run or find. */
const NOT_RUN: ReadonlySet<number | null> = new Set([126, 127]);

/**
 * Shows a text in the user's pager (`PAGER`, a shell command; `less` by default) in this process's terminal, and waits for its end.
 * @returns false if there is no pager, or the user wants none (`PAGER=cat`): print the text then
 */
export async function showInPager(text: string, env: Env): Promise<boolean> {
  const command = env.PAGER ?? "less";
  if (command === "" || command === "cat" || env.TERM === "dumb") return false;
  // As git does: stay only for more than a screen, keep colours, leave the text on the screen.
  const child = spawn("/bin/sh", ["-c", command], {
    env: { ...env, LESS: env.LESS ?? "FRX", LV: env.LV ?? "-c" },
    stdio: ["pipe", "inherit", "inherit"],
  });
  // Ctrl-C is for the pager; this process must outlive it, or both would read the terminal.
  const ignore = (): void => undefined;
  process.on("SIGINT", ignore);
  try {
    return await new Promise<boolean>((resolve) => {
      child.once("error", () => resolve(false));
      child.once("close", (code) => resolve(!NOT_RUN.has(code)));
      // The user may quit before the end of the text.
      child.stdin?.on("error", ignore).end(text);
    });
  } finally {
    process.off("SIGINT", ignore);
  }
}
