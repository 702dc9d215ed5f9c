import type { PlaceRecord } from "../../schema/status.ts";
import { ifElse, MISS } from "../../tmux/command.ts";
import type { TmuxCaller } from "../../tmux/current-client.ts";
import { all, equals } from "../../tmux/format.ts";
import { paneId, type SessionId, sessionId } from "../../tmux/ids.ts";
import { listPanes, type PaneList, type TmuxPane } from "../../tmux/list-panes.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { TAG } from "./pane-tags.ts";

export type FocusOutcome =
  | { readonly kind: "switched" }
  /**
   * Nothing here can be switched: the exact words that show the pane in a terminal.
   * @param why no tmux around the caller, another server's, or nobody who looks at the caller's session
   */
  | {
      readonly kind: "command";
      readonly argv: readonly string[];
      readonly why: "outside" | "elsewhere" | "unseen";
    }
  | { readonly kind: "gone" };

/**
 * Shows an agent's pane: the one with its tag; a lead's has none, being its caller's. From inside of the same server the
 * client that looks at the caller's session is switched to the pane's session, window and pane, and a zoom of another pane
 * there ends; from elsewhere, or with nobody looking, the answer is the command to attach.
 * @throws TeamError TMUX_ERROR
 */
export async function focusPane(
  server: TmuxServer,
  place: Partial<Pick<PlaceRecord, "instance" | "paneId" | "panePid">>,
  viewer?: TmuxCaller,
): Promise<FocusOutcome> {
  const seen = await listPanes(server, [TAG.agent]);
  const targets = seen.panes.filter((pane) => isMeant(pane, place));
  const [first] = targets;
  if (first === undefined) return { kind: "gone" };
  const command = attachCommand(server, first);
  if (viewer === undefined) return { kind: "command", argv: command, why: "outside" };
  if (viewer.serverPid !== seen.serverPid) {
    // tmux refuses to be attached inside another one, unless it is not told.
    return { kind: "command", argv: ["env", "-u", "TMUX", ...command], why: "elsewhere" };
  }
  const client = await clientOf(server, sessionsOf(seen, viewer));
  if (client === undefined) return { kind: "command", argv: command, why: "unseen" };
  // A window can be linked into several sessions: the client stays in its own where that one has it.
  const target = targets.find(({ session }) => session === client.session) ?? first;
  return switchTo(server, client.name, target, place);
}

function isMeant(pane: TmuxPane, place: Parameters<typeof focusPane>[1]): boolean {
  return (
    pane.id === place.paneId &&
    (place.instance === undefined || pane.options[TAG.agent] === place.instance) &&
    (place.panePid === undefined || pane.pid === place.panePid)
  );
}

/** Exact by ids; the name is for people, and `=` keeps it from matching another session's beginning. */
function attachCommand(server: TmuxServer, { sessionName, window, id }: TmuxPane): string[] {
  return ["tmux", ...server.socketArgs, "attach-session", "-t", `=${sessionName}:${window}.${id}`];
}

async function switchTo(
  server: TmuxServer,
  client: string,
  target: TmuxPane,
  { instance }: Parameters<typeof focusPane>[1],
): Promise<FocusOutcome> {
  const { session, window, id, pid } = target;
  const isStill = all(
    equals("pane_id", id),
    equals("pane_pid", String(pid)),
    ...(instance === undefined ? [] : [equals(TAG.agent, instance)]),
  );
  const switching = [
    ["switch-client", "-c", client, "-t", `${session}:${window}.${id}`],
    ["select-window", "-t", `${session}:${window}`],
    // Selecting another pane ends a zoom; selecting the zoomed one itself leaves it.
    ["select-pane", "-t", id],
    ["display-message", "-p", "-t", id, SWITCHED],
  ];
  const { lines } = await server.batch([ifElse(id, isStill, switching, [["display-message", "-p", MISS]])]);
  if (lines.includes(SWITCHED)) return { kind: "switched" };
  // The pane went, or the client did.
  if (lines.length > 0) return { kind: "gone" };
  return { kind: "command", argv: attachCommand(server, target), why: "unseen" };
}

const SWITCHED = "SWITCHED";

/** Those in which the caller's pane stands, which may have been moved since it began. */
function sessionsOf(seen: PaneList, { pane, session }: TmuxCaller): ReadonlySet<SessionId> {
  const own = paneId(pane);
  const sessions = seen.panes.filter(({ id }) => id === own).map((found) => found.session);
  return new Set(own === undefined && session !== undefined ? [session] : sessions);
}

/** Of the clients that show one of some sessions the one that was used last. */
async function clientOf(
  server: TmuxServer,
  sessions: ReadonlySet<SessionId>,
): Promise<{ readonly name: string; readonly session: SessionId } | undefined> {
  const text = await server.call(["list-clients", "-F", "#{session_id} #{client_activity} #{client_name}"]);
  const clients = text.split("\n").flatMap((line) => {
    const [shown, activity, ...name] = line.split(" ");
    const session = sessionId(shown);
    if (session === undefined || !sessions.has(session)) return [];
    return [{ session, activity: Number(activity), name: name.join(" ") }];
  });
  return clients.sort((a, b) => b.activity - a.activity)[0];
}
