import { EXIT, TeamError } from "../errors.ts";
import { steadyNow } from "../os/clock.ts";
import { processEnv } from "../os/env.ts";
import { isPlainOutput, writeNow } from "../os/files/fs.ts";
import { realPathOf } from "../os/files/real-path.ts";
import { signalProcess } from "../os/process/process-table.ts";
import type { Io } from "./io.ts";

/** This process's side of {@link Io}, and its end. */
interface ProcessIo extends Io {
  /** Resolves when everything written has left this process. */
  flushed(): Promise<void>;
  /** Whether output was lost (a full disk), so that this process has failed whatever else it did. */
  readonly outputLost: boolean;
  /**
   * Ends this process by the first signal that it was told of, where its terminal hung up or may be about to (who is ended
   * from outside loses that too), and does nothing otherwise. At `process.exit` Node sets the terminal back, and aborts
   * where that is gone; and whoever waits for this process reads the true cause.
   */
  dieOfSignal(): void;
}

type Output = NodeJS.WriteStream & { readonly fd: 1 | 2 };

/**
 * This process as a command sees it. A stream is opened when it is first used, and an answer that goes into a file or a
 * pipe needs none: opening all three costs a cold command more than what it does.
 * @param end called with an exit status when nothing more can be written, unless the command can be interrupted: the
 * reader of our output has gone (EPIPE), or it took no more of it (ENOSPC), which is said on stderr
 */
export function processIo(end: (status: number) => void): ProcessIo {
  const [node, script, ...argv] = process.argv;
  const used = new Map<1 | 2, Output>();
  let outputLost = false;
  const lose = (error: NodeJS.ErrnoException): void => {
    if (outputLost) return;
    outputLost = true;
    process.stderr.write(`teams: The output could not be written: ${error.message}.\n`);
  };
  const failed = (fd: 1 | 2, error: NodeJS.ErrnoException): void => {
    // A terminal that went away: whose session's leader keeps the hangup to itself hears of it here alone.
    if (error.code === "EIO") {
      interrupted?.abort("SIGHUP");
      return;
    }
    if (error.code !== "EPIPE") {
      // What stderr does not take can be said nowhere; the exit status still tells how the command ended.
      if (fd === 2) return;
      lose(error);
    }
    // Who leads a team, or waits for one, ends what it does first.
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
    // Whoever can be interrupted must not wait for a slow reader.
    const atOnce = !used.has(fd) && interrupted === undefined && isPlainOutput(fd);
    const rest = atOnce ? writeAtOnce(fd, text) : text;
    if (rest.length > 0) use(fd).write(rest);
  };
  return {
    argv,
    env: processEnv(),
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
      // A terminal that was never told its size says 0.
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
    dieOfSignal: () => {
      // What a stream said of it may be heard before the hangup itself.
      const isGone = told.has("SIGHUP") || interrupted?.signal.reason === "SIGHUP";
      const first = [...told.keys()][0] ?? (isGone ? "SIGHUP" : undefined);
      const mayBeGone = isGone || told.has("SIGTERM");
      if (first === undefined || !mayBeGone || !isAnyTerminal()) return;
      // Without a listener the signal does again what the system means by it.
      process.removeAllListeners(first);
      signalProcess(process.pid, first);
    },
    readStdin,
    readLine,
    bytesIn: () => process.stdin,
    bytesOut: (bytes) => writeAll(use(1), bytes),
    interruption: () => {
      // Who may outlive its terminal hears of that as an error of either stream, whoever opened it; behind what is urgent now.
      setImmediate(() => void [use(1), use(2)]);
      return interruption();
    },
  };
}

/**
 * Ends this process as failed where nothing is left that could end what its command waits for: Node would take that for
 * success, and say nothing.
 */
export function neverEndUnfinished(end: (status: number) => void): void {
  process.once("beforeExit", () => {
    writeNow(
      2,
      "teams: The command ended before it was done, which is a mistake in teams. teams doctor says what it left.\n",
    );
    end(EXIT.failed);
  });
}

/** At the pace of whoever reads it. */
async function writeAll(stream: Output, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of bytes) {
    if (!stream.write(chunk)) await new Promise<void>((resolve) => stream.once("drain", resolve));
  }
}

function isAnyTerminal(): boolean {
  return [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
}

function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new TeamError("INVALID_INPUT", "The current directory is not there any more; nothing was done.", {
      hint: "Change to one that exists.",
      cause,
    });
  }
}

async function readLine(): Promise<string | undefined> {
  const { createInterface } = await import("node:readline");
  const lines = createInterface({ input: process.stdin, terminal: false });
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

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString("utf8");
}

let interrupted: AbortController | undefined;
/** The signals that came, in their order, each with the moment of its first. */
const told = new Map<NodeJS.Signals, number>();
/**
 * Milliseconds in which a repeat is the same wish: `timeout` and shells signal a program and then its group. Of a terminal that
 * closes both the system and the shell tell, whenever. Ctrl-C is one key for one wish.
 */
const SAME_WISH_MS = { SIGINT: -1, SIGTERM: 1_000, SIGHUP: Number.POSITIVE_INFINITY } as const;

function interruption(): AbortSignal {
  if (interrupted !== undefined) return interrupted.signal;
  const controller = new AbortController();
  interrupted = controller;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    const listener = (): void => {
      const now = steadyNow();
      const first = told.get(signal);
      told.set(signal, first ?? now);
      controller.abort(signal);
      if (first === undefined || now - first <= SAME_WISH_MS[signal]) return;
      // Listening until the second has come: one that arrives while a listener is being removed is lost.
      process.off(signal, listener);
      signalProcess(process.pid, signal);
    };
    process.on(signal, listener);
  }
  return controller.signal;
}
