import type { LayoutCell } from "../../tmux/layout-string.ts";

export interface PaneSize {
  readonly width: number;
  readonly height: number;
}

/** Minimum size of a teammate's pane. A spawn that would go below it opens another window (product.md, "In tmux"). */
export const MIN_PANE: PaneSize = { width: 40, height: 10 };

/** Minimum size of a pane in any layout, as long as the window has room for it. */
export const MIN_LAYOUT_PANE: PaneSize = { width: 20, height: 5 };

/** Best ratio of columns to rows for text: the ratio of an 80×24 terminal. */
const BEST_RATIO = 80 / 24;

/**
 * Returns how many panes of at least the minimum size fit into a window. The border between two panes takes one column or line, and the
 * border line with names takes one more line above the first row.
 */
export function capacity(window: PaneSize, min: PaneSize = MIN_PANE): number {
  return columnsIn(window, min) * rowsIn(window, min);
}

/** Returns how many panes of at least the minimum height fit above each other in one pane, without a line on top. */
export function stackCapacity(height: number, min: PaneSize = MIN_PANE): number {
  return Math.max(0, Math.floor((height + 1) / (min.height + 1)));
}

/**
 * Distributes `count` panes: first into the free room of existing windows, then into new windows of `size`. Fills each window before the
 * next.
 * @param free number of additional panes for each existing window
 * @returns the number of panes for each existing window, and for each new window
 */
export function distribute(
  count: number,
  free: readonly number[],
  size: PaneSize,
  min: PaneSize = MIN_PANE,
): { readonly existing: readonly number[]; readonly fresh: readonly number[] } {
  let left = count;
  const existing = free.map((room) => {
    const taken = Math.min(left, Math.max(0, room));
    left -= taken;
    return taken;
  });
  // A window that is too small even for one pane still gets one.
  const each = Math.max(1, capacity(size, min));
  const fresh: number[] = [];
  for (; left > 0; left -= each) fresh.push(Math.min(left, each));
  return { existing, fresh };
}

/** Arranges the panes of a window in rows, in window order; the last row may have fewer, wider panes. */
export function gridLayout(count: number, window: PaneSize, min: PaneSize = MIN_PANE): LayoutCell {
  const columns = bestColumns(count, window, min);
  const rows = Math.ceil(count / columns);
  const heights = shares(window.height, rows);
  const cells = heights.map((height, row) => {
    const inRow = row < rows - 1 ? columns : count - columns * (rows - 1);
    return line("columns", shares(window.width, inRow), { width: window.width, height });
  });
  return wrap("rows", cells, window);
}

function bestColumns(count: number, window: PaneSize, min: PaneSize): number {
  let best = 1;
  let bestScore = Number.POSITIVE_INFINITY;
  for (let columns = 1; columns <= count; columns += 1) {
    const rows = Math.ceil(count / columns);
    const width = (window.width - (columns - 1)) / columns;
    const height = (window.height - rows) / rows;
    if (width < 2 || height < 2) continue;
    const isBelow = (least: PaneSize): boolean => width < least.width || height < least.height;
    const sizePenalty = (isBelow(min) ? 1_000 : 0) + (isBelow(MIN_LAYOUT_PANE) ? 1_000_000 : 0);
    const uneven = (columns * rows - count) / count;
    const score = sizePenalty + uneven + Math.abs(Math.log(width / height / BEST_RATIO));
    if (score < bestScore) [best, bestScore] = [columns, score];
  }
  return best;
}

/** Divides a length into `n` parts with a border of one in between; the first parts take the remainder. */
function shares(length: number, n: number): number[] {
  const inside = length - (n - 1);
  const share = Math.floor(inside / n);
  return Array.from({ length: n }, (_, i) => share + (i < inside - share * n ? 1 : 0));
}

function line(kind: "columns", widths: readonly number[], size: PaneSize): LayoutCell {
  return wrap(
    kind,
    widths.map((width) => ({ kind: "pane", width, height: size.height })),
    size,
  );
}

/** Groups cells; a single cell stays ungrouped, because tmux refuses a group of one. */
function wrap(kind: "columns" | "rows", cells: readonly LayoutCell[], size: PaneSize): LayoutCell {
  const [only] = cells;
  return cells.length === 1 && only !== undefined ? only : { kind, ...size, cells };
}

function columnsIn(window: PaneSize, min: PaneSize): number {
  return Math.floor((window.width + 1) / (min.width + 1));
}

function rowsIn(window: PaneSize, min: PaneSize): number {
  return Math.floor(window.height / (min.height + 1));
}
