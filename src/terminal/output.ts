import type { Io } from "./io.ts";
import { type Paint, painter, wantsColors } from "./paint.ts";

/** The output of a command. Foreign text must go through `line`, `table` or `visibleBlock` first. */
export interface Output {
  /** Whether stdout gets only JSON (`--json`). */
  readonly json: boolean;
  readonly verbose: boolean;
  readonly paint: Paint;
  /** Columns of the terminal; undefined if stdout is not a terminal. */
  readonly columns: number | undefined;
  /** Prints the requested data: the value with `--json`, else its text. */
  answer(value: object, text: () => string): void;
  /** Prints what was done: the value with `--json`, else a text, which `--quiet` omits. */
  done(value: object, text: () => string): void;
  /** Prints one item of a stream: with `--json`, one object per line. */
  item(value: object, text: () => string): void;
  /** Prints advice on stderr; omitted with `--quiet` and with `--json`. */
  note(text: string): void;
}

interface OutputOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
}

export function openOutput(io: Io, { json, quiet, verbose }: OutputOptions): Output {
  const print = (text: string): void => {
    if (text !== "") io.out(`${text}\n`);
  };
  const jsonText = (value: object): string =>
    io.terminal.stdout ? JSON.stringify(value, null, 2) : JSON.stringify(value);
  return {
    json,
    verbose,
    // Getters: they open stdout, which a command may never use with `--quiet`.
    get paint() {
      return painter(wantsColors(io.env, io.terminal.stdout));
    },
    get columns() {
      return io.columns;
    },
    answer: (value, text) => print(json ? jsonText(value) : text()),
    done: (value, text) => {
      if (json || !quiet) print(json ? jsonText(value) : text());
    },
    item: (value, text) => print(json ? JSON.stringify(value) : text()),
    note: (text) => {
      if (!json && !quiet) io.err(`${text}\n`);
    },
  };
}
