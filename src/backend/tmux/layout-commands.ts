import { commandLine, sequence, type TmuxCommand } from "../../tmux/command.ts";
import { all, equals } from "../../tmux/format.ts";
import type { WindowId } from "../../tmux/ids.ts";
import { layoutString } from "../../tmux/layout-string.ts";
import { gridLayout, type PaneSize } from "./grid.ts";
import { TAG } from "./pane-tags.ts";

/** How a window of ours can be laid out: by our own planner, or as tmux itself does by that name. */
export const LAYOUTS = [
  "grid",
  "tiled",
  "even-horizontal",
  "even-vertical",
  "main-vertical",
  "main-horizontal",
] as const;
export type LayoutName = (typeof LAYOUTS)[number];

/** The layout that a window's tag names; the grid for none. */
export function layoutOf(tag: string | undefined): LayoutName {
  return LAYOUTS.find((name) => name === tag) ?? "grid";
}

/** A window of ours as it will be when the commands run. */
interface LaidOutWindow {
  readonly id: WindowId;
  readonly size: PaneSize;
  readonly panes: number;
  readonly layout: LayoutName;
}

/**
 * For how many panes less than now a window knows its grid; below that tmux's own proportions stand until the next command.
 * A window of 200×50 holds as many, and a hook of each is a line of the batch.
 */
const KNOWN_GRIDS = 16;

/** For which number of panes and which size a window was last laid out. */
const FITTED = "#{window_panes}.#{window_width}x#{window_height}";

/**
 * The commands that lay out a window of ours now, and by a hook of its own, which forks nothing, whenever a pane of it ends
 * or its client has another size: what it looks like depends on these two alone, and not on the sizes before. What a
 * person parts otherwise stays so until then. What joins the window later is laid out alike, by its tag.
 */
export function layoutCommands(window: LaidOutWindow): TmuxCommand[] {
  const { id, size, panes, layout } = window;
  const select = (count: number): TmuxCommand => [
    ...["select-layout", "-t", id],
    layout === "grid" ? layoutString(gridLayout(count, size)) : layout,
  ];
  const counts = Array.from({ length: Math.min(panes, KNOWN_GRIDS) }, (_, i) => panes - i);
  return [
    select(panes),
    ["set-option", "-w", "-t", id, TAG.layout, layout],
    recordFit(id),
    removeLayoutHook(id),
    ...counts.map((count, i) => layoutHook(id, count, i, select(count))),
  ];
}

/** Takes the hook off a window: it is a user's, or somebody's who hides in it, from now on. */
export function removeLayoutHook(window: string): TmuxCommand {
  return ["set-hook", "-u", "-w", "-t", window, "window-layout-changed"];
}

/**
 * Once for each number and size: a layout of another size than the window's has the window made as large for a moment, and
 * then everything in it as large as its client again, which calls the hook once more. Not while a pane is zoomed, as that
 * would end, nor with a pane of the user's among ours, for which there is no place.
 */
function layoutHook(id: WindowId, count: number, index: number, select: TmuxCommand): TmuxCommand {
  const isNew = all(
    equals("window_panes", String(count)),
    `#{!=:#{${TAG.fitted}},${FITTED}}`,
    equals("window_zoomed_flag", "0"),
    `#{==:#{P:#{?${TAG.agent},,x}},}`,
  );
  const act = sequence([recordFit(id), select]);
  const hook = commandLine(["if-shell", "-F", "-t", id, isNew, act]);
  return ["set-hook", "-w", "-t", id, `window-layout-changed[${index}]`, hook];
}

function recordFit(id: WindowId): TmuxCommand {
  return ["set-option", "-w", "-F", "-t", id, TAG.fitted, FITTED];
}
