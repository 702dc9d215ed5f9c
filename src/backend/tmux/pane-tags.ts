import { ENDING_TAG, SESSION_TAG } from "../../launch/leave-session.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { memberColor } from "../../text/style.ts";
import {
  allOf,
  anyOf,
  type BatchLine,
  equals,
  escapeDrawnText,
  escapeFormat,
  sequence,
  type TmuxCommand,
} from "../../tmux/command.ts";
import { type PaneId, paneId, type SessionId } from "../../tmux/ids.ts";
import type { TmuxPane } from "../../tmux/list-panes.ts";
import type { SpawnRequest } from "../backend.ts";
import type { PaneSize } from "./grid.ts";

/** The tmux user options that teams sets, mostly on the panes of teammates. */
export const TAG = {
  team: "@teams_team",
  root: "@teams_root",
  /** The uuid of the start; it marks the pane as a teammate's. */
  agent: "@teams_agent",
  agentId: "@teams_agent_id",
  color: "@teams_color",
  state: "@teams_state",
  task: "@teams_task",
  /** On panes next to the caller's pane, and on the sidebar's pane: the earlier layout of the user's window. */
  before: "@teams_before",
  /**
   * On team windows, `<window>/<root>/<team>`. The value names its own window, so a copy of the option does not mark another window. Panes
   * never have this option, so a pane always shows the value of its window.
   */
  window: "@teams_window",
  /** On the window of a single teammate (`--window`): no spawn adds panes to it, and it has no layout. */
  apart: "@teams_apart",
  /** On team windows: the chosen layout. */
  layout: "@teams_layout",
  /** On team windows: the name that teams gave them. */
  name: "@teams_name",
  /** On team windows: the number of panes and the size of the last layout. */
  fitted: "@teams_fitted",
  /** On any window, during a batch that would undo its zoom: the zoomed pane. */
  zoomed: "@teams_zoomed",
  session: SESSION_TAG,
  /** On team windows: the pane that was last zoomed. */
  zoom: "@teams_zoom",
  /** On team windows: the number of panes at that time. */
  zoomPanes: "@teams_zoom_panes",
  ending: ENDING_TAG,
  /** On a sidebar's pane, `<root>/<team>`. */
  sidebar: "@teams_sidebar",
  /** On a pane whose screen was recorded. */
  cast: "@teams_cast",
} as const;

/** True if a pane is in a window that teams created, for the team with this {@link ownerTag} or, without it, for any team. */
export function isInOurWindow({ window, options }: TmuxPane, owner?: string): boolean {
  const tag = options[TAG.window] ?? "";
  return owner === undefined ? tag.startsWith(`${window}/`) : tag === `${window}/${owner}`;
}

/** True if a pane is in a session that teams created for the team with this {@link ownerTag}. */
export function isInOurSession({ session, options }: TmuxPane, owner: string): boolean {
  return options[TAG.session] === `${session}/${owner}`;
}

/** Returns tmux's name for a member's colour: as in its pane, a colour that no theme changes. */
function tmuxColor(color: string): string {
  const index = memberColor(color);
  return index === undefined ? "default" : `colour${index}`;
}

/** Returns the part of a window or session tag that names the team. */
export function ownerTag(request: { readonly rootTag: string; readonly team: string }): string {
  return `${request.rootTag}/${request.team}`;
}

/**
 * Returns the commands that create a detached session, which survives without a client. They form one chain: if another session has taken
 * the name meanwhile, that session is not changed. {@link sessionOptions} follow once the id is known.
 * @param words additional arguments of `new-session`
 */
export function newSession(name: string, { width, height }: PaneSize, words: readonly string[]): BatchLine {
  return {
    chain: [
      ["new-session", "-d", "-s", name, "-x", `${width}`, "-y", `${height}`, ...words],
      // In the same batch: under a global destroy-unattached, tmux ends the session after the batch.
      ["set-option", "-t", `=${name}:`, "destroy-unattached", "off"],
      [
        "if-shell",
        "-F",
        "-t",
        `=${name}:`,
        lacksSize(width, height),
        sequence(resizing(name, width, height)),
      ],
    ],
  };
}

/** Returns the condition that tmux 3.2a has ignored `-x` and `-y`. */
function lacksSize(width: number, height: number): string {
  return allOf("#{m:3.2*,#{version}}", `#{!=:#{window_width}x#{window_height},${width}x${height}}`);
}

function resizing(name: string, width: number, height: number): TmuxCommand[] {
  return [
    ["resize-window", "-t", `=${name}:`, "-x", `${width}`, "-y", `${height}`],
    // resize-window sets this option to manual, and the window would not follow its clients.
    ["set-option", "-w", "-u", "-t", `=${name}:`, "window-size"],
  ];
}

/**
 * Returns the commands that tag a session of a team.
 * @param variables variables to unset in the session: `-e` of `new-session` applies to the whole session, but the variables of one agent
 * must not reach the user's panes in it
 */
export function sessionOptions(
  session: SessionId,
  owner: string,
  variables: readonly string[],
): TmuxCommand[] {
  return [
    // Again, by id: a hook of the user may have renamed the session.
    ["set-option", "-t", session, "destroy-unattached", "off"],
    ["set-option", "-F", "-t", session, TAG.session, `#{session_id}/${owner}`],
    ...variables.map((variable): TmuxCommand => ["set-environment", "-u", "-t", session, variable]),
  ];
}

/** Returns the commands that mark a pane as a teammate's. */
export function paneTags(pane: PaneId, request: SpawnRequest): TmuxCommand[] {
  const set = (name: string, value: string): TmuxCommand => ["set-option", "-p", "-t", pane, name, value];
  return [
    set(TAG.agent, request.instance),
    set(TAG.team, request.team),
    set(TAG.root, request.rootTag),
    set(TAG.agentId, escapeDrawnText(request.agentId)),
    set(TAG.color, tmuxColor(request.color)),
    set(TAG.state, "starting"),
    set("remain-on-exit", "off"),
    ["select-pane", "-t", pane, "-T", escapeFormat(request.agentId)],
  ];
}

/** Returns the condition that a pane belongs to this start: by its tag or, if it is not tagged yet, by its start command. */
export function isOfStart(instance: string): string {
  return anyOf(equals(TAG.agent, instance), `#{m:*outer ${instance}*,#{pane_start_command}}`);
}

/** Returns the condition that a pane has the tag of this instance; for a foreign member, that it has no tag. */
export function isTaggedAs(instance: string): string {
  return instance === FOREIGN_INSTANCE ? `#{==:#{${TAG.agent}},}` : equals(TAG.agent, instance);
}

/** Returns the condition that a pane has this process, or is dead without a process: tmux 3.8 reports none for a dead pane. */
function isProcess(pid: number): string {
  return anyOf(equals("pane_pid", String(pid)), allOf(equals("pane_dead", "1"), "#{==:#{pane_pid},}"));
}

/** True if the instance is safe to use in a format. */
export function isInstance(instance: string): boolean {
  return /^[\w-]+$/.test(instance);
}

/**
 * Returns the condition under which a pane matches its record: same server, same pane, same process, and the tag of that start
 * (or, if it is not tagged yet, its start command). Undefined for a record without a pane.
 */
export function identityCondition(
  place: PlaceRecord,
): { readonly pane: PaneId; readonly condition: string } | undefined {
  const pane = paneId(place.paneId);
  if (pane === undefined || place.panePid === undefined) return undefined;
  if (place.instance === FOREIGN_INSTANCE) return foreignIdentity(pane, place.panePid, place.server);
  if (!isInstance(place.instance)) return undefined;
  return {
    pane,
    condition: allOf(
      equals("pane_id", pane),
      isProcess(place.panePid),
      isOfStart(place.instance),
      ...(place.server === undefined ? [] : [equals("pid", String(place.server.pid))]),
    ),
  };
}

/** The instance in the place of a foreign member. It equals the value of an unset tag: teams did not start the pane. */
export const FOREIGN_INSTANCE = "";

/**
 * Returns the identity of an untagged pane: a server never reuses a pane id, so server, pane and process identify the pane. A pane that
 * teams has tagged meanwhile does not match.
 */
function foreignIdentity(
  pane: PaneId,
  panePid: number,
  server: PlaceRecord["server"],
): ReturnType<typeof identityCondition> {
  if (server === undefined) return undefined;
  return {
    pane,
    condition: allOf(
      equals("pane_id", pane),
      equals("pane_pid", String(panePid)),
      equals("pid", String(server.pid)),
      isTaggedAs(FOREIGN_INSTANCE),
    ),
  };
}
