import { EXIT, TeamError } from "../errors.ts";
import { pause, steadyNow } from "../os/clock.ts";
import { processEnv } from "../os/env.ts";
import { withAbsoluteRoot } from "../os/files/app-directories.ts";
import { isDirectoryInput, isPlainOutput, writeNow } from "../os/files/standard-streams.ts";
import { realPathOf } from "../os/files/symlinks.ts";
import { signalProcess } from "../os/process/process-table.ts";
import { withoutMark } from "../text/characters/byte-order-mark.ts";
import type { Io } from "./io.ts";

/** {@link Io} of this process, and the means to end it. */
interface ProcessIo extends Io {
  /** Resolves when everything written has left this process. */
  flushed(): Promise<void>;
  /** Whether output was lost (a full disk): this process has then failed in any case. */
  readonly outputLost: boolean;
  /**
   * Ends this process by the first signal that it received, or by SIGHUP if its status is {@link HUNG_UP}, if its terminal hung
   * up or may do so soon (as after a SIGTERM); does nothing otherwise. At `process.exit`, Node would restore the terminal and
   * abort if that is gone; and a parent that waits for this process sees the true cause.
   */
  dieOfSignal(status: number): void;
}

/** The exit status of a program whose terminal hung up, as a shell reports it. */
export const HUNG_UP = 129;

type Output = NodeJS.WriteStream & { readonly fd: 1 | 2 };

/**
 * Returns the io of this process. Opens a stream when it is first used, and none for output to a file or a pipe: opening all
 * three takes longer than most commands.
 * @param end called with an exit status if output fails and the command cannot be interrupted: its reader has gone (EPIPE),
 * or it was not accepted (ENOSPC), which is reported on stderr
 */
export function processIo(end: (status: number) => void): ProcessIo {
  const [node, script, ...argv] = process.argv;
  const used = new Map<1 | 2, Output>();
  let outputLost = false;
  const lose = (error: NodeJS.ErrnoException): void => {
    if (outputLost) return;
    outputLost = true;
    process.stderr.write(
      `teams: The output could not be written (${error.message}); the command's changes are kept.\n`,
    );
  };
  const failed = (fd: 1 | 2, error: NodeJS.ErrnoException): void => {
    // The terminal has gone. If its session's leader does not pass the hangup on, only this error reports it.
    if (error.code === "EIO") {
      interrupted?.abort("SIGHUP");
      return;
    }
    if (error.code !== "EPIPE") {
      // An error of stderr cannot be reported; the exit status still shows the command's result.
      if (fd === 2) return;
      lose(error);
    }
    // A command that leads or waits for a team ends its work first.
    if (interrupted !== undefined) interrupted.abort("SIGPIPE");
    else end(outputLost ? EXIT.failed : EXIT.done);
  };
  const use = (fd: 1 | 2): Output => {
    const known = used.get(fd);
    if (known !== undefined) return known;
    const stream: Output = fd === 1 ? process.stdout : process.stderr;
    used.set(fd, stream);
    stream.on("error", (error: NodeJS.ErrnoException) => failed(fd, error));
    return stream;
  };
  const isTerminal = (fd: 1 | 2): boolean => !isPlainOutput(fd) && use(fd).isTTY === true;
  const writeAtOnce = (fd: 1 | 2, text: string): Uint8Array | "" => {
    try {
      return writeNow(fd, text);
    } catch (error) {
      failed(fd, error as NodeJS.ErrnoException);
      return "";
    }
  };
  const write = (fd: 1 | 2, text: string): void => {
    // An interruptible command must not block on a slow reader.
    const atOnce = !used.has(fd) && interrupted === undefined && isPlainOutput(fd);
    const rest = atOnce ? writeAtOnce(fd, text) : text;
    if (rest.length > 0) use(fd).write(rest);
  };
  return {
    argv,
    env: withAbsoluteRoot(processEnv(), currentDirectory),
    get cwd() {
      return currentDirectory();
    },
    program: [node ?? process.execPath, realPathOf(script ?? "")],
    terminal: {
      get stdin() {
        return process.stdin.isTTY === true;
      },
      get stdout() {
        return isTerminal(1);
      },
      get stderr() {
        return isTerminal(2);
      },
    },
    get columns() {
      // A terminal without a set size reports 0.
      return isTerminal(1) ? use(1).columns || undefined : undefined;
    },
    get rows() {
      return isTerminal(1) ? use(1).rows || undefined : undefined;
    },
    out: (text) => write(1, text),
    err: (text) => write(2, text),
    flushed: async () => {
      for (const stream of used.values())
        await new Promise<void>((resolve) => stream.write("", () => resolve()));
    },
    get outputLost() {
      return outputLost;
    },
    dieOfSignal: (status) => {
      // An error of the terminal may come before the hangup signal.
      const isGone = status === HUNG_UP || received.has("SIGHUP") || interrupted?.signal.reason === "SIGHUP";
      const first = [...received.keys()][0] ?? (isGone ? "SIGHUP" : undefined);
      const mayBeGone = isGone || received.has("SIGTERM");
      if (first === undefined || !mayBeGone || !isAnyTerminal()) return;
      // Without a listener, the signal has its default effect.
      process.removeAllListeners(first);
      signalProcess(process.pid, first);
    },
    readStdin,
    readLine,
    dropTyped,
    bytesIn: () => process.stdin,
    bytesOut: (bytes) => writeAll(use(1), bytes),
    interruption: (keys) => {
      // A process that outlives its terminal notices the loss by a stream's error, so open both, after more urgent work.
      setImmediate(() => void [use(1), use(2)]);
      return interruption(keys);
    },
    endOnCtrlC: () => {
      endsOnCtrlC = true;
    },
  };
}

/**
 * Ends this process as failed if its command still waits but nothing is left that could wake it: Node would exit with success.
 */
export function neverEndUnfinished(end: (status: number) => void): void {
  process.once("beforeExit", () => {
    writeNow(
      2,
      "teams: The command ended before it was done, which is a bug in teams. To find what it left behind: teams doctor\n",
    );
    end(EXIT.failed);
  });
}

/** Waits for a slow reader between chunks. */
async function writeAll(stream: Output, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of bytes) {
    if (!stream.write(chunk)) await new Promise<void>((resolve) => stream.once("drain", resolve));
  }
}

function isAnyTerminal(): boolean {
  try {
    return [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
  } catch (error) {
    if (isTerminalGone(error)) return true;
    throw error;
  }
}

/** Whether an error says that the terminal was closed before this process opened it. */
export function isTerminalGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_TTY_INIT_FAILED";
}

function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new TeamError("INVALID_INPUT", "The current directory no longer exists; nothing was done.", {
      hint: "Change to an existing directory.",
      cause,
    });
  }
}

/** Milliseconds without a key after which the terminal's buffer is empty. */
const QUIET_MS = 50;
/** Maximum milliseconds in which keys are dropped. */
const MAX_DROP_MS = 1_000;
const CTRL_C = 3;

/** Node cannot flush a terminal: raw mode also yields a line without its Enter, so everything can be read. */
async function dropTyped(): Promise<void> {
  const { stdin } = process;
  if (!stdin.isTTY) return;
  let last = steadyNow();
  let isInterrupted = false;
  const dropped = (keys: Buffer): void => {
    last = steadyNow();
    isInterrupted ||= keys.includes(CTRL_C);
  };
  const until = last + MAX_DROP_MS;
  stdin.setRawMode(true);
  stdin.on("data", dropped);
  try {
    for (let now = last; now < last + QUIET_MS && now < until; now = steadyNow())
      await pause(last + QUIET_MS - now);
  } finally {
    stdin.off("data", dropped);
    stdin.pause();
    stdin.setRawMode(false);
  }
  if (isInterrupted) signalProcess(process.pid, "SIGINT");
}

async function readLine(): Promise<string | undefined> {
  const { createInterface } = await import("node:readline");
  // A command that handles Ctrl-C itself does not wait for an answer after it.
  const lines = createInterface({ input: process.stdin, terminal: false, signal: interrupted?.signal });
  try {
    return await new Promise((resolve) => {
      lines.once("line", resolve);
      lines.once("close", () => resolve(undefined));
    });
  } finally {
    lines.close();
    process.stdin.pause();
  }
}

/** Returns the text without its byte order mark. @throws TeamError INVALID_INPUT for a directory, which Node reads as an empty file */
async function readStdin(): Promise<string> {
  if (isDirectoryInput(0))
    throw new TeamError("INVALID_INPUT", "stdin is a directory; nothing was done.", {
      hint: "Pass the text through a pipe or from a file.",
    });
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return withoutMark(Buffer.concat(chunks).toString("utf8"));
}

let interrupted: AbortController | undefined;
/** The received signals in order, each with the time of its first arrival. */
const received = new Map<NodeJS.Signals, number>();
/**
 * Milliseconds in which a repeated signal belongs to the first. `timeout` and shells signal a program and then its group. When a
 * terminal closes, both the system and the shell send a hangup, at any time. Each Ctrl-C counts.
 */
const REPEAT_MS = { SIGINT: -1, SIGTERM: 1_000, SIGHUP: Number.POSITIVE_INFINITY } as const;

/** Whether the next Ctrl-C ends this process. */
let endsOnCtrlC = false;

function interruption(keys: "own" | "foreign" = "own"): AbortSignal {
  if (interrupted !== undefined) return interrupted.signal;
  const controller = new AbortController();
  interrupted = controller;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    const listener = (): void => {
      const endsNow = signal === "SIGINT" && endsOnCtrlC;
      if (signal === "SIGINT" && keys === "foreign" && !endsNow) return;
      const now = steadyNow();
      const first = received.get(signal);
      received.set(signal, first ?? now);
      if (!endsNow) controller.abort(signal);
      if (!endsNow && (first === undefined || now - first <= REPEAT_MS[signal])) return;
      // Keep listening until the second signal: a signal is lost if it arrives during the removal of a listener.
      process.off(signal, listener);
      signalProcess(process.pid, signal);
    };
    process.on(signal, listener);
  }
  return controller.signal;
}
