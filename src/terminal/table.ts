import { cutToWidth, displayWidth } from "../text/cell-width.ts";
import { type Painted, shown } from "./output.ts";

export type Cell = string | number | Painted;

interface TableOptions {
  /** Columns of the terminal, to which the last column is cut; nothing is cut if omitted. */
  readonly columns?: number | undefined;
  /** Indexes of right-aligned columns. */
  readonly right?: readonly number[];
}

const GAP = "  ";

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
  return all.map((row) => rowText(row, widths, options)).join("\n");
}

interface Measured {
  readonly painted: string;
  /** In cells. */
  readonly width: number;
  /** A painted cell is never cut: the end of its style would be lost. */
  readonly whole: boolean;
}

/** Measures a cell; call it once per cell, since this is the main cost of a long table. */
function measured(cell: Cell): Measured {
  if (typeof cell === "object")
    return { painted: cell.painted, width: displayWidth(cell.plain), whole: true };
  const text = shown(cell);
  return { painted: text, width: displayWidth(text), whole: false };
}

function rowText(row: readonly Measured[], widths: readonly number[], options: TableOptions): string {
  const last = widths.length - 1;
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0);
  const cells = row.map((cell, column) => {
    if (column === last) return lastCell(cell, options.columns, before);
    const padding = " ".repeat((widths[column] ?? 0) - cell.width);
    return options.right?.includes(column) ? padding + cell.painted : cell.painted + padding;
  });
  return cells.join(GAP).trimEnd();
}

function lastCell(cell: Measured, columns: number | undefined, before: number): string {
  if (columns === undefined || cell.whole) return cell.painted;
  return cutToWidth(cell.painted, Math.max(8, columns - before));
}
