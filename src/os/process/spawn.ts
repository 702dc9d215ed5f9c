import { spawn } from "node:child_process";
import { closeSync, constants as fsConstants, openSync } from "node:fs";
import type { Socket } from "node:net";
import { constants as osConstants } from "node:os";
import { TeamError } from "../../errors.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import type { Env } from "../env.ts";
import { PRIVATE_FILE, setFileMode } from "../files/fs.ts";
import { identityOf } from "./identity.ts";
import { signalProcess } from "./process-table.ts";

export interface DetachedOptions {
  readonly cwd: string;
  /** The whole environment: nothing of this process is added. */
  readonly env: Env;
  /** stdout and stderr go to the end of this file, 0600 whatever the umask. */
  readonly logFile: string;
}

/** A program in a session of its own, which outlives this process. */
export interface DetachedProcess {
  readonly pid: number;
  /** Our end of the anonymous socketpair that the child has as descriptor 3. It does not keep this process alive. */
  readonly channel: Socket;
}

/**
 * Starts a program in its own session, with its output in a file and one end of a socketpair as descriptor 3.
 * @throws TeamError SPAWN_FAILED when the system refuses to start it
 */
export async function spawnDetached(
  file: string,
  args: readonly string[],
  options: DetachedOptions,
): Promise<DetachedProcess> {
  const log = openSync(
    options.logFile,
    fsConstants.O_WRONLY | fsConstants.O_CREAT | fsConstants.O_APPEND | fsConstants.O_NOFOLLOW,
    PRIVATE_FILE,
  );
  try {
    setFileMode(log, PRIVATE_FILE);
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: { ...options.env },
      detached: true,
      stdio: ["ignore", log, log, "pipe"],
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    child.unref();
    const channel = child.stdio[3] as Socket;
    channel.unref();
    // A reset only says that the child is gone, which its exit record says better.
    channel.on("error", () => channel.destroy());
    return { pid: child.pid ?? 0, channel };
  } catch (error) {
    throw new TeamError("SPAWN_FAILED", `${file} could not be started: ${String(error)}.`, { cause: error });
  } finally {
    closeSync(log);
  }
}

/**
 * Runs a program in this terminal, which it has for itself until it ends.
 * @returns its exit status as a shell has it: 128 + n for signal n
 */
export function runForeground(file: string, args: readonly string[], env: Env): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: "inherit", env: { ...env } });
    child.once("error", reject);
    child.once("exit", (code, signal) =>
      resolve(code ?? 128 + (signal === null ? 0 : osConstants.signals[signal])),
    );
  });
}

/**
 * Runs a program to its end in a session of its own, so that it cannot take the terminal, with nothing to read and its
 * output dropped. At the timeout its whole process group is killed. Says nothing: what counts is the file it leaves.
 */
export function runDetached(
  file: string,
  args: readonly string[],
  options: { readonly env: Env; readonly timeoutMs: number },
): Promise<void> {
  const child = spawn(file, args, { env: { ...options.env }, detached: true, stdio: "ignore" });
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      if (child.pid !== undefined) signalProcess(-child.pid, "SIGKILL");
    }, options.timeoutMs);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    child.once("error", done);
    child.once("exit", done);
  });
}

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
export function startSentinel(file: string, args: readonly string[], env: Env): WaitingProgram {
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
