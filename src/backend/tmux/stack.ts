import type { PlaceRecord } from "../../schema/status.ts";
import { ifElse, onlyIf, type TmuxCommand } from "../../tmux/command.ts";
import { all, equals } from "../../tmux/format.ts";
import type { PaneId, WindowId } from "../../tmux/ids.ts";
import { readLayout } from "../../tmux/layout-string.ts";
import type { PaneList, TmuxPane } from "../../tmux/list-panes.ts";
import { isInOurWindow, TAG } from "./pane-tags.ts";

/** A stack of teammates at the right of the caller's pane. */
export interface Stack {
  readonly caller: PaneId;
  readonly window: WindowId;
  /** How the window was laid out before any of the team stood in it, as tmux prints it. */
  readonly before: string;
  /** The teammates that stand there already, the highest first. */
  readonly existing: readonly PaneId[];
  /** Lines of their panes, of the caller's where nobody stands there. */
  readonly lines: number;
  /** How many of the first host's new panes are moved there. */
  readonly count: number;
}

/** User options that {@link evenOutStacks} reads of a look. */
export const STACK_OPTIONS = [TAG.agent, TAG.window] as const;

/** The layout of a pane's window, as {@link look} reads it among user options. */
export const WINDOW_LAYOUT = "window_layout";

/** The commands that move panes to a stack's end, each with as much room as the others: the caller's pane keeps its own. */
export function stackCommands(stack: Stack, panes: readonly PaneId[]): TmuxCommand[] {
  const column = [...stack.existing];
  let { lines } = stack;
  return panes.flatMap((pane) => {
    const below = column.at(-1);
    column.push(pane);
    const tag = ["set-option", "-p", "-t", pane, TAG.before, stack.before];
    if (below === undefined)
      return [tag, ["join-pane", "-d", "-h", "-l", "50%", "-s", pane, "-t", stack.caller]];
    // The border between the two.
    lines -= 1;
    return [tag, ["join-pane", "-d", "-v", "-s", pane, "-t", below], ...shareLines(column, lines)];
  });
}

/**
 * The commands that share out evenly what is left of the stacks beside callers when some panes of them have closed; nothing
 * else in the user's window moves.
 * @param closing panes that are gone when the commands run
 */
export function evenOutStacks(seen: PaneList, closing: ReadonlySet<string>): TmuxCommand[] {
  const columns = new Map<string, TmuxPane[]>();
  for (const pane of seen.panes) {
    const place = `${pane.session} ${pane.window} ${pane.left} ${pane.width}`;
    columns.set(place, [...(columns.get(place) ?? []), pane]);
  }
  return [...columns.values()].flatMap((column) => {
    if (!column.every(isStacked)) return [];
    const left = column.filter(({ id }) => !closing.has(id)).map(({ id }) => id);
    const lines = column.reduce((sum, { height }) => sum + height, 0) + column.length - left.length;
    return shareLines(left, lines);
  });
}

/**
 * The commands that lay the users' windows out as they were, once the last teammate has left them: tmux gives the room of a
 * pane to its neighbour, which is not where it came from when the window was small meanwhile. Not where a pane of the user's
 * came or went, nor at another size.
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
    const isFree = all(
      equals("window_id", window),
      equals("window_panes", String(was.panes.length)),
      equals("window_width", String(was.width)),
      equals("window_height", String(was.height)),
      equals("window_zoomed_flag", "0"),
    );
    return [ifElse(first, isFree, [["select-layout", "-t", window, layout]], [])];
  });
}

/** A teammate's pane in a window that is not one of its team's. */
function isStacked(pane: TmuxPane): boolean {
  return pane.options[TAG.agent] !== "" && !isInOurWindow(pane);
}

/**
 * Gives each pane of a column as many of its lines. Not by `select-layout -E`: where they are even already that goes on with
 * what stands around them, the caller's pane first.
 */
function shareLines(column: readonly PaneId[], lines: number): TmuxCommand[] {
  const share = Math.floor(lines / column.length);
  const more = lines - share * column.length;
  // The last one has what is left.
  return column
    .slice(0, -1)
    .map((pane, i) =>
      onlyIf(pane, equals("pane_id", pane), [
        "resize-pane",
        "-t",
        pane,
        "-y",
        String(share + (i < more ? 1 : 0)),
      ]),
    );
}
