import { cutToWidth, displayWidth } from "../text/cell-width.ts";
import { type StyledText, shown } from "./output.ts";

/** A function, for the last column only, returns a text that fits into a number of columns. */
export type Cell = string | number | StyledText | ((columns: number) => string);

interface TableOptions {
  /** Columns of the terminal, to which the last column is cut; omitted: nothing is cut. */
  readonly columns?: number | undefined;
  /** Indexes of right-aligned columns. */
  readonly right?: readonly number[];
  /** Headings of the columns that a narrow terminal leaves out, in this order; columns without content go first. */
  readonly spare?: readonly string[];
}

const GAP = "  ";
/** Columns that the last column needs before others are left out for it. */
const MIN_LAST = 12;

/** Returns rows under headings, each column as wide as its widest cell. Makes foreign text safe to print. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  options: TableOptions = {},
): string {
  const all = [headings, ...rows].map((row) => headings.map((_, column) => measured(row[column] ?? "")));
  const widths = headings.map((_, column) =>
    all.reduce((widest, row) => Math.max(widest, row[column]?.width ?? 0), 0),
  );
  const kept = keptColumns(headings, all.slice(1), widths, options);
  const pick = <T>(of: readonly T[]): readonly T[] => kept.flatMap((column) => of.slice(column, column + 1));
  const right = kept.flatMap((column, i) => (options.right?.includes(column) ? [i] : []));
  return all.map((row) => rowText(pick(row), pick(widths), { ...options, right })).join("\n");
}

/** Returns the indexes of the columns to show: all of them if the last one has room. */
function keptColumns(
  headings: readonly string[],
  rows: readonly (readonly Measured[])[],
  widths: readonly number[],
  { columns = Number.POSITIVE_INFINITY, spare = [] }: TableOptions,
): readonly number[] {
  const last = headings.length - 1;
  const isEmpty = (column: number): boolean => rows.every((row) => row[column]?.width === 0);
  const isFitted = rows.some((row) => row[last]?.fit !== undefined);
  const needed = isFitted ? MIN_LAST : Math.min(MIN_LAST, widths[last] ?? 0);
  let kept = headings.map((_, column) => column);
  const fits = (): boolean =>
    kept.slice(0, -1).reduce((sum, column) => sum + (widths[column] ?? 0) + GAP.length, needed) <= columns;
  const empty = kept.filter((column) => column > 0 && column < last && isEmpty(column));
  for (const column of [...empty, ...spare.map((heading) => headings.indexOf(heading))]) {
    if (fits()) break;
    kept = kept.filter((one) => one !== column);
  }
  return kept;
}

interface Measured {
  readonly styled: string;
  /** In cells. */
  readonly width: number;
  /** A styled cell is never cut: the end of its style would be lost. */
  readonly whole: boolean;
  readonly fit?: (columns: number) => string;
}

/** Measures a cell; call it once per cell, since this is the main cost of a long table. */
function measured(cell: Cell): Measured {
  if (typeof cell === "function")
    return { styled: shown(cell(Number.POSITIVE_INFINITY)), width: 0, whole: false, fit: cell };
  if (typeof cell === "object") return { styled: cell.styled, width: displayWidth(cell.plain), whole: true };
  const text = shown(cell);
  return { styled: text, width: displayWidth(text), whole: false };
}

function rowText(row: readonly Measured[], widths: readonly number[], options: TableOptions): string {
  const last = widths.length - 1;
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0);
  const cells = row.map((cell, column) => {
    if (column === last) return lastCell(cell, options.columns, before);
    const padding = " ".repeat((widths[column] ?? 0) - cell.width);
    return options.right?.includes(column) ? padding + cell.styled : cell.styled + padding;
  });
  return cells.join(GAP).trimEnd();
}

function lastCell(cell: Measured, columns: number | undefined, before: number): string {
  if (columns === undefined || cell.whole) return cell.styled;
  const room = Math.max(8, columns - before);
  return cutToWidth(cell.fit === undefined ? cell.styled : shown(cell.fit(room)), room);
}
