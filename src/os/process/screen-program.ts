import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { messageOf } from "../../errors.ts";
import type { Env } from "../env.ts";
import { COMMAND_VARIABLE, endCommand } from "./process-tree.ts";

interface ScreenOptions {
  readonly cwd: string;
  /** The whole environment: no variable of this process is added. */
  readonly env: Env;
}

/** A program that has this process's terminal: its screen, its keys and its signals. */
export interface ScreenProgram {
  readonly pid: number | undefined;
  /** Resolves after its end; never rejects. */
  readonly ended: Promise<{
    /** `exit code 1`, `SIGKILL`, or why it could not be started. */
    readonly how: string;
    /** True if it exited with status 0: usually a person quit it. */
    readonly isDeliberate: boolean;
  }>;
  /** Ends it with everything that it started. */
  end(): Promise<void>;
}

/** Starts a program in this terminal, in the process group of this process, which therefore must not act on Ctrl-C. */
export function startOnScreen(file: string, args: readonly string[], options: ScreenOptions): ScreenProgram {
  const mark = randomUUID();
  const child = spawn(file, args, {
    cwd: options.cwd,
    env: { ...options.env, [COMMAND_VARIABLE]: mark },
    stdio: "inherit",
  });
  const ended = new Promise<{ how: string; isDeliberate: boolean }>((resolve) => {
    child.once("exit", (code, signal) =>
      resolve({ how: signal ?? `exit code ${code}`, isDeliberate: code === 0 }),
    );
    child.once("error", (error) => resolve({ how: messageOf(error), isDeliberate: false }));
  });
  return {
    pid: child.pid,
    ended,
    end: async () => {
      if (child.pid !== undefined) await endCommand(child, mark);
    },
  };
}
