import { cells, displayWidth } from "../cell-width.ts";
import type { Style, Styler } from "../style.ts";

/** A piece of text in one style, without control characters except newlines. */
export interface Span {
  readonly text: string;
  readonly styles: readonly Style[];
  /** The address that a click opens, ready for a terminal. */
  readonly href?: string | undefined;
}

/** One row of the screen. */
export type Row = readonly Span[];

/** Characters that do not begin a row: closing brackets and punctuation. */
const NOT_FIRST = /^[、。，．・：；？！）］｝」』】〕〉》ー.,:;?!)\]}'"…]/;

/** Returns the cells that a row takes. */
export function rowWidth(row: Row): number {
  return row.reduce((sum, { text }) => sum + displayWidth(text), 0);
}

/**
 * Wraps spans at spaces, between wide characters and at newlines; breaks a longer word. A span may begin or end inside a word.
 * @param width of each row in cells, at least 2
 */
export function wrapSpans(spans: readonly Span[], width: number): Row[] {
  const rows = rowWriter(width);
  let gap: Span[] = [];
  let word: Span[] = [];
  let wordWidth = 0;
  let mayBreak = false;
  const settle = (): void => {
    mayBreak = false;
    if (word.length === 0) return;
    const isFirst = rows.column() === 0;
    if (!isFirst && rows.column() + rowWidth(gap) + wordWidth > width) rows.next();
    else if (!isFirst) for (const piece of gap) rows.put(piece);
    for (const piece of word) rows.put(piece);
    gap = [];
    word = [];
    wordWidth = 0;
  };
  const addToWord = (span: Span, { text, wide }: Piece): void => {
    if ((mayBreak || wide) && !NOT_FIRST.test(text)) settle();
    word.push({ ...span, text });
    wordWidth += displayWidth(text);
    mayBreak = wide;
  };
  for (const span of spans) {
    for (const [token] of span.text.matchAll(/\n| +|[^ \n]+/g)) {
      if (token === "\n") {
        settle();
        rows.next();
        gap = [];
      } else if (token.startsWith(" ")) {
        settle();
        gap.push({ ...span, text: token });
      } else for (const piece of piecesOf(token)) addToWord(span, piece);
    }
  }
  settle();
  return rows.rows();
}

/** Breaks spans at newlines and exactly at the width, and keeps all spaces. @param width in cells, at least 2 */
export function breakSpans(spans: readonly Span[], width: number): Row[] {
  const rows = rowWriter(width);
  for (const span of spans) {
    for (const [token] of span.text.matchAll(/\n|[^\n]+/g)) {
      if (token === "\n") rows.next();
      else rows.put({ ...span, text: token });
    }
  }
  return rows.rows();
}

interface Piece {
  readonly text: string;
  readonly wide: boolean;
}

/** Splits a word where a row may end: each wide character is a piece, and the characters between them. */
function piecesOf(word: string): Piece[] {
  if (/^[\x21-\x7e]+$/.test(word)) return [{ text: word, wide: false }];
  const pieces: { text: string; wide: boolean }[] = [];
  for (const { char, width } of cells(word)) {
    const last = pieces.at(-1);
    if (width < 2 && last?.wide === false) last.text += char;
    else pieces.push({ text: char, wide: width === 2 });
  }
  return pieces;
}

interface RowWriter {
  /** Cells in the current row. */
  column(): number;
  next(): void;
  /** Appends to the row; continues in the next one if the text is too long. */
  put(span: Span): void;
  rows(): Row[];
}

function rowWriter(width: number): RowWriter {
  let row: Span[] = [];
  const rows: Row[] = [row];
  let column = 0;
  const next = (): void => {
    row = [];
    rows.push(row);
    column = 0;
  };
  const append = (span: Span, taken: number): void => {
    column += taken;
    const last = row.at(-1);
    const isSame = last !== undefined && last.styles === span.styles && last.href === span.href;
    if (isSame) row[row.length - 1] = { ...last, text: last.text + span.text };
    else row.push(span);
  };
  return {
    column: () => column,
    next,
    put(span) {
      const taken = displayWidth(span.text);
      if (column + taken <= width) {
        append(span, taken);
        return;
      }
      let text = "";
      let used = 0;
      for (const cell of cells(span.text)) {
        if (column + used > 0 && column + used + cell.width > width) {
          if (text !== "") append({ ...span, text }, used);
          next();
          text = "";
          used = 0;
        }
        text += cell.char;
        used += cell.width;
      }
      if (text !== "") append({ ...span, text }, used);
    },
    rows: () => rows,
  };
}

/** Returns the text of a row for a terminal; each style and link ends in it. */
export function rowText(row: Row, styleText: Styler): string {
  return row.map((span) => spanText(span, styleText)).join("");
}

function spanText({ text, styles, href }: Span, styleText: Styler): string {
  const shown = styles.reduce<string>((inner, style) => styleText(style, inner), text);
  return href === undefined ? shown : `\x1b]8;;${href}\x1b\\${shown}\x1b]8;;\x1b\\`;
}
