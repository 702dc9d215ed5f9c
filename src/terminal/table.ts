import { cutToWidth, displayWidth } from "../text/cell-width.ts";
import { type StyledText, shown } from "./output.ts";

export type Cell = string | number | StyledText;

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
  readonly styled: string;
  /** In cells. */
  readonly width: number;
  /** A styled cell is never cut: the end of its style would be lost. */
  readonly whole: boolean;
}

/** Measures a cell; call it once per cell, since this is the main cost of a long table. */
function measured(cell: Cell): Measured {
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
  return cutToWidth(cell.styled, Math.max(8, columns - before));
}
