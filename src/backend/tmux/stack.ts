import type { PlaceRecord } from "../../schema/status.ts";
import { allOf, anyOf, equals, ifElse, onlyIf, type TmuxCommand } from "../../tmux/command.ts";
import type { PaneId, WindowId } from "../../tmux/ids.ts";
import { readLayout } from "../../tmux/layout-string.ts";
import type { PaneList, TmuxPane } from "../../tmux/list-panes.ts";
import { isInOurWindow, TAG } from "./pane-tags.ts";

/** A column of teammates to the right of the caller's pane. */
export interface Stack {
  readonly caller: PaneId;
  readonly window: WindowId;
  /** The layout of the window before the first teammate, as tmux prints it. */
  readonly before: string;
  /** The teammates' panes that are already in the stack, from top to bottom. */
  readonly existing: readonly PaneId[];
  /** Total lines of these panes; if there are none, the lines of the caller's pane. */
  readonly lines: number;
  /** Number of the first host's new panes to move into the stack. */
  readonly count: number;
}

/** The options that {@link evenOutStacks} needs from `listPanes`. */
export const STACK_OPTIONS = [TAG.agent, TAG.window] as const;

/** tmux's variable for the layout of a window; `listPanes` reads it among the user options. */
export const WINDOW_LAYOUT = "window_layout";

/** Returns the commands that move panes to the end of a stack and share its lines evenly; the caller's pane keeps its size. */
export function stackCommands(stack: Stack, panes: readonly PaneId[]): TmuxCommand[] {
  const column = [...stack.existing];
  let { lines } = stack;
  return panes.flatMap((pane) => {
    const below = column.at(-1);
    column.push(pane);
    const tag = ["set-option", "-p", "-t", pane, TAG.before, stack.before];
    if (below === undefined)
      return [tag, ["join-pane", "-d", "-h", "-l", "50%", "-s", pane, "-t", stack.caller]];
    // The border takes one line.
    lines -= 1;
    return [tag, ["join-pane", "-d", "-v", "-s", pane, "-t", below], ...shareLines(column, lines)];
  });
}

/**
 * Returns the commands that share the lines of a stack evenly after some of its panes have closed. Nothing else in the user's
 * window changes; a window that the closed panes were not in does not change at all, since a resize would also end its zoom.
 * @param places records of the closed panes; those without `beside` are skipped
 * @param closing panes that are gone when the commands run
 */
export function evenOutStacks(
  seen: PaneList,
  places: readonly Pick<PlaceRecord, "beside">[],
  closing: ReadonlySet<string>,
): TmuxCommand[] {
  const windows = new Set(places.map(({ beside }) => beside?.window));
  const columns = new Map<string, TmuxPane[]>();
  for (const pane of seen.panes.filter(({ floating, window }) => !floating && windows.has(window))) {
    const key = `${pane.session} ${pane.window} ${pane.left} ${pane.width}`;
    columns.set(key, [...(columns.get(key) ?? []), pane]);
  }
  return [...columns.values()].flatMap((column) => {
    if (!column.every(isStacked)) return [];
    const left = column.filter(({ id }) => !closing.has(id)).map(({ id }) => id);
    const lines = column.reduce((sum, { height }) => sum + height, 0) + column.length - left.length;
    return shareLines(left, lines);
  });
}

/**
 * Returns the commands that restore the layout of the users' windows after the last teammate has left them. tmux gives
 * the room of a closed pane to its neighbour, but that room may have come from another pane while the window was smaller. A window
 * whose panes or size have changed is left alone.
 * @param places records of the closed panes; those without `beside` are skipped
 * @param closing panes that are gone when the commands run
 */
export function restoreUserLayout(
  seen: PaneList,
  places: readonly Pick<PlaceRecord, "beside">[],
  closing: ReadonlySet<string>,
): TmuxCommand[] {
  const before = new Map(
    places.flatMap(({ beside }) => (beside === undefined ? [] : [[beside.window, beside.layout]])),
  );
  return [...before].flatMap(([window, layout]) => {
    const was = readLayout(layout);
    const [first] = was?.panes ?? [];
    if (was === undefined || first === undefined) return [];
    const others = seen.panes.filter((pane) => pane.window === window && pane.options[TAG.agent] === "");
    const now = new Set(others.map(({ id }) => id).filter((id) => !closing.has(id)));
    if (now.size !== was.panes.length || !was.panes.every((id) => now.has(id))) return [];
    const isFree = allOf(
      equals("window_id", window),
      equals("window_panes", String(was.panes.length)),
      equals("window_width", String(was.width)),
      equals("window_height", String(was.height)),
      // recordZoom and restoreZoom surround the layout, which ends the zoom.
      anyOf(equals("window_zoomed_flag", "0"), `#{!=:#{${TAG.zoomed}},}`),
    );
    return [ifElse(first, isFree, [["select-layout", "-t", window, layout]], [])];
  });
}

/** True for a teammate's pane in a user's window. */
function isStacked(pane: TmuxPane): boolean {
  return pane.options[TAG.agent] !== "" && !isInOurWindow(pane);
}

/**
 * Resizes the panes of a column to equal heights. `select-layout -E` is not an alternative: if the panes are already even, it resizes
 * their surroundings, beginning with the caller's pane.
 */
function shareLines(column: readonly PaneId[], lines: number): TmuxCommand[] {
  const share = Math.floor(lines / column.length);
  const remainder = lines - share * column.length;
  // The last pane gets the remaining lines.
  return column
    .slice(0, -1)
    .map((pane, i) =>
      onlyIf(pane, equals("pane_id", pane), [
        "resize-pane",
        "-t",
        pane,
        "-y",
        String(share + (i < remainder ? 1 : 0)),
      ]),
    );
}
