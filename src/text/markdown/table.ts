import { cutToWidth, displayWidth } from "../cell-width.ts";
import { type Style, TONE } from "../style.ts";
import { inlineSpans } from "./inline.ts";
import type { Block } from "./parse.ts";
import { type Row, rowWidth, type Span, wrapSpans } from "./spans.ts";

interface Column {
  readonly align: "left" | "right" | "center";
  /** Cells of its longest line. */
  readonly natural: number;
  /** Cells that it needs to be readable. */
  readonly least: number;
}

interface Table {
  readonly header: readonly Row[];
  readonly body: readonly (readonly Row[])[];
  readonly columns: readonly Column[];
}

/** The characters of lines: down, across, and where they cross; and of a list's items. */
export interface TableSigns {
  readonly bar: string;
  readonly line: string;
  readonly cross: string;
  readonly bullet: string;
}

/** A word up to this length is not broken to make a table fit. */
const MAX_WORD = 16;
/** Cells between two columns. */
const SEPARATOR = 3;
const NONE: readonly Style[] = [];
const BOLD: readonly Style[] = ["bold"];
const FAINT: readonly Style[] = [TONE.faint];

/** Returns the rows of a table if it fits the width; if not, a list with `header: value` for each of its rows. */
export function tableRows(block: Block, width: number, links: boolean, signs: TableSigns): Row[] {
  const table = readTable(block, links);
  const widths = columnWidths(table.columns, width - SEPARATOR * (table.columns.length - 1));
  return widths === undefined ? listRows(table, width, signs) : gridRows(table, widths, signs);
}

function readTable(block: Block, links: boolean): Table {
  const [head, ...body] = block.children.flatMap((part) => part.children);
  const cellsOf = (row: Block | undefined, base: readonly Style[]): Row[] =>
    (row?.children ?? []).map((cell) => inlineSpans(cell.children[0]?.token.children ?? [], base, links));
  const header = cellsOf(head, BOLD);
  const rows = body.map((row) => cellsOf(row, NONE));
  const columns = header.map((cell, i) => {
    const texts = [cell, ...rows.map((row) => row[i] ?? [])].map((row) =>
      row.map(({ text }) => text).join(""),
    );
    const natural = widest(texts, /\n/);
    const align = /right|center/.exec(String(head?.children[i]?.token.attrGet("style")))?.[0];
    return {
      align: align === "right" || align === "center" ? align : "left",
      natural,
      least: Math.min(natural, MAX_WORD, Math.max(2, widest(texts, /[ \n]+/))),
    } as const;
  });
  return { header, body: rows, columns };
}

function widest(texts: readonly string[], separator: RegExp): number {
  return texts.reduce(
    (width, text) => text.split(separator).reduce((most, part) => Math.max(most, displayWidth(part)), width),
    0,
  );
}

/** Returns the width of each column; the widest ones shrink first. @returns undefined if a column would be unreadable */
function columnWidths(columns: readonly Column[], room: number): number[] | undefined {
  const total = (cap: number): number => columns.reduce((sum, column) => sum + capped(column, cap), 0);
  if (total(0) > room) return undefined;
  let cap = 0;
  let above = room + 1;
  while (above - cap > 1) {
    const middle = Math.floor((cap + above) / 2);
    if (total(middle) <= room) cap = middle;
    else above = middle;
  }
  let left = room - total(cap);
  return columns.map((column) => {
    const width = capped(column, cap);
    if (left <= 0 || width >= column.natural) return width;
    left -= 1;
    return width + 1;
  });
}

function capped({ natural, least }: Column, cap: number): number {
  return Math.max(least, Math.min(natural, cap));
}

function gridRows({ header, body, columns }: Table, widths: readonly number[], signs: TableSigns): Row[] {
  const rowsOf = (row: readonly Row[]): Row[] => {
    const wrapped = widths.map((width, i) => wrapSpans(row[i] ?? [], Math.max(2, width)));
    const height = Math.max(1, ...wrapped.map((rows) => rows.length));
    return Array.from({ length: height }, (_, line) =>
      joined(
        wrapped.map((rows) => rows[line] ?? []),
        columns,
        widths,
        signs,
      ),
    );
  };
  const rule: Row = [
    {
      text: widths.map((width) => signs.line.repeat(width)).join(`${signs.line}${signs.cross}${signs.line}`),
      styles: FAINT,
    },
  ];
  const rows = body.map(rowsOf);
  const isTall = rows.some((lines) => lines.length > 1);
  return [
    ...rowsOf(header),
    rule,
    ...rows.flatMap((lines, i) => (isTall && i > 0 ? [rule, ...lines] : lines)),
  ];
}

/** Joins one line of each cell, with bars between the columns and no spaces at the end. */
function joined(
  lines: readonly Row[],
  columns: readonly Column[],
  widths: readonly number[],
  signs: TableSigns,
): Row {
  const spans: Span[] = [];
  for (const [i, line] of lines.entries()) {
    const room = Math.max(0, (widths[i] ?? 0) - rowWidth(line));
    const align = columns[i]?.align ?? "left";
    const before = align === "right" ? room : align === "center" ? Math.floor(room / 2) : 0;
    const isLast = i === lines.length - 1;
    if (before > 0) spans.push({ text: " ".repeat(before), styles: NONE });
    spans.push(...line);
    if (!isLast) {
      spans.push({ text: " ".repeat(room - before + 1), styles: NONE });
      spans.push({ text: signs.bar, styles: FAINT }, { text: " ", styles: NONE });
    }
  }
  return spans;
}

/** Each value is further to the right than its header, each header than its bullet. */
function listRows({ header, body }: Table, width: number, { bullet }: TableSigns): Row[] {
  // The first row has the whole headers; a long one would take most of every other row.
  const heads = header.map((head) => shortened(head, Math.max(2, width - 4)));
  return body.flatMap((cells, rowNumber) =>
    cells
      .flatMap((cell, i) => {
        const head = (rowNumber === 0 ? header : heads)[i] ?? [];
        const colon = head.length === 0 ? [] : [{ text: ": ", styles: BOLD }];
        const rows = cell.length === 0 ? [] : wrapSpans([...head, ...colon, ...cell], Math.max(2, width - 4));
        return rows.map((row, k) => (k === 0 ? row : [{ text: "  ", styles: NONE }, ...row]));
      })
      .map((row, i) => [{ text: i === 0 ? `${bullet} ` : "  ", styles: NONE }, ...row]),
  );
}

/** Cuts a text to a number of cells. */
function shortened(row: Row, width: number): Row {
  const spans: Span[] = [];
  let left = width;
  for (const span of row) {
    const whole = span.text.replaceAll("\n", " ");
    const text = cutToWidth(whole, left);
    spans.push({ ...span, text });
    left -= displayWidth(text);
    if (text !== whole) break;
  }
  return spans;
}
