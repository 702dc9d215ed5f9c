import { spawn } from "node:child_process";
import { closeSync, constants as fsConstants, openSync } from "node:fs";
import type { Socket } from "node:net";
import { constants as osConstants } from "node:os";
import { messageOf, TeamError } from "../../errors.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import type { Env } from "../env.ts";
import { PRIVATE_FILE, setFileMode } from "../files/fs.ts";
import { identityOf } from "./identity.ts";
import { signalProcess } from "./process-table.ts";

interface DetachedOptions {
  readonly cwd: string;
  /** The whole environment: no variable of this process is added. */
  readonly env: Env;
  /** stdout and stderr are appended to this file, 0600 regardless of the umask. */
  readonly logFile: string;
}

/** A program in its own session, which outlives this process. */
interface DetachedProcess {
  readonly pid: number;
  /** Our end of the anonymous socketpair that the child has as descriptor 3. It does not keep this process alive. */
  readonly channel: Socket;
}

/**
 * Starts a program in its own session, with its output in a file and one end of a socketpair as descriptor 3.
 * @throws TeamError SPAWN_FAILED if the system cannot start it
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
    // A reset means only that the child is gone; its exit record says how it ended.
    channel.on("error", () => channel.destroy());
    return { pid: child.pid ?? 0, channel };
  } catch (error) {
    throw new TeamError("SPAWN_FAILED", `${file} could not be started (${messageOf(error)}).`, {
      cause: error,
    });
  } finally {
    closeSync(log);
  }
}

/**
 * Runs a program in this terminal and waits until it ends.
 * @returns its exit status like a shell: 128 + n for signal n
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
 * Runs a program in its own session, so that it cannot take the terminal, and waits until it ends. It has no input, and
 * its output is discarded. A timeout kills its whole process group. Returns no result: callers check the file it writes.
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

/** A program whose end is its only signal. */
export interface WaitingProgram {
  /** Undefined if it could not be started. */
  readonly process: ProcessIdentity | undefined;
  /** Resolves when it has ended in any way, or at once if it could not be started. Never rejects. */
  readonly ended: Promise<void>;
  /** Keeps this process alive until the program has ended. */
  hold(): void;
  /** Ends the program with SIGTERM. */
  end(): void;
}

/**
 * Starts a program without input and output. It keeps this process alive only after `hold`, and outlives this process if
 * this process is killed.
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
    end: () => void child.kill(),
  };
}
