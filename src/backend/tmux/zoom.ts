import { ifElse, type TmuxCommand } from "../../tmux/command.ts";
import { all, equals } from "../../tmux/format.ts";
import type { WindowId } from "../../tmux/ids.ts";
import { TAG } from "./pane-tags.ts";

/** Whether a pane of a window is zoomed, as {@link look} reads it among user options. */
export const WINDOW_ZOOMED = "window_zoomed_flag";

/**
 * Writes down, on the window itself, which of its panes is zoomed: splits, joins, layouts and the end of another pane undo
 * a zoom. {@link restoreZoom} takes the note away.
 */
export function recordZoom(window: WindowId): TmuxCommand {
  const isZoomed = all(equals("window_id", window), equals(WINDOW_ZOOMED, "1"));
  const note = ["set-option", "-w", "-F", "-t", window, TAG.zoomed, "#{pane_id}"];
  return ifElse(window, isZoomed, [note], []);
}

/** Zooms the pane again that {@link recordZoom} found zoomed, if it is its window's active one and not zoomed by now. */
export function restoreZoom(window: WindowId): TmuxCommand {
  const isNoted = all(equals("window_id", window), `#{!=:#{${TAG.zoomed}},}`);
  const isLost = all(`#{==:#{${TAG.zoomed}},#{pane_id}}`, equals(WINDOW_ZOOMED, "0"));
  const forget = ["set-option", "-w", "-u", "-t", window, TAG.zoomed];
  const zoom = ifElse(window, isLost, [["resize-pane", "-Z", "-t", window]], []);
  return ifElse(window, isNoted, [zoom, forget], []);
}

/** Runs commands that would end a zoom of a window, and has it back behind them. */
export function keepZoom(window: WindowId, commands: readonly TmuxCommand[]): TmuxCommand[] {
  return [recordZoom(window), ...commands, restoreZoom(window)];
}
