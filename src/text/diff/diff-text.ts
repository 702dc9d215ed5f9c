import { cells } from "../cell-width.ts";
import { textStart } from "../characters/cut-text.ts";
import { type Style, styled, TONE } from "../style.ts";
import type { Part } from "./changed-words.ts";

/** Columns between two tab stops. */
const TAB = 4;
const COLORS: Readonly<Record<string, Style>> = { "-": TONE.bad, "+": TONE.good };

export function quiet(text: string, plain: boolean): string {
  return plain ? text : styled(text, [TONE.quiet]);
}

/** Colours a row by the sign of its line; changed parts have reversed colours. @param start precedes the parts */
export function styledRow(start: string, parts: readonly Part[], sign: string, plain: boolean): string {
  if (plain) return `${start}${parts.map(({ text }) => text).join("")}`;
  const [first, ...rest] = parts;
  const joined =
    first?.changed === false
      ? [{ text: start + first.text, changed: false }, ...rest]
      : [{ text: start, changed: false }, ...parts];
  return joined
    .map(({ text, changed }) => styled(text, [COLORS[sign], changed ? "reverse" : undefined]))
    .join("");
}

/**
 * Wraps a line at exactly `width` cells and replaces its tabs with spaces.
 * @param tabSign shown for a changed tab, which would look like changed spaces
 */
export function wrappedParts(parts: readonly Part[], width: number, tabSign: string): Part[][] {
  const flow = rowFlow(width);
  for (const { text, changed } of parts)
    for (const [piece] of text.matchAll(/[\x20-\x7e]+|\t|[^\x20-\x7e\t]+/g)) {
      if (piece === "\t") {
        const spaces = " ".repeat(TAB - (flow.column() % TAB));
        flow.addAscii(changed ? `${tabSign}${spaces.slice(1)}` : spaces, changed);
      } else if (ASCII.test(piece)) flow.addAscii(piece, changed);
      else for (const cell of cells(piece)) flow.add(cell.char, cell.width, changed);
    }
  return flow.rows;
}

const ASCII = /^[\x20-\x7e]/;

/** Rows of at most `width` cells, filled from pieces of a line. */
interface RowFlow {
  readonly rows: Part[][];
  /** Cells so far, in all rows. */
  column(): number;
  add(text: string, size: number, changed: boolean): void;
  /** Adds a text whose characters take one cell each. */
  addAscii(text: string, changed: boolean): void;
}

function rowFlow(width: number): RowFlow {
  const rows: { text: string; changed: boolean }[][] = [[]];
  let used = 0;
  let column = 0;
  const add = (text: string, size: number, changed: boolean): void => {
    if (used > 0 && used + size > width) {
      rows.push([]);
      used = 0;
    }
    const row = rows[rows.length - 1];
    const last = row?.[row.length - 1];
    if (last?.changed === changed) last.text += text;
    else row?.push({ text, changed });
    used += size;
    column += size;
  };
  const addAscii = (text: string, changed: boolean): void => {
    for (let at = 0; at < text.length; ) {
      const part = textStart(text.slice(at), used < width ? width - used : width);
      add(part, part.length, changed);
      at += part.length;
    }
  };
  return { rows, column: () => column, add, addAscii };
}
