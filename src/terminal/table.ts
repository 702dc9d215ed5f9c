import { cutToWidth, displayWidth } from "../text/terminal-text.ts";
import { type Painted, shown } from "./paint.ts";

export type Cell = string | number | Painted;

interface TableOptions {
  /** Columns of the terminal: the last column is cut to fit. Without it nothing is cut. */
  readonly columns?: number | undefined;
  /** Indexes of columns that stand at the right: figures. */
  readonly right?: readonly number[];
}

const GAP = "  ";

/** Rows under their headings, each column as wide as its widest cell. Foreign text in it is made visible. */
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

interface Measured extends Painted {
  /** A painted cell is never cut: a cut would lose the end of its colour. */
  readonly whole: boolean;
}

/** Once for each cell: to measure is what a table of 10,000 rows costs. */
function measured(cell: Cell): Measured {
  if (typeof cell === "object") return { ...cell, whole: true };
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
