import { spawn } from "node:child_process";
import { constants } from "node:os";
import type { Env } from "./env.ts";

/**
 * Runs a program in this terminal, which it has for itself until it ends.
 * @returns its exit status as a shell has it: 128 + n for signal n
 */
export function runInForeground(file: string, args: readonly string[], env: Env): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: "inherit", env: { ...env } });
    child.once("error", reject);
    child.once("exit", (code, signal) =>
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
    );
  });
}
