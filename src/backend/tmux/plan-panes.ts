import { type PaneId, type SessionId, sessionId, type WindowId } from "../../tmux/ids.ts";
import type { PaneList, TmuxPane } from "../../tmux/list-panes.ts";
import type { NotHereReason, Placement, SpawnRequest } from "../backend.ts";
import { capacity, distribute, MIN_PANE, type PaneSize, stackCapacity } from "./grid.ts";
import { type LayoutName, layoutOf } from "./layout-commands.ts";
import { isInOurSession, isInOurWindow, ownerTag, TAG } from "./pane-tags.ts";
import { type Stack, WINDOW_LAYOUT } from "./stack.ts";
import { WINDOW_ZOOMED } from "./zoom.ts";

/** Size of a session without a client, in cells. */
export const DETACHED_SIZE: PaneSize = { width: 200, height: 50 };

/** A window, existing or new, that receives some of the new panes. */
export type Host =
  | {
      readonly kind: "window";
      readonly window: WindowId;
      readonly anchor: PaneId;
      /** Number of panes that it already has. */
      readonly panes: number;
      readonly layout: LayoutName;
    }
  | { readonly kind: "new-window"; readonly session: SessionId }
  | { readonly kind: "new-session"; readonly name: string; readonly size: PaneSize }
  /** An additional window of the session that the plan creates. */
  | { readonly kind: "same-session"; readonly name: string };

export interface PanePlan {
  readonly hosts: readonly { readonly host: Host; readonly count: number }[];
  readonly stack: Stack | undefined;
  /** Why some panes are not next to the caller; meaningful only if that was requested. */
  readonly notHere?: NotHereReason;
  /** Names of the shared windows of the team, as tmux reports them. */
  readonly names: ReadonlySet<string>;
  /** Whether each new window belongs to a single teammate. */
  readonly ownWindows?: boolean;
}

/** tmux's variable for a window's name; `listPanes` reads it among the user options. */
const WINDOW_NAME = "window_name";

/** The options that {@link planPanes} needs from `listPanes`. */
export const PLAN_OPTIONS = [
  TAG.agent,
  TAG.team,
  TAG.root,
  TAG.window,
  TAG.apart,
  TAG.layout,
  TAG.session,
  TAG.before,
  WINDOW_LAYOUT,
  WINDOW_ZOOMED,
  WINDOW_NAME,
] as const;

/**
 * Decides where `count` new panes of one team go. Pure.
 * @param placement with the caller's actual position
 */
export function planPanes(
  seen: PaneList,
  team: Pick<SpawnRequest, "team" | "rootTag">,
  count: number,
  placement: Placement,
  min: PaneSize = MIN_PANE,
): PanePlan {
  const caller = seen.panes.find((pane) => pane.id === placement.callerPane);
  const stackOrReason = placement.kind === "here" ? planStack(seen, caller, team, count, min) : undefined;
  const stack = typeof stackOrReason === "string" ? undefined : stackOrReason;
  const notHere = typeof stackOrReason === "string" ? stackOrReason : "no room";
  const windows = teamWindows(seen, team, placement);
  const roomy = windows.filter(([first]) => first !== undefined && !hasFloating(seen, first.window));
  const session = sessionFor(seen, caller, team, placement);
  const size = sizeFor(seen, session, caller);
  const names = namesOf(windows);
  if (placement.kind === "window") {
    const hosts = Array.from({ length: count }, (_, i) => newHost(seen, session, team, i, size));
    return { hosts: hosts.map((host) => ({ host, count: 1 })), stack: undefined, names, ownWindows: true };
  }
  const stacked = stack?.count ?? 0;
  const { existing, fresh } = distribute(
    count - stacked,
    roomy.map((panes) => capacity(windowSize(panes), min) - panes.length),
    size,
    min,
  );
  const intoWindows = roomy.flatMap((panes, i) => {
    const last = panes.at(-1);
    const taken = existing[i] ?? 0;
    if (last === undefined || taken === 0) return [];
    const layout = layoutOf(last.options[TAG.layout]);
    const host = {
      kind: "window",
      window: last.window,
      anchor: last.id,
      panes: panes.length,
      layout,
    } as const;
    return [{ host, count: taken }];
  });
  // Stacked panes are first created in a new window: a batch cannot name panes that it has not created yet.
  const counts = stacked > 0 ? [stacked, ...fresh] : fresh;
  const intoNew = counts.map((taken, i) => ({ host: newHost(seen, session, team, i, size), count: taken }));
  return stacked > 0
    ? { hosts: [...intoNew.slice(0, 1), ...intoWindows, ...intoNew.slice(1)], stack, names, notHere }
    : { hosts: [...intoWindows, ...intoNew], stack: undefined, names, notHere };
}

/** True if a window has a floating pane: tmux 3.7 refuses layout strings for it, and every other layout would tile that pane. */
export function hasFloating({ panes }: PaneList, window: WindowId): boolean {
  return panes.some((pane) => pane.window === window && pane.floating);
}

/**
 * Returns the panes of each shared window of the team, in index order, without floating panes. With placement `session`, only windows of
 * the team's own session count. The window of a single teammate is not shared.
 */
export function teamWindows(
  seen: PaneList,
  team: Pick<SpawnRequest, "team" | "rootTag">,
  placement: Placement,
): readonly (readonly TmuxPane[])[] {
  const windows = new Map<WindowId, TmuxPane[]>();
  const known = new Set<PaneId>();
  for (const pane of seen.panes) {
    // A window that is linked into two sessions is listed twice.
    if (pane.floating || known.has(pane.id)) continue;
    if (!isInOurWindow(pane, ownerTag(team)) || hasOwnWindow(pane)) continue;
    if (placement.kind === "session" && !isInOurSession(pane, ownerTag(team))) continue;
    known.add(pane.id);
    windows.set(pane.window, [...(windows.get(pane.window) ?? []), pane]);
  }
  return [...windows.values()];
}

/** Returns the names of windows, each given by its panes. */
export function namesOf(windows: readonly (readonly TmuxPane[])[]): ReadonlySet<string> {
  return new Set(windows.flatMap(([pane]) => pane?.options[WINDOW_NAME] ?? []));
}

/** True if a pane is in the window of a single teammate. */
export function hasOwnWindow(pane: TmuxPane): boolean {
  return pane.options[TAG.apart] === "1";
}

function sessionFor(
  seen: PaneList,
  caller: TmuxPane | undefined,
  team: Pick<SpawnRequest, "team" | "rootTag">,
  placement: Placement,
): SessionId | undefined {
  const own = caller?.session ?? sessionId(placement.callerSession);
  if (own !== undefined && placement.kind !== "session") return own;
  return seen.panes.find((pane) => isInOurSession(pane, ownerTag(team)))?.session;
}

function sizeFor(seen: PaneList, session: SessionId | undefined, caller: TmuxPane | undefined): PaneSize {
  const sample = caller?.session === session ? caller : seen.panes.find((pane) => pane.session === session);
  return session === undefined || sample === undefined ? DETACHED_SIZE : windowSize([sample]);
}

function newHost(
  seen: PaneList,
  session: SessionId | undefined,
  team: Pick<SpawnRequest, "team">,
  index: number,
  size: PaneSize,
): Host {
  if (session !== undefined) return { kind: "new-window", session };
  const name = freeSessionName(seen, `teams-${team.team}`);
  return index === 0 ? { kind: "new-session", name, size } : { kind: "same-session", name };
}

/** Returns the name, with a number appended if another session already has it. */
export function freeSessionName(seen: PaneList, wanted: string): string {
  const taken = new Set(seen.panes.map((pane) => pane.sessionName));
  if (!taken.has(wanted)) return wanted;
  let n = 2;
  while (taken.has(`${wanted}-${n}`)) n += 1;
  return `${wanted}-${n}`;
}

function planStack(
  seen: PaneList,
  caller: TmuxPane | undefined,
  team: Pick<SpawnRequest, "team" | "rootTag">,
  count: number,
  min: PaneSize,
): Stack | NotHereReason {
  if (caller === undefined) return "no pane";
  if (caller.floating) return "floating";
  if (caller.options[WINDOW_ZOOMED] === "1") return "zoomed";
  const existing = seen.panes.filter(
    (pane) =>
      pane.window === caller.window &&
      pane.session === caller.session &&
      !pane.floating &&
      pane.options[TAG.agent] !== "" &&
      pane.options[TAG.team] === team.team &&
      pane.options[TAG.root] === team.rootTag,
  );
  const wideEnough = existing.length > 0 || caller.width >= 2 * min.width;
  const room = wideEnough ? stackCapacity(caller.height, min) - existing.length : 0;
  const fits = Math.min(count, Math.max(0, room));
  if (fits === 0) return "no room";
  const lines = existing.length === 0 ? caller.height : existing.reduce((sum, { height }) => sum + height, 0);
  return {
    caller: caller.id,
    window: caller.window,
    before: existing[0]?.options[TAG.before] || (caller.options[WINDOW_LAYOUT] ?? ""),
    existing: existing.map(({ id }) => id),
    lines,
    count: fits,
  };
}

export function windowSize(panes: readonly TmuxPane[]): PaneSize {
  const pane = panes[0];
  return pane === undefined ? DETACHED_SIZE : { width: pane.windowWidth, height: pane.windowHeight };
}
