import type { ChildProcess } from "node:child_process";
import type { Env } from "../env.ts";

/** A program with its arguments and its whole environment. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Env;
  /** Names of secret variables in `env` that are meant for this program. */
  readonly keeps?: readonly string[];
  /** Existing files that the program may write even in a sandbox. */
  readonly writes?: readonly string[];
}

/** A program that runs another program in a sandbox. */
export interface WrappedProgram extends Program {
  /**
   * Starts the program in a sandbox that was set up before, which is faster. Its stdin is empty, its output goes to pipes, and it
   * leads a process group.
   * @param env its whole environment: {@link env} and the caller's additions
   * @returns undefined if no such sandbox matches: start the program by `file` and `args` then
   */
  startPrewarmed?(env: Env): ChildProcess | undefined;
}

/** Runs programs that must not access everything that their user may. */
export interface Sandbox {
  /**
   * Returns the program that runs `program` in the sandbox.
   * @throws Error if the sandbox no longer works: the program must not run then
   */
  wrap(program: Program, cwd: string): Promise<WrappedProgram>;
}
