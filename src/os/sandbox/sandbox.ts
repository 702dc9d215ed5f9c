import type { ChildProcess } from "node:child_process";
import type { Env } from "../env.ts";

/** A program with its arguments and its whole environment. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Env;
  /** Names of secret variables in `env` that are meant for this program. */
  readonly keeps?: readonly string[];
  /** Existing files that it may write in a sandbox too. */
  readonly writes?: readonly string[];
}

/** A program that runs another one inside. */
export interface WrappedProgram extends Program {
  /**
   * Starts it in a sandbox that was set up before, which is faster; its stdin is empty, its output goes to pipes, and it leads
   * a process group.
   * @param env its whole environment: {@link env} and what the caller adds
   * @returns undefined if no such sandbox fits: start it by its file and arguments
   */
  startPrewarmed?(env: Env): ChildProcess | undefined;
}

/** A place in which programs run that must not touch everything that their user may. */
export interface Sandbox {
  /**
   * Returns the program that runs another one inside.
   * @throws Error if the sandbox no longer works: the program must not run then
   */
  wrap(program: Program, cwd: string): Promise<WrappedProgram>;
}
