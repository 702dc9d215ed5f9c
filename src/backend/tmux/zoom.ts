import { allOf, equals, ifElse, type TmuxCommand } from "../../tmux/command.ts";
import type { WindowId } from "../../tmux/ids.ts";
import { TAG } from "./pane-tags.ts";

/** tmux's variable that is 1 if a pane of the window is zoomed; `listPanes` reads it among the user options. */
export const WINDOW_ZOOMED = "window_zoomed_flag";

/**
 * Returns the command that records, on the window itself, which pane is zoomed: splits, joins, layouts and the end of another pane undo a
 * zoom. {@link restoreZoom} removes the record.
 */
export function recordZoom(window: WindowId): TmuxCommand {
  const isZoomed = allOf(equals("window_id", window), equals(WINDOW_ZOOMED, "1"));
  const record = ["set-option", "-w", "-F", "-t", window, TAG.zoomed, "#{pane_id}"];
  return ifElse(window, isZoomed, [record], []);
}

/** Returns the command that ends a recorded zoom: tmux's unreleased 3.8 crashes when a pane below a zoom is resized. */
export function endZoom(window: WindowId): TmuxCommand {
  const isZoomed = allOf(equals("window_id", window), equals(WINDOW_ZOOMED, "1"));
  return ifElse(window, isZoomed, [["resize-pane", "-Z", "-t", window]], []);
}

/** Returns the command that zooms again the pane that {@link recordZoom} recorded, if it is active and not zoomed. */
export function restoreZoom(window: WindowId): TmuxCommand {
  const isRecorded = allOf(equals("window_id", window), `#{!=:#{${TAG.zoomed}},}`);
  const isLost = allOf(`#{==:#{${TAG.zoomed}},#{pane_id}}`, equals(WINDOW_ZOOMED, "0"));
  const forget = ["set-option", "-w", "-u", "-t", window, TAG.zoomed];
  const zoom = ifElse(window, isLost, [["resize-pane", "-Z", "-t", window]], []);
  return ifElse(window, isRecorded, [zoom, forget], []);
}

/**
 * Returns the command of a hook on `window-layout-changed` that keeps the zoom of a team window when another pane ends, because tmux undoes
 * the zoom. The hook records the zoomed pane. Once the window has fewer panes, it zooms that pane again if it is active.
 */
export function keepZoomHook(window: WindowId): TmuxCommand {
  const set = (name: string, format: string): TmuxCommand => [
    "set-option",
    "-w",
    "-F",
    "-t",
    window,
    name,
    format,
  ];
  const count = set(TAG.zoomPanes, "#{window_panes}");
  const isLost = allOf(
    `#{==:#{${TAG.zoom}},#{pane_id}}`,
    `#{e|<:#{window_panes},#{?${TAG.zoomPanes},#{${TAG.zoomPanes}},0}}`,
  );
  // The user has undone the zoom if no pane has ended; a pane that joins undoes it until its command restores it.
  const isUndone = `#{==:#{window_panes},#{${TAG.zoomPanes}}}`;
  const forget = ifElse(window, isUndone, [["set-option", "-w", "-u", "-t", window, TAG.zoom]], []);
  return ifElse(
    window,
    equals(WINDOW_ZOOMED, "1"),
    [set(TAG.zoom, "#{pane_id}"), count],
    [ifElse(window, isLost, [["resize-pane", "-Z", "-t", window], count], [forget])],
  );
}

/** Wraps commands that would undo the zoom of a window, so that it is restored afterwards. */
export function keepZoom(window: WindowId, commands: readonly TmuxCommand[]): TmuxCommand[] {
  return [recordZoom(window), ...commands, restoreZoom(window)];
}
