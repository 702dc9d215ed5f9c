import { cutToWidth, displayWidth } from "../os/terminal-text.ts";
import { type Painted, shown, visible } from "./paint.ts";

export type Cell = string | number | Painted;

export interface TableOptions {
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
  const all: readonly (readonly Cell[])[] = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => widthOf(row[column] ?? ""))));
  return all.map((row) => rowText(row, widths, options)).join("\n");
}

function rowText(row: readonly Cell[], widths: readonly number[], options: TableOptions): string {
  const last = widths.length - 1;
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0);
  const cells = widths.map((width, column) => {
    const cell = row[column] ?? "";
    if (column === last) return lastCell(cell, options.columns, before);
    const padding = " ".repeat(width - widthOf(cell));
    return options.right?.includes(column) ? padding + shown(cell) : shown(cell) + padding;
  });
  return cells.join(GAP).trimEnd();
}

/** A painted cell is never cut: a cut would lose the end of its colour. */
function lastCell(cell: Cell, columns: number | undefined, before: number): string {
  if (columns === undefined || typeof cell === "object") return shown(cell);
  return cutToWidth(visible(String(cell)), Math.max(8, columns - before));
}

function widthOf(cell: Cell): number {
  return typeof cell === "object" ? cell.width : displayWidth(visible(String(cell)));
}
