import { cutToWidth, displayWidth } from "../../text/cell-width.ts";
import { diffRows } from "../../text/diff/diff-rows.ts";
import { TONE } from "../../text/style.ts";
import { gridText } from "../../text/terminal-text.ts";
import { brokenRows } from "../../text/word-wrap.ts";
import { firstRows, type PaneWriter, rowsOf } from "./pane-writer.ts";

/** Maximum results that can be shown again in full: the newest ones. */
const MAX_EXPANDABLE = 20;

/** Writes results of tools: the first and the last rows of a long one. */
export interface ResultWriter {
  /** Writes a result below its call. @param title names the call, for a result that is shown again */
  write(text: string, title: string, isError: boolean): void;
  /** Writes the change to a file: the first rows of a long one. @param lines the lines of a unified diff */
  change(lines: readonly string[], title: string): void;
  /** Writes the text of a message: the first rows of a long one. */
  message(text: string, title: string): void;
  /** Writes one row for a text that is shown only on demand. */
  fold(title: string, text: string): void;
  /** Shows the newest shortened result in full; each later call shows the result before it. @returns false if there is none */
  expand(): boolean;
}

interface Shortened {
  readonly title: string;
  /** Returns all of its rows for a number of columns. */
  rows(width: number): readonly string[];
}

export function resultWriter(pane: PaneWriter): ResultWriter {
  let shortened: readonly Shortened[] = [];
  /** Index of the result that `expand` showed last. */
  let shown: number | undefined;
  const remember = (result: Shortened): void => {
    shortened = [...shortened, result].slice(-MAX_EXPANDABLE);
    shown = undefined;
  };
  const hint = pane.live === undefined ? "" : " · ctrl+o";
  const quietRows = (text: string) => (width: number) =>
    rowsOf(narrowNumbers(text), width).map((row) => pane.styleText(TONE.quiet, row));
  return {
    write(text, title, isError) {
      const rows = rowsOf(narrowNumbers(text), Number.POSITIVE_INFINITY);
      const excerpt = headAndTail(rows, pane.resultRows, hint);
      const cut = excerpt.map((row) => cutToWidth(row, pane.width() - 5));
      const isRowCut = cut.some((row, i) => row !== excerpt[i]);
      // The row of the call cuts a long title.
      const isCut = excerpt !== rows || isRowCut || displayWidth(title) > pane.width() - 2;
      if (isCut) remember({ title, rows: quietRows(text) });
      const style = isError ? TONE.bad : TONE.quiet;
      for (const [i, row] of cut.entries())
        pane.row(pane.styleText(style, `${i === 0 ? "  ⎿ " : "    "}${row}`));
    },
    change(lines, title) {
      const whole = (width: number): string[] => diffRows(lines, { width, plain: pane.plain });
      const width = pane.width() - 5;
      const rows = diffRows(lines, { width, plain: pane.plain, limit: pane.changeRows });
      const isCut = rows.length > pane.changeRows && rows.length < whole(width).length;
      if (isCut) remember({ title, rows: whole });
      const more = isCut ? pane.styleText(TONE.quiet, hint) : "";
      for (const [i, row] of rows.entries()) pane.row(`    ${row}${i === rows.length - 1 ? more : ""}`);
    },
    message(text, title) {
      const whole = (width: number): string[] => pane.textRows(text, width);
      const rows = whole(pane.width() - 2);
      const shown = firstRows(rows, pane.messageRows, hint);
      if (shown !== rows) remember({ title, rows: whole });
      for (const row of shown) pane.row(`  ${row}`);
    },
    fold(title, text) {
      remember({ title, rows: quietRows(text) });
      const words = cutToWidth(gridText(text), pane.width() - 6 - title.length - hint.length);
      pane.row(pane.styleText(TONE.quiet, `✻ ${title}: ${words}${hint}`));
    },
    expand() {
      const next = (shown ?? shortened.length) - 1;
      const result = shortened[next];
      if (result === undefined) return false;
      shown = next;
      pane.begin("tool");
      for (const row of brokenRows(result.title, pane.width() - 1)) pane.row(pane.styleText("bold", row));
      for (const row of result.rows(pane.width() - 4)) pane.row(`    ${row}`);
      return true;
    },
  };
}

/** The number of a line, as `Read` and `cat -n` write it. */
const LINE_NUMBER = /^ {0,5}(\d+)\t/;

/** Returns a text whose numbered lines have no wider margin than their numbers need; any other text unchanged. */
function narrowNumbers(text: string): string {
  if (!LINE_NUMBER.test(text)) return text;
  const lines = text.split("\n");
  const digits = lines.reduce((most, row) => Math.max(most, LINE_NUMBER.exec(row)?.[1]?.length ?? 0), 0);
  return lines.map((row) => row.replace(LINE_NUMBER, (_, n: string) => `${n.padStart(digits)}  `)).join("\n");
}

/** Returns the first and the last rows, with the number of hidden rows between them; the rows themselves if they fit. */
function headAndTail(rows: readonly string[], limit: number, hint: string): readonly string[] {
  // A row with “1 more line” would take the place of that line.
  if (rows.length <= limit + 1) return rows;
  const head = Math.ceil(limit / 2);
  const tail = limit - head;
  return [
    ...rows.slice(0, head),
    `… ${rows.length - limit} more lines${hint}`,
    ...rows.slice(rows.length - tail),
  ];
}
