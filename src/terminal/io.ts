import type { Env } from "../os/env.ts";

/** The environment of a command; tests pass their own. */
export interface Io {
  /** The arguments after the program's name. */
  readonly argv: readonly string[];
  readonly env: Env;
  /** The socket of the tmux server that `$TMUX` named, if it has ended; then {@link env} is that of a caller outside tmux. */
  readonly endedTmux?: string | undefined;
  readonly cwd: string;
  /** Program and leading arguments that start this program again. */
  readonly program: readonly string[];
  /** Whether each stream is a terminal. */
  readonly terminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  /** The terminal's current size; undefined if stdout is not a terminal, or the size is unknown. */
  readonly columns: number | undefined;
  readonly rows: number | undefined;
  out(text: string): void;
  err(text: string): void;
  /** Everything on stdin, as UTF-8. */
  readStdin(): Promise<string>;
  /** The next typed line; undefined at the end of the input, and once {@link interruption} aborts. */
  readLine(): Promise<string | undefined>;
  /** Drops the text typed into the terminal of stdin until now: it is not an answer to a later question. A pipe keeps its lines. */
  dropTyped(): Promise<void>;
  /** The raw bytes of stdin. */
  bytesIn(): AsyncIterable<Uint8Array>;
  /** Writes raw bytes to stdout; resolves after the last ones. */
  bytesOut(bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * Aborts at the first Ctrl-C, SIGTERM or hangup, or when the reader of stdout has gone. Call it only in a command that
   * then ends itself: before the call, the signals end the process as usual. A second Ctrl-C or SIGTERM always does,
   * unless it belongs to the first.
   * @param keys `foreign`: Ctrl-C is for another program of this terminal, and is ignored here
   */
  interruption(keys?: "own" | "foreign"): AbortSignal;
  /** Lets the next Ctrl-C end this process, although {@link interruption} was called: the command is already ending. */
  endOnCtrlC(): void;
}
