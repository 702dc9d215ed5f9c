import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { Duplex } from "node:stream";
import { messageOf, systemCode } from "../../errors.ts";
import { isDoneWithin } from "../done-within.ts";
import type { Env } from "../env.ts";
import { withoutTerminal } from "./no-terminal.ts";
import { COMMAND_VARIABLE, endCommand } from "./process-tree.ts";

export interface CommandOptions {
  readonly cwd: string;
  /** The whole environment: no variable of this process is added. Editors, pagers and questions are replaced: there is no terminal. */
  readonly env: Env;
  /** Text for stdin; default: empty. */
  readonly input?: string;
  readonly timeoutMs: number;
  /** Identifies the command for `endMarked`, which another process may call; by default a new one. */
  readonly mark?: string;
  readonly signal: AbortSignal;
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Buffer) => void;
  /** Called with the pid of the program, which leads its session and process group. */
  readonly onStarted?: ((pid: number) => void) | undefined;
  /**
   * Starts the program faster than its file does, for a program without input: as leader of a process group, with output to pipes.
   * Returns undefined if it cannot.
   */
  readonly startPrewarmed?: ((env: Env) => ChildProcess | undefined) | undefined;
}

export interface CommandEnd {
  readonly code: number | undefined;
  readonly signal: string | undefined;
  /** Why it was ended, or could not be started. */
  readonly failure?: "timed-out" | "aborted" | "not-started";
  /** The system error if it could not be started, and its code. */
  readonly message?: string;
  readonly systemCode?: string;
  /** The pids of its processes that could not be ended, such as those of sudo; missing if there are none. */
  readonly left?: readonly number[];
}

/** Milliseconds in which the exit of a killed program is reported; one that this user may not kill is not waited for. */
const EXIT_MS = 2_000;
/** Milliseconds to continue reading after the program exited, if a child that it left behind keeps its output open. */
const DRAIN_MS = 200;

/**
 * Runs a program in its own session and process group: no controlling terminal, stdin closed after the input. A timeout or
 * an abort ends it with everything it started. Processes that it leaves behind when it exits normally stay, but their
 * output is no longer read. Rejects only if the program must be ended, and the process table cannot be read.
 */
export async function runCommandGroup(
  file: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandEnd> {
  if (options.signal.aborted) return { code: undefined, signal: undefined, failure: "aborted" };
  const mark = options.mark ?? randomUUID();
  const started = start(file, args, {
    ...options,
    env: { ...withoutTerminal(options.env), [COMMAND_VARIABLE]: mark },
  });
  if ("failure" in started) return started;
  const { child } = started;
  if (child.pid !== undefined) options.onStarted?.(child.pid);
  // A program that does not read stdin closes it, which is an error event here.
  child.stdin?.on("error", () => undefined).end(options.input);
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream]?.on("data", (bytes: Buffer) => options.onOutput(stream, bytes));
  }
  if (child.pid !== undefined) endInput(child.stderr);
  const end = endOf(child);
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  if (!(await isDoneWithin(options.timeoutMs, end, options.signal))) {
    const stopped = await stop(child, mark, end);
    return { ...stopped, failure: options.signal.aborted ? "aborted" : "timed-out" };
  }
  const ended = await end;
  if (ended.failure === undefined) await isDoneWithin(DRAIN_MS, closed, options.signal);
  child.stdout?.destroy();
  child.stderr?.destroy();
  return ended;
}

async function stop(child: ChildProcess, mark: string, end: Promise<CommandEnd>): Promise<CommandEnd> {
  const left = child.pid === undefined ? [] : await endCommand(child, mark);
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  // A program that this user may not kill does not keep this process running.
  child.unref();
  const how = (await isDoneWithin(EXIT_MS, end)) ? await end : { code: undefined, signal: undefined };
  return left.length > 0 ? { ...how, left } : how;
}

/**
 * Sends end-of-file to a program's stderr, which is a socket: after the end of stdin, programs such as vim read keys from stderr, and
 * would wait for them. stdout is left alone: Python's asyncio takes an end-of-file there for a closed reader, and stops writing.
 */
function endInput(stderr: ChildProcess["stderr"]): void {
  // The types do not say that it is a socket.
  if (stderr instanceof Duplex) stderr.end();
}

/** A missing program is reported by an event; arguments or an environment that are too long throw at once. */
function start(
  file: string,
  args: readonly string[],
  options: CommandOptions,
): { readonly child: ChildProcess } | (CommandEnd & { readonly failure: "not-started" }) {
  const { startPrewarmed, input, env } = options;
  try {
    const prewarmed = input === undefined ? startPrewarmed?.(env) : undefined;
    if (prewarmed !== undefined) return { child: prewarmed };
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: { ...env },
      detached: true,
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
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
