import type { Env } from "../env.ts";

/** A program with its arguments and its whole environment. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Env;
  /** Names of secret variables in `env` that are meant for this program. */
  readonly keeps?: readonly string[];
}

/** A place in which programs run that must not touch everything that their user may. */
export interface Sandbox {
  /**
   * Returns the program that runs another one inside.
   * @throws Error if the sandbox does not work any more: the program must not run then
   */
  wrap(program: Program, cwd: string): Promise<Program>;
}
