import { all, equals } from "../tmux/format.ts";
import type { WindowId } from "../tmux/ids.ts";
import { layoutString } from "../tmux/layout-string.ts";
import { type Command, commandLine } from "../tmux/quote.ts";
import { isAtLeast, type TmuxVersion } from "../tmux/version.ts";
import { gridLayout, type Size } from "./layout.ts";

/** A window of ours as it will be when the commands run. */
export interface ArrangedWindow {
  readonly id: WindowId;
  readonly size: Size;
  readonly panes: number;
}

/**
 * The commands that lay out a window of ours, and have its layout come back when its client has shrunk and is as large
 * as before again. The hook is the window's own and forks nothing.
 */
export function arrange(window: ArrangedWindow, version: TmuxVersion): Command[] {
  const select: Command = [
    "select-layout",
    "-t",
    window.id,
    layoutString(gridLayout(window.panes, window.size)),
  ];
  // Before 3.3 the hook of a window would be set on the user's session: there the next command lays out again.
  if (!isAtLeast(version, 3, 3)) return [select];
  return [
    select,
    ["set-hook", "-w", "-t", window.id, "window-resized", commandLine(onResize(window, select))],
  ];
}

/**
 * Only at the very size that was planned for, as another total would resize the window; not while a pane is zoomed, as
 * that would end; and not with panes of the user's among ours, for which the layout has no place.
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
