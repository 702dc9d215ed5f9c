import type { Env } from "../os/env.ts";
import type { Io } from "./io.ts";

interface CapturedIoOptions {
  readonly argv: readonly string[];
  readonly env: Env;
  readonly cwd: string;
  readonly columns?: number | undefined;
  /** Gets the output to stdout and stderr. */
  write(text: string): void;
  /** Aborts when the command must end. */
  readonly signal: AbortSignal;
}

/** Returns the io of a command that runs within this process: no terminal and no input. */
export function capturedIo({ program }: Pick<Io, "program">, options: CapturedIoOptions): Io {
  const { write, signal, argv, env, cwd, columns } = options;
  return {
    argv,
    env,
    cwd,
    program,
    terminal: { stdin: false, stdout: false, stderr: false },
    columns,
    rows: undefined,
    out: write,
    err: write,
    readStdin: () => Promise.resolve(""),
    readLine: () => Promise.resolve(undefined),
    dropTyped: () => Promise.resolve(),
    bytesIn: noInput,
    bytesOut: discard,
    interruption: () => signal,
    endOnCtrlC: () => undefined,
  };
}

async function* noInput(): AsyncIterable<Uint8Array> {
  // The command must not read this process's terminal.
}

async function discard(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of bytes);
}
