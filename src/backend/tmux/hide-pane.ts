import { TeamError } from "../../errors.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { attemptBatch } from "../../tmux/attempt-batch.ts";
import { equals, escapeFormat, ifElse, MISS, onlyIf, type TmuxCommand } from "../../tmux/command.ts";
import type { PaneId, WindowId } from "../../tmux/ids.ts";
import { listPanes, type PaneList, type TmuxPane } from "../../tmux/list-panes.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import type { SpawnRequest } from "../backend.ts";
import { capacity } from "./grid.ts";
import { type LayoutName, layoutCommands, layoutOf, removeLayoutHook } from "./layout-commands.ts";
import { identityCondition, isInOurWindow, TAG } from "./pane-tags.ts";
import { hasFloating, hasOwnWindow, namesOf, PLAN_OPTIONS, teamWindows, windowSize } from "./plan-panes.ts";
import { restoreUserLayout } from "./stack.ts";
import { freeWindowName, nameWindow, releaseWindow, windowOptions } from "./team-window.ts";
import { keepZoom } from "./zoom.ts";

/**
 * The result of hiding or showing a pane. `unchanged`: it was already hidden or shown. `own-window`: it was spawned into a separate window
 * and is never moved. `gone`: the pane is closed or belongs to another start.
 */
export type MoveOutcome = "moved" | "unchanged" | "own-window" | "gone";

/**
 * Moves a teammate's pane into a separate window, which no spawn fills; its former neighbours get the room. Keeps every
 * client's focus.
 * @param name the name of that window
 * @throws TeamError TMUX_ERROR
 */
export async function hidePane(server: TmuxServer, place: PlaceRecord, name: string): Promise<MoveOutcome> {
  return movePane(server, place, (seen, pane) => {
    if (isHidden(seen, pane)) return undefined;
    const others = tiledIn(seen, pane.window).filter(({ id }) => id !== pane.id);
    const rest = {
      id: pane.window,
      size: windowSize([pane]),
      panes: countOf(others),
      layout: layoutIn([pane]),
    };
    const [select = [], ...followUp] = layoutCommands(rest);
    const layOut = hasFloating(seen, pane.window) ? followUp : [select, ...followUp];
    const commands = [
      ...(others.length === 0 ? [] : [["break-pane", "-d", "-s", pane.id, "-t", `${pane.session}:`]]),
      ["rename-window", "-t", pane.id, "--", escapeFormat(name)],
      ["set-option", "-w", "-t", pane.id, "allow-rename", "off"],
      ["set-option", "-w", "-u", "-t", pane.id, TAG.window],
      removeLayoutHook(pane.id),
      ...(isInOurWindow(pane) && others.some(isTeammatePane) ? layOut : []),
      releaseWindow(pane.window, seen.serverPid ?? 0),
      // After the last teammate next to the caller, restore the user's window.
      ...restoreUserLayout(seen, [place], new Set([pane.id])),
    ];
    return keepZoom(pane.window, commands);
  });
}

interface ShowOptions {
  /** Panes of the members that follow this member; its pane is inserted before the first of them. */
  readonly later?: readonly string[];
  /** Receives the window that now contains the pane. */
  readonly moved?: (window: WindowId) => void;
}

/**
 * Moves a hidden pane back into a window of its team, never into one of the user's windows. If no team window has room, the window of the
 * pane becomes a team window.
 * @throws TeamError TMUX_ERROR
 */
export async function showPane(
  server: TmuxServer,
  place: PlaceRecord,
  team: Pick<SpawnRequest, "team" | "rootTag" | "teamTitle">,
  { later = [], moved }: ShowOptions = {},
): Promise<MoveOutcome> {
  let window: WindowId | undefined;
  const outcome = await movePane(server, place, (seen, pane) => {
    if (!isHidden(seen, pane)) return undefined;
    const windows = teamWindows(seen, team, { kind: "team-window" });
    const target = windows.find(
      (panes) =>
        capacity(windowSize(panes)) > panes.length && !panes.some(({ window: id }) => hasFloating(seen, id)),
    );
    const last = target?.at(-1);
    window = last?.window ?? pane.window;
    if (target === undefined || last === undefined) {
      const own = { id: pane.window, size: windowSize([pane]), panes: 1, layout: layoutIn([pane]) };
      return [
        ...windowOptions(pane.id, team),
        ...nameWindow(pane.id, freeWindowName(team.teamTitle, namesOf(windows))),
        ...layoutCommands(own),
      ];
    }
    const next = target.find(({ id }) => later.includes(id));
    const joined = {
      id: last.window,
      size: windowSize(target),
      panes: target.length + 1,
      layout: layoutIn(target),
    };
    const commands = [
      // Make room for the join, whatever layout the user has chosen.
      ["select-layout", "-t", last.window, "tiled"],
      ["join-pane", "-d", "-s", pane.id, "-t", (next ?? last).id],
      ...(next === undefined ? [] : [swapPanes(pane.id, next.id)]),
      ...layoutCommands(joined),
    ];
    return keepZoom(last.window, commands);
  });
  if (outcome === "moved" && window !== undefined) moved?.(window);
  return outcome;
}

/**
 * Returns the command that swaps a pane with the pane before it in its window; the active pane stays active. tmux 3.7 ignores
 * `join-pane -b`.
 */
function swapPanes(pane: PaneId, before: PaneId): TmuxCommand {
  const words = ["-s", pane, "-t", before];
  // Without -d, swap-pane makes the target active. With -d, an active target would lose the focus to the other pane.
  return ifElse(
    before,
    equals("pane_active", "1"),
    [["swap-pane", ...words]],
    [["swap-pane", "-d", ...words]],
  );
}

function isTeammatePane({ options }: TmuxPane): boolean {
  return options[TAG.agent] !== "";
}

/** True if the pane is alone in a window that is not a team window. */
function isHidden(seen: PaneList, pane: TmuxPane): boolean {
  return countOf(tiledIn(seen, pane.window)) === 1 && !isInOurWindow(pane);
}

/** Returns the panes of a window except floating panes, which stay where they are. */
function tiledIn({ panes }: PaneList, window: WindowId): readonly TmuxPane[] {
  return panes.filter((pane) => pane.window === window && !pane.floating);
}

/**
 * Lists the panes, plans, and runs the plan in one batch. Each command runs only while the pane still matches its record.
 * @param plan returns undefined if nothing is left to do
 */
async function movePane(
  server: TmuxServer,
  place: PlaceRecord,
  plan: (seen: PaneList, pane: TmuxPane) => readonly TmuxCommand[] | undefined,
): Promise<MoveOutcome> {
  const identity = identityCondition(place);
  const find = (list: PaneList): TmuxPane | undefined =>
    list.panes.find(({ id, options }) => id === identity?.pane && options[TAG.agent] === place.instance);
  const seen = await listPanes(server, PLAN_OPTIONS);
  const pane = find(seen);
  if (identity === undefined || pane === undefined) return "gone";
  if (hasOwnWindow(pane)) return "own-window";
  const commands = plan(seen, pane);
  if (commands === undefined) return "unchanged";
  const result = await attemptBatch(
    server,
    commands.map((command) => onlyIf(identity.pane, identity.condition, command)),
  );
  const { lines, errors } = result;
  if (lines.includes(MISS)) return "gone";
  if (errors.length === 0) return "moved";
  // The errors may come from the user's hooks.
  const now = await listPanes(server, PLAN_OPTIONS);
  const moved = find(now);
  if (moved === undefined) return "gone";
  if (plan(now, moved) === undefined) return "moved";
  const why = errors.join("; ").replace(/\.$/, "");
  const advice = (await result.advice()) ?? "";
  throw new TeamError("TMUX_ERROR", `tmux did not move pane ${pane.id}: ${why}.`, {
    hint: `The agent keeps running. Show its pane with \`teams attach\`. ${advice}`.trim(),
    details: { kind: "refused", errors },
  });
}

/** Counts panes; a pane of a window that is linked into two sessions is listed twice. */
function countOf(panes: readonly TmuxPane[]): number {
  return new Set(panes.map(({ id }) => id)).size;
}

function layoutIn([pane]: readonly TmuxPane[]): LayoutName {
  return layoutOf(pane?.options[TAG.layout]);
}
