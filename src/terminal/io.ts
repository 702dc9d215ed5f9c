import type { Env } from "../os/env.ts";

/** The world outside as a command sees it; tests hand in their own. */
export interface Io {
  /** The words behind the program's name. */
  readonly argv: readonly string[];
  readonly env: Env;
  readonly cwd: string;
  /** Program and leading arguments that start this command line again. */
  readonly program: readonly string[];
  /** Whether a person is at the other end. */
  readonly terminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  /** The terminal's size now; undefined where stdout is not one, or does not know it. */
  readonly columns: number | undefined;
  readonly rows: number | undefined;
  out(text: string): void;
  err(text: string): void;
  /** Everything on stdin, as UTF-8. */
  readStdin(): Promise<string>;
  /** The next line that a person types; undefined at the end of the input. */
  readLine(): Promise<string | undefined>;
  /** What comes on stdin, as it is. */
  bytesIn(): AsyncIterable<Uint8Array>;
  /** Writes bytes to stdout as they are; the promise ends with the last of them. */
  bytesOut(bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * Aborts at the first Ctrl-C, SIGTERM or hangup, or when the reader of stdout has gone. Only a command that ends by
   * itself then asks for it: until it does, the signals end the process as they always do; a second Ctrl-C or SIGTERM
   * does in any case, unless it comes with the first.
   */
  interruption(): AbortSignal;
}
