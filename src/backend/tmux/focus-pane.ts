import type { PlaceRecord } from "../../schema/status.ts";
import { attemptBatch } from "../../tmux/attempt-batch.ts";
import type { TmuxCaller } from "../../tmux/caller.ts";
import { allOf, equals, ifElse, MISS } from "../../tmux/command.ts";
import { paneId, type SessionId, sessionId } from "../../tmux/ids.ts";
import { listPanes, type PaneList, type TmuxPane } from "../../tmux/list-panes.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { actualPosition, POSITION_OPTIONS } from "./caller-position.ts";
import { isTaggedAs, TAG } from "./pane-tags.ts";
import { WINDOW_ZOOMED } from "./zoom.ts";

export type FocusOutcome =
  | { readonly kind: "switched" }
  /**
   * No client can be switched; `argv` is the command that shows the pane in a terminal.
   * `why`: the caller is outside tmux, its pane is on another server, or no client shows its session.
   */
  | {
      readonly kind: "command";
      readonly argv: readonly string[];
      readonly why: "outside" | "elsewhere" | "unseen";
    }
  | { readonly kind: "gone" };

export interface FocusOptions {
  readonly zoom?: boolean;
}

/**
 * Shows the pane of an agent. If the caller is on the same server, this switches the client that shows the caller's session to the
 * session, window and pane of the agent, and unzooms another pane there. If leaving its session would end that session (under
 * `destroy-unattached`), the client stays, and the window is linked into its session. If no client can be switched, returns the command to
 * attach.
 * @param place without `instance` for a lead, whose pane has no tag because it is the user's own
 * @param options.zoom whether to zoom the pane too; tmux ignores that in a window with one pane
 * @throws TeamError TMUX_ERROR
 */
export async function focusPane(
  server: TmuxServer,
  place: Partial<Pick<PlaceRecord, "instance" | "paneId" | "panePid">>,
  viewer?: TmuxCaller,
  options: FocusOptions = {},
): Promise<FocusOutcome> {
  const seen = await listPanes(server, [TAG.agent, ...POSITION_OPTIONS]);
  const targets = seen.panes.filter((pane) => isMeant(pane, place));
  const [first] = targets;
  if (first === undefined) return { kind: "gone" };
  const command = attachCommand(server, first);
  if (viewer === undefined) return { kind: "command", argv: command, why: "outside" };
  if (viewer.serverPid !== seen.serverPid) {
    // tmux refuses to attach inside another tmux if $TMUX is set.
    return { kind: "command", argv: ["env", "-u", "TMUX", ...command], why: "elsewhere" };
  }
  const client = await clientOf(server, sessionsOf(seen, viewer));
  if (client === undefined) return { kind: "command", argv: command, why: "unseen" };
  // A window may be linked into several sessions: prefer the session that the client already shows.
  const target = targets.find(({ session }) => session === client.session) ?? first;
  return switchTo(server, client, target, place, options);
}

function isMeant(pane: TmuxPane, place: Parameters<typeof focusPane>[1]): boolean {
  return (
    pane.id === place.paneId &&
    (place.instance === undefined || pane.options[TAG.agent] === place.instance) &&
    (place.panePid === undefined || pane.pid === place.panePid)
  );
}

/** The ids make the target exact: a session's name can look like another target (`$1`, `a.b`). */
function attachCommand(server: TmuxServer, { session, window, id }: TmuxPane): string[] {
  return ["tmux", ...server.socketArgs, "attach-session", "-t", `${session}:${window}.${id}`];
}

async function switchTo(
  server: TmuxServer,
  client: Client,
  target: TmuxPane,
  { instance }: Parameters<typeof focusPane>[1],
  { zoom = false }: FocusOptions,
): Promise<FocusOutcome> {
  const { window, id, pid } = target;
  // Leaving a session under destroy-unattached would end that session, so link the window into it instead.
  const stays = client.holdsSession && target.session !== client.session;
  const session = stays ? client.session : target.session;
  const isStill = allOf(
    equals("pane_id", id),
    equals("pane_pid", String(pid)),
    ...(instance === undefined ? [] : [isTaggedAs(instance)]),
  );
  const switching = [
    stays
      ? ["link-window", "-s", `${target.session}:${window}`, "-t", `${session}:`]
      : ["switch-client", "-c", client.name, "-t", `${session}:${window}.${id}`],
    ["select-window", "-t", `${session}:${window}`],
    // Selecting another pane ends a zoom; selecting the zoomed pane does not.
    ["select-pane", "-t", id],
    ...(zoom ? [ifElse(id, equals(WINDOW_ZOOMED, "0"), [["resize-pane", "-Z", "-t", id]], [])] : []),
    ["display-message", "-p", "-t", id, SWITCHED],
  ];
  const { lines } = await attemptBatch(server, [
    ifElse(id, isStill, switching, [["display-message", "-p", MISS]]),
  ]);
  if (lines.includes(SWITCHED)) return { kind: "switched" };
  // This line means that the pane is gone. Without it, the client is gone.
  if (lines.includes(MISS)) return { kind: "gone" };
  return { kind: "command", argv: attachCommand(server, target), why: "unseen" };
}

const SWITCHED = "SWITCHED";

/** Returns the sessions of the caller's pane, which may have been moved since it was created. */
function sessionsOf(seen: PaneList, { pane, session }: TmuxCaller): ReadonlySet<SessionId> {
  const own = paneId(actualPosition(seen, { callerPane: pane }).callerPane);
  const sessions = seen.panes.filter(({ id }) => id === own).map((found) => found.session);
  return new Set(own === undefined && session !== undefined ? [session] : sessions);
}

interface Client {
  readonly name: string;
  readonly session: SessionId;
  /** Its session ends when the client leaves it. */
  readonly holdsSession: boolean;
}

/** Returns the most recently used client that shows one of the sessions. */
async function clientOf(server: TmuxServer, sessions: ReadonlySet<SessionId>): Promise<Client | undefined> {
  const variables =
    "#{session_id} #{client_activity} #{session_attached} #{destroy-unattached} #{client_name}";
  const text = await server.call(["list-clients", "-F", variables]);
  const clients = text.split("\n").flatMap((line) => {
    const [shown, activity, attached, destroys = "", ...name] = line.split(" ");
    const session = sessionId(shown);
    if (session === undefined || !sessions.has(session)) return [];
    // Before tmux 3.4 this option is a flag, since then a choice.
    const holdsSession = attached === "1" && !["0", "off"].includes(destroys);
    return [{ session, activity: Number(activity), name: name.join(" "), holdsSession }];
  });
  return clients.sort((a, b) => b.activity - a.activity)[0];
}
