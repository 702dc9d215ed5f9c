import type { PlaceRecord } from "../../schema/status.ts";
import { all, any, type BatchLine, drawable, equals, literal, type TmuxCommand } from "../../tmux/command.ts";
import { type PaneId, paneId } from "../../tmux/ids.ts";
import type { TmuxPane } from "../../tmux/list-panes.ts";
import type { SpawnRequest } from "../backend.ts";
import type { PaneSize } from "./grid.ts";

/** User options of a teammate's pane. */
export const TAG = {
  team: "@teams_team",
  root: "@teams_root",
  /** The uuid of this very start: a pane is ours only with it. */
  agent: "@teams_agent",
  agentId: "@teams_agent_id",
  color: "@teams_color",
  state: "@teams_state",
  task: "@teams_task",
  /** On panes that we put beside a caller's: how the user's window was laid out before. */
  before: "@teams_before",
  /**
   * On windows that we made, `<window>/<root>/<team>`: it names its own window, so that a copy of it makes no other one ours.
   * Panes never have it, so that what a pane shows is its window's.
   */
  window: "@teams_window",
  /** On a window that one teammate has for itself: no spawn fills it, no layout is for it. */
  apart: "@teams_apart",
  /** On windows that we made: the layout that was chosen for them. */
  layout: "@teams_layout",
  /** On windows that we made: the name that we gave them. */
  name: "@teams_name",
  /** On windows that we made: for how many panes and which size they were last laid out. */
  fitted: "@teams_fitted",
  /** On any window, while a batch runs that would end its zoom: the zoomed pane. */
  zoomed: "@teams_zoomed",
  /** On sessions that we made, `<session>/<root>/<team>`, for the same reason. */
  session: "@teams_session",
  /** On a sidebar's pane, `<root>/<team>`. */
  sidebar: "@teams_sidebar",
} as const;

/** Whether a pane stands in a window that we made: for a team (its {@link ownerTag}), or for any. */
export function isInOurWindow({ window, options }: TmuxPane, owner?: string): boolean {
  const tag = options[TAG.window] ?? "";
  return owner === undefined ? tag.startsWith(`${window}/`) : tag === `${window}/${owner}`;
}

/** Whether a pane stands in a session that we made for a team, by its {@link ownerTag}. */
export function isInOurSession({ session, options }: TmuxPane, owner: string): boolean {
  return options[TAG.session] === `${session}/${owner}`;
}

/** A member's colour as tmux names it; pink, orange and purple are not among its sixteen. */
const TMUX_COLORS: Readonly<Record<string, string>> = {
  blue: "blue",
  green: "green",
  yellow: "yellow",
  purple: "colour141",
  orange: "colour208",
  pink: "colour205",
  cyan: "cyan",
  red: "red",
};

/** Whose a window or session is, as its tag says. */
export function ownerTag(request: { readonly rootTag: string; readonly team: string }): string {
  return `${request.rootTag}/${request.team}`;
}

/**
 * A detached session of ours: it stays although nobody looks at it, and is tagged. All of it or nothing, since its name may
 * have become somebody else's meanwhile.
 * @param words further ones of `new-session`
 * @param variables what it is started with: `-e` of a new session is the session's, and what belongs to one agent
 * must not reach the user's panes there
 */
export function newSession(
  name: string,
  { width, height }: PaneSize,
  words: readonly string[],
  owner: string,
  variables: readonly string[],
): BatchLine {
  const target = `=${name}:`;
  return {
    chain: [
      ["new-session", "-d", "-s", name, "-x", `${width}`, "-y", `${height}`, ...words],
      ["set-option", "-t", target, "destroy-unattached", "off"],
      ["set-option", "-F", "-t", target, TAG.session, `#{session_id}/${owner}`],
      ...variables.map((variable): TmuxCommand => ["set-environment", "-u", "-t", target, variable]),
    ],
  };
}

/** What makes a pane a teammate's. */
export function paneTags(pane: PaneId, request: SpawnRequest): TmuxCommand[] {
  const set = (name: string, value: string): TmuxCommand => ["set-option", "-p", "-t", pane, name, value];
  return [
    set(TAG.agent, request.instance),
    set(TAG.team, request.team),
    set(TAG.root, request.rootTag),
    set(TAG.agentId, drawable(request.agentId)),
    set(TAG.color, TMUX_COLORS[request.color] ?? "default"),
    set(TAG.state, "starting"),
    set("remain-on-exit", "off"),
    ["select-pane", "-t", pane, "-T", literal(request.agentId)],
  ];
}

/** The condition that a pane is of this start: by its tag or, before it was tagged, by the start's own words. */
export function isOfStart(instance: string): string {
  return any(equals(TAG.agent, instance), `#{m:*outer ${instance}*,#{pane_start_command}}`);
}

/** Whether it may stand in a format. */
export function isInstance(instance: string): boolean {
  return /^[\w-]+$/.test(instance);
}

/**
 * The condition under which a pane is the one of the record: same server, same pane, same process, and the tag of
 * that start (or, before it was tagged, the start's own words). Undefined for a record that names no pane.
 */
export function identityCondition(
  place: PlaceRecord,
): { readonly pane: PaneId; readonly condition: string } | undefined {
  const pane = paneId(place.paneId);
  if (pane === undefined || place.panePid === undefined || !isInstance(place.instance)) return undefined;
  return {
    pane,
    condition: all(
      equals("pane_id", pane),
      equals("pane_pid", String(place.panePid)),
      isOfStart(place.instance),
      ...(place.server === undefined ? [] : [equals("pid", String(place.server.pid))]),
    ),
  };
}
