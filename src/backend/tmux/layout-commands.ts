import { allOf, anyOf, commandLine, equals, ifElse, sequence, type TmuxCommand } from "../../tmux/command.ts";
import type { WindowId } from "../../tmux/ids.ts";
import { layoutString } from "../../tmux/layout-string.ts";
import { gridLayout, MIN_LAYOUT_PANE, type PaneSize } from "./grid.ts";
import { TAG } from "./pane-tags.ts";
import { keepZoomHook } from "./zoom.ts";

/** Layouts of a team window: `grid` is planned by teams, the others are tmux's own. */
export const LAYOUTS = [
  "grid",
  "tiled",
  "even-horizontal",
  "even-vertical",
  "main-vertical",
  "main-horizontal",
] as const;
export type LayoutName = (typeof LAYOUTS)[number];

/** Returns the layout that a window's tag names; `grid` if there is no tag. */
export function layoutOf(tag: string | undefined): LayoutName {
  return LAYOUTS.find((name) => name === tag) ?? "grid";
}

/** A team window at the time when the commands run. */
interface LaidOutWindow {
  readonly id: WindowId;
  readonly size: PaneSize;
  /** Number of its panes. */
  readonly panes: number;
  readonly layout: LayoutName;
}

/**
 * Maximum number of layout hooks of a window, one for each number of panes, from the current number downwards. With fewer panes, tmux's
 * own proportions apply until the next command. A window of 200×50 has room for this many panes, and each hook is a line of the batch.
 */
const KNOWN_GRIDS = 16;

/** Format of a window's number of panes and size; the tag records those of its last layout. */
const FITTED = "#{window_panes}.#{window_width}x#{window_height}";

/**
 * Returns the commands that lay out a team window now, the layout first, and set hooks that lay it out again whenever a pane of it ends or
 * its size changes. The result depends only on the number of panes and the size. The hooks start no processes. A layout that the user
 * changes by hand stays until the next such event. The window's tag gives panes that join later the same layout.
 */
export function layoutCommands(window: LaidOutWindow): TmuxCommand[] {
  const { id, panes, layout } = window;
  const counts = Array.from({ length: Math.min(panes, KNOWN_GRIDS) }, (_, i) => panes - i);
  return [
    ...selectLayout(window, panes),
    ["set-option", "-w", "-t", id, TAG.layout, layout],
    recordFit(id),
    removeLayoutHook(id),
    ...counts.map((count, i) => layoutHook(id, count, i, selectLayout(window, count))),
    // Must follow the layout, which also undoes a zoom.
    ["set-hook", "-w", "-t", id, `window-layout-changed[${KNOWN_GRIDS}]`, commandLine(keepZoomHook(id))],
  ];
}

/**
 * Returns the commands that lay out a window with a number of panes. If a layout makes a pane too small to read, other layouts follow: in
 * an 80-column window, tmux's default main pane leaves one column for the other panes.
 */
function selectLayout({ id, size, layout }: LaidOutWindow, count: number): readonly TmuxCommand[] {
  const select = (name: string): TmuxCommand => ["select-layout", "-t", id, name];
  const grid = select(layoutString(gridLayout(count, size)));
  const isSmall = allOf(equals("window_panes", String(count)), HAS_SMALL_PANE);
  const instead = (commands: readonly TmuxCommand[]): TmuxCommand => ifElse(id, isSmall, commands, []);
  if (layout === "grid") return [grid, instead([select("tiled")])];
  const main = MAIN_SIZES[layout];
  return [
    select(layout),
    ...(main === undefined ? [] : [instead(withHalf(id, main, select(layout)))]),
    instead([select("tiled")]),
    instead([grid]),
  ];
}

/** The option for the size of a layout's main pane, and the variable with the size of the whole window. */
const MAIN_SIZES: Readonly<Partial<Record<LayoutName, readonly [option: string, variable: string]>>> = {
  "main-vertical": ["main-pane-width", "window_width"],
  "main-horizontal": ["main-pane-height", "window_height"],
};

/** Runs a command while the main pane has half of the window, then restores the user's size. */
function withHalf(
  id: WindowId,
  [option, variable]: readonly [string, string],
  command: TmuxCommand,
): readonly TmuxCommand[] {
  return [
    ["set-option", "-w", "-F", "-t", id, option, `#{e|/:#{${variable}},2}`],
    command,
    ["set-option", "-w", "-u", "-t", id, option],
  ];
}

/** Condition for a pane that is too small, or outside its window: tmux's even layouts put panes there if the window has no room. */
const IS_SMALL_OR_OUTSIDE = anyOf(
  `#{e|<:#{pane_width},${MIN_LAYOUT_PANE.width}}`,
  `#{e|<:#{pane_height},${MIN_LAYOUT_PANE.height}}`,
  "#{e|>=:#{pane_right},#{window_width}}",
  "#{e|>=:#{pane_bottom},#{window_height}}",
);

/** Condition for a window with a tiled pane that is too small or outside it, and without floating panes, for which a layout has no cell. */
const HAS_SMALL_PANE = allOf(
  `#{!=:#{P:#{?${IS_SMALL_OR_OUTSIDE},x,}},}`,
  "#{==:#{P:#{?#{==:#{pane_floating_flag},1},x,}},}",
);

/** Returns the command that removes the layout hooks of a former team window. */
export function removeLayoutHook(window: string): TmuxCommand {
  return ["set-hook", "-u", "-w", "-t", window, "window-layout-changed"];
}

/**
 * Returns a hook that acts once for each number of panes and size: a layout for another size briefly resizes the window, and its return to
 * the client's size calls the hook again. The hook does not act while a pane is zoomed, because a layout would undo the zoom. It does not
 * act if the window contains a pane of the user or a floating pane, for which the layout has no cell.
 */
function layoutHook(id: WindowId, count: number, index: number, select: readonly TmuxCommand[]): TmuxCommand {
  const isNew = allOf(
    equals("window_panes", String(count)),
    `#{!=:#{${TAG.fitted}},${FITTED}}`,
    equals("window_zoomed_flag", "0"),
    `#{==:#{P:#{?#{&&:#{${TAG.agent}},#{!=:#{pane_floating_flag},1}},,x}},}`,
  );
  const act = sequence([recordFit(id), ...select]);
  const hook = commandLine(["if-shell", "-F", "-t", id, isNew, act]);
  return ["set-hook", "-w", "-t", id, `window-layout-changed[${index}]`, hook];
}

function recordFit(id: WindowId): TmuxCommand {
  return ["set-option", "-w", "-F", "-t", id, TAG.fitted, FITTED];
}
