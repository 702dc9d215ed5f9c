import { all, equals } from "../tmux/format.ts";
import type { WindowId } from "../tmux/ids.ts";
import { layoutString } from "../tmux/layout-string.ts";
import { type Command, commandLine } from "../tmux/quote.ts";
import { isAtLeast, type TmuxVersion } from "../tmux/version.ts";
import { gridLayout, type Size } from "./layout.ts";
import { TAG } from "./tags.ts";

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
export interface ArrangedWindow {
  readonly id: WindowId;
  readonly size: Size;
  readonly panes: number;
  readonly layout: LayoutName;
}

/**
 * The commands that lay out a window of ours, and have its layout come back when its client has shrunk and is as large
 * as before again. The hook is the window's own and forks nothing. What joins the
 * window later is laid out alike, by its tag.
 */
export function arrange(window: ArrangedWindow, version: TmuxVersion): Command[] {
  const { id, size, panes, layout } = window;
  const plan = layout === "grid" ? layoutString(gridLayout(panes, size)) : layout;
  const select: Command = ["select-layout", "-t", id, plan];
  const commands: Command[] = [select, ["set-option", "-w", "-t", id, TAG.layout, layout]];
  // Before 3.3 the hook of a window would be set on the user's session: there the next command lays out again.
  if (!isAtLeast(version, 3, 3)) return commands;
  return [...commands, ["set-hook", "-w", "-t", id, "window-resized", commandLine(onResize(window, select))]];
}

/**
 * Only at the very size that was planned for: a layout that does not fit would resize the window, which would call the
 * hook again. Not while a pane is zoomed, as that would end, nor with panes of the user's among ours, for which there is
 * no place.
 */
function onResize({ id, size, panes }: ArrangedWindow, select: Command): Command {
  const fits = all(
    equals("window_width", String(size.width)),
    equals("window_height", String(size.height)),
    equals("window_zoomed_flag", "0"),
    `#{e|<=:#{window_panes},${panes}}`,
  );
  return ["if-shell", "-F", "-t", id, fits, commandLine(select)];
}
