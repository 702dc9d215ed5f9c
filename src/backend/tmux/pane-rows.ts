import type { Screen } from "../../tmux/screen.ts";
import { rowsFrom, type VisibleRows } from "../visible-rows.ts";

/** History rows that one reading includes, at most 0.1 MB. If more rows pass between two readings, the rest is reported as left out. */
export const HISTORY_ROWS = 1_000;

/** Converts a pane's screen to rows whose positions count from the start of its history. */
export function visibleRowsOfScreen({ rows, height, history, historyLimit, alternate }: Screen): VisibleRows {
  if (alternate) {
    // The history above belongs to the normal screen.
    const visible = rows.slice(-height);
    return {
      surface: "alternate",
      rows: rowsFrom(visible, 0),
      settled: 0,
      maxSettled: Number.POSITIVE_INFINITY,
    };
  }
  return {
    surface: "screen",
    rows: rowsFrom(rows, history - (rows.length - height)),
    settled: history,
    // At its limit, tmux drops the oldest tenth at once, at least one row.
    maxSettled: historyLimit - Math.max(1, Math.floor(historyLimit / 10)),
  };
}
