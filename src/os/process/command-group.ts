import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { messageOf, systemCode } from "../../errors.ts";
import { pause } from "../clock.ts";
import type { Env } from "../env.ts";
import { COMMAND_VARIABLE, endCommand } from "./process-tree.ts";

export interface CommandOptions {
  readonly cwd: string;
  /** The whole environment: nothing of this process is added. */
  readonly env: Env;
  /** What it reads on stdin; nothing without it. */
  readonly input?: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Buffer) => void;
}

export interface CommandEnd {
  readonly code: number | undefined;
  readonly signal: string | undefined;
  /** Why it did not end by itself, or did not begin. */
  readonly failure?: "timed-out" | "aborted" | "not-started";
  /** What the system said when it did not begin, and its code for that. */
  readonly message?: string;
  readonly systemCode?: string;
}

/** Milliseconds to read on when the program is gone and something that it left holds its output open. */
const DRAIN_MS = 200;

/**
 * Runs a program in a session and process group of its own: no controlling terminal, stdin closed behind its input. At the timeout
 * and at the abort it is ended with all that it started. What a program leaves running when it ends by itself
 * stays, but is not read any more. Rejects only where the system does not show what is to be ended.
 */
export async function runCommandGroup(
  file: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandEnd> {
  if (options.signal.aborted) return { code: undefined, signal: undefined, failure: "aborted" };
  const mark = randomUUID();
  const begun = begin(file, args, { ...options, env: { ...options.env, [COMMAND_VARIABLE]: mark } });
  if ("failure" in begun) return begun;
  const { child } = begun;
  // One that reads nothing closes its end.
  child.stdin?.on("error", () => undefined).end(options.input);
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream]?.on("data", (bytes: Buffer) => options.onOutput(stream, bytes));
  }
  const end = endOf(child);
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const first = await before(end, options.timeoutMs, options.signal);
  if (first === undefined) {
    if (child.pid !== undefined) await endCommand(child.pid, mark);
    child.stdout?.destroy();
    child.stderr?.destroy();
    const failure = options.signal.aborted ? "aborted" : "timed-out";
    return { ...(await end), failure };
  }
  if (first.failure === undefined) await before(closed, DRAIN_MS, options.signal);
  child.stdout?.destroy();
  child.stderr?.destroy();
  return first;
}

/** A program that is not there says so by an event; what its arguments or environment are too long for, at once. */
function begin(
  file: string,
  args: readonly string[],
  options: CommandOptions,
): { readonly child: ChildProcess } | (CommandEnd & { readonly failure: "not-started" }) {
  try {
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: { ...options.env },
      detached: true,
      stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
    return { child };
  } catch (error) {
    return {
      code: undefined,
      signal: undefined,
      failure: "not-started",
      message: messageOf(error),
      systemCode: systemCode(error) ?? "",
    };
  }
}

function endOf(child: ChildProcess): Promise<CommandEnd> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code: code ?? undefined, signal: signal ?? undefined }));
    child.once("error", (error) =>
      resolve({ code: undefined, signal: undefined, failure: "not-started", message: error.message }),
    );
  });
}

/** What comes first: the event, or the time or the abort (undefined). Leaves no timer and no listener to the signal behind. */
async function before<T>(event: Promise<T>, ms: number, signal: AbortSignal): Promise<T | undefined> {
  const over = new AbortController();
  const waited = pause(ms, AbortSignal.any([signal, over.signal])).then(() => undefined);
  const first = await Promise.race([event, waited]);
  over.abort();
  return first;
}
