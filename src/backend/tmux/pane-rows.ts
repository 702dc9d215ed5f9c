import type { Screen } from "../../tmux/screen.ts";
import { rowsFrom, type VisibleRows } from "../visible-rows.ts";

/** Rows of history in one sight: what a build prints between two looks, and 0.1 MB at most. Of more it is said that it was left out. */
export const HISTORY_ROWS = 1_000;

/** What a pane's screen shows, by the positions that its history gives. */
export function visibleRowsOfScreen({ rows, height, history, historyLimit, alternate }: Screen): VisibleRows {
  if (alternate) {
    // What is above it is the other screen's.
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
    // At its limit tmux drops the oldest tenth at once, and at least one.
    maxSettled: historyLimit - Math.max(1, Math.floor(historyLimit / 10)),
  };
}
