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

/** Returns the layout that a window's tag names; grid without a tag. */
export function layoutOf(tag: string | undefined): LayoutName {
  return LAYOUTS.find((name) => name === tag) ?? "grid";
}

/** A team window at the time the commands run. */
interface LaidOutWindow {
  readonly id: WindowId;
  readonly size: PaneSize;
  /** Number of its panes. */
  readonly panes: number;
  readonly layout: LayoutName;
}

/**
 * Number of pane counts (the current one and below) for which a window gets a layout hook. With fewer panes, tmux's own proportions
 * apply until the next command. A window of 200×50 holds this many panes, and each hook is one line of the batch.
 */
const KNOWN_GRIDS = 16;

/** Format of the number of panes and the size for which a window was last laid out. */
const FITTED = "#{window_panes}.#{window_width}x#{window_height}";

/**
 * Returns the commands that lay out a team window now, the layout first, and set hooks that lay it out again whenever a pane of it ends or its size
 * changes. The result depends only on the number of panes and the size. The hooks fork nothing. A layout that the user changes
 * by hand stays until the next such event. The window's tag gives panes that join later the same layout.
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
 * Returns the commands that lay out a window with a number of panes. If the layout makes a pane that is too small to read, other ones
 * follow: tmux's default for a main pane leaves one column for the others in a window of 80.
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

/** The option with the size of a layout's main pane, and the variable that it is a part of. */
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

/** tmux's even layouts put panes outside of a window that has no room for them. */
const IS_SMALL_OR_OUTSIDE = anyOf(
  `#{e|<:#{pane_width},${MIN_LAYOUT_PANE.width}}`,
  `#{e|<:#{pane_height},${MIN_LAYOUT_PANE.height}}`,
  "#{e|>=:#{pane_right},#{window_width}}",
  "#{e|>=:#{pane_bottom},#{window_height}}",
);

/** Condition for a window with a tiled pane that is too small or outside of it, and without floating panes: a layout has no cell for them. */
const HAS_SMALL_PANE = allOf(
  `#{!=:#{P:#{?${IS_SMALL_OR_OUTSIDE},x,}},}`,
  "#{==:#{P:#{?#{==:#{pane_floating_flag},1},x,}},}",
);

/** Returns the command that removes the layout hooks of a former team window. */
export function removeLayoutHook(window: string): TmuxCommand {
  return ["set-hook", "-u", "-w", "-t", window, "window-layout-changed"];
}

/**
 * A hook that acts once for each number of panes and size: a layout for another size briefly resizes the window, and its return
 * to the size of the client calls the hook again. It does not act while a pane is zoomed, which a layout would undo, nor if the
 * window holds a pane of the user's or a floating one, which the layout has no cell for.
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
