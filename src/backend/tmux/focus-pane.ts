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
   * @param why the caller is outside tmux, its pane is on another server, or no client shows its session
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
 * session, window and pane of the agent, and unzooms another pane there. A client whose session would end without it (under
 * `destroy-unattached`) stays there, and the window is linked into its session. Otherwise it returns the command to attach.
 * @param place without `instance` for a lead, whose pane has no tag because it is the user's own
 * @param options.zoom also zooms the pane, which a window with one pane ignores
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
  // A window can be linked into several sessions: prefer the session that the client already shows.
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
  // Leaving a session under destroy-unattached would end it, so the window comes to the session instead.
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
    // Selecting another pane ends a zoom; selecting the zoomed one itself leaves it.
    ["select-pane", "-t", id],
    ...(zoom ? [ifElse(id, equals(WINDOW_ZOOMED, "0"), [["resize-pane", "-Z", "-t", id]], [])] : []),
    ["display-message", "-p", "-t", id, SWITCHED],
  ];
  const { lines } = await attemptBatch(server, [
    ifElse(id, isStill, switching, [["display-message", "-p", MISS]]),
  ]);
  if (lines.includes(SWITCHED)) return { kind: "switched" };
  // With this line, the pane is gone; without it, the client is.
  if (lines.includes(MISS)) return { kind: "gone" };
  return { kind: "command", argv: attachCommand(server, target), why: "unseen" };
}

const SWITCHED = "SWITCHED";

/** The sessions of the caller's pane, which may have been moved since it was created. */
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

/** The most recently used client of those that show one of the sessions. */
async function clientOf(server: TmuxServer, sessions: ReadonlySet<SessionId>): Promise<Client | undefined> {
  const variables =
    "#{session_id} #{client_activity} #{session_attached} #{destroy-unattached} #{client_name}";
  const text = await server.call(["list-clients", "-F", variables]);
  const clients = text.split("\n").flatMap((line) => {
    const [shown, activity, attached, destroys = "", ...name] = line.split(" ");
    const session = sessionId(shown);
    if (session === undefined || !sessions.has(session)) return [];
    // A flag before tmux 3.4, then a choice.
    const holdsSession = attached === "1" && !["0", "off"].includes(destroys);
    return [{ session, activity: Number(activity), name: name.join(" "), holdsSession }];
  });
  return clients.sort((a, b) => b.activity - a.activity)[0];
}
