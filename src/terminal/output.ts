import type { Io } from "./io.ts";
import { type Paint, painter, wantsColors } from "./paint.ts";

/** Where a command says things. What is foreign in a text goes through `line`, `table` or `visibleBlock` first. */
export interface Output {
  /** With `--json`: objects and nothing else on stdout. */
  readonly json: boolean;
  readonly verbose: boolean;
  readonly paint: Paint;
  /** Columns of the terminal; undefined where stdout is not one. */
  readonly columns: number | undefined;
  /** What was asked for: the value with `--json`, else its text. */
  answer(value: object, text: () => string): void;
  /** What was done: the value with `--json`, else a text, which `--quiet` leaves out. */
  done(value: object, text: () => string): void;
  /** One of many as they come: one object a line with `--json`. */
  item(value: object, text: () => string): void;
  /** Advice beside the answer, on stderr; neither with `--quiet` nor with `--json`. */
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
    // Asked for when they are needed: they open stdout, which `--quiet` may never use.
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
