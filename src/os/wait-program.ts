import { spawn } from "node:child_process";
import type { ProcessIdentity } from "../schema/process.ts";
import type { Env } from "./env.ts";
import { identityOf } from "./identity.ts";

/** A program that says something by its end alone. */
export interface WaitingProgram {
  /** Undefined when it could not be started. */
  readonly process: ProcessIdentity | undefined;
  /** Resolves when it has ended, however; at once when it could not be started. Never rejects. */
  readonly ended: Promise<void>;
  /** Keeps this process alive from now on until it has ended. */
  hold(): void;
}

/**
 * Starts a program without input and output. It does not keep this process alive until it is held, and outlives it when
 * that is killed.
 * @param env the whole environment
 */
export function startWaiting(file: string, args: readonly string[], env: Env): WaitingProgram {
  const child = spawn(file, args, { env: { ...env }, stdio: "ignore" });
  child.unref();
  const ended = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("exit", () => resolve());
  });
  return {
    process: child.pid === undefined ? undefined : identityOf(child.pid),
    ended,
    hold: () => child.ref(),
  };
}
