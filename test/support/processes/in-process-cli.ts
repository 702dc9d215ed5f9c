import { join } from "node:path";
import { Readable } from "node:stream";
import { runProgram } from "../../../src/cli/program.ts";
import type { Env } from "../../../src/os/env.ts";
import type { Io } from "../../../src/terminal/io.ts";
import { temporaryDirectory } from "../files/temporary-directory.ts";

export interface Ended {
  /** The exit status. */
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The bytes written to stdout. */
  readonly bytes: Buffer;
  /** stdout as JSON. */
  json<T = Record<string, unknown>>(): T;
  /** The error that `--json` printed on stderr. */
  error(): { readonly code: string; readonly message: string; readonly hint: string | null };
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  /** Whether a user is present: stdin, stdout and stderr are a terminal of 80 columns. */
  readonly terminal?: boolean;
  readonly signal?: AbortSignal;
  /** Instead of {@link stdin} and the captured bytes. */
  readonly streams?: Pick<Io, "bytesIn" | "bytesOut">;
  /** Called with each piece of stdout as it comes. */
  readonly onOut?: (text: string) => void;
}

export interface Cli {
  /** Runs one command line in this home, as the program itself does. */
  (words: readonly string[], options?: CliOptions): Promise<Ended>;
  /** The directory that contains all files of this test. */
  readonly directory: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Runs the program in this process, with a private home and captured streams. */
export function cliIn(directory: string = temporaryDirectory()): Cli {
  const root = join(directory, "home");
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: directory,
    TEAMS_HOME: root,
    XDG_RUNTIME_DIR: join(directory, "runtime"),
  };
  return Object.assign(inThisProcess(env, directory), { directory, root, env });
}

/**
 * Runs command lines in this process. Use it instead of the built program to poll: repeated starts of the program would slow down the
 * awaited work.
 */
export function inThisProcess(
  env: Env,
  directory: string,
): (words: readonly string[], options?: CliOptions) => Promise<Ended> {
  return async (words, options = {}) => {
    let out = "";
    let err = "";
    const chunks: Uint8Array[] = [];
    const stdin = Buffer.from(options.stdin ?? "");
    const terminal = options.terminal === true;
    const io: Io = {
      argv: words,
      env: { ...env, ...options.env },
      cwd: directory,
      program: [process.execPath, join(process.cwd(), "dist", "teams.cjs")],
      terminal: { stdin: terminal, stdout: terminal, stderr: terminal },
      columns: terminal ? 80 : undefined,
      rows: terminal ? 24 : undefined,
      out: (text) => {
        out += text;
        options.onOut?.(text);
      },
      err: (text) => {
        err += text;
      },
      readStdin: () => Promise.resolve(stdin.toString("utf8")),
      readLine: () => Promise.resolve(/^(.*)\n/.exec(stdin.toString("utf8"))?.[1]),
      dropTyped: () => Promise.resolve(),
      bytesIn: () => Readable.from([stdin]),
      bytesOut: async (bytes) => {
        for await (const chunk of bytes) chunks.push(chunk);
      },
      ...options.streams,
      interruption: () => options.signal ?? new AbortController().signal,
      endOnCtrlC: () => undefined,
    };
    const code = await runProgram(io);
    return {
      code,
      out,
      err,
      bytes: Buffer.concat(chunks),
      json: <T>() => JSON.parse(out) as T,
      error: () => (JSON.parse(err) as { error: ReturnType<Ended["error"]> }).error,
    };
  };
}
