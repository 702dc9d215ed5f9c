import { join } from "node:path";
import { Readable } from "node:stream";
import { runProgram } from "../../../src/cli/program.ts";
import type { Io } from "../../../src/terminal/io.ts";
import { temporaryDirectory } from "../files/temporary-directory.ts";

export interface Ended {
  /** The exit status. */
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** What was written to stdout as bytes. */
  readonly bytes: Buffer;
  /** stdout as JSON. */
  json<T = Record<string, unknown>>(): T;
  /** The error that `--json` put on stderr. */
  error(): { readonly code: string; readonly message: string; readonly hint: string | null };
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  /** Whether a person sits there: stdin, stdout and stderr are a terminal of 80 columns. */
  readonly terminal?: boolean;
  readonly signal?: AbortSignal;
  /** Told of each piece of stdout as it comes. */
  readonly onOut?: (text: string) => void;
}

export interface Cli {
  /** One command line in this home, as the program itself runs it. */
  (words: readonly string[], options?: CliOptions): Promise<Ended>;
  /** Directory that holds everything of this test. */
  readonly directory: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The program in a home of this test alone, with captured streams. */
export function cliIn(directory: string = temporaryDirectory()): Cli {
  const root = join(directory, "home");
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: directory,
    TEAMS_HOME: root,
    XDG_RUNTIME_DIR: join(directory, "runtime"),
  };
  const cli = async (words: readonly string[], options: CliOptions = {}): Promise<Ended> => {
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
      bytesIn: () => Readable.from([stdin]),
      bytesOut: async (bytes) => {
        for await (const chunk of bytes) chunks.push(chunk);
      },
      interruption: () => options.signal ?? new AbortController().signal,
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
  return Object.assign(cli, { directory, root, env });
}
