import type { PlaceRecord } from "../schema/status.ts";
import { paneId } from "../tmux/ids.ts";
import { look } from "../tmux/look.ts";
import type { Command } from "../tmux/quote.ts";
import type { TmuxServer } from "../tmux/server.ts";
import { TAG } from "./tags.ts";

export type FocusOutcome =
  | { readonly kind: "switched" }
  /** Nothing here can be switched: the exact words that show the pane in a terminal. */
  | { readonly kind: "command"; readonly argv: readonly string[] }
  | { readonly kind: "gone" };

/**
 * Shows an agent's pane: the one with its tag; a lead's has none, being its caller's. From a pane of the same server the client that looks at the caller's session is switched to
 * the pane's session, window and pane, and a zoom of another pane there ends; from elsewhere, or with nobody looking,
 * the answer is the command to attach.
 * @param caller the pane in which the caller runs, if it is one of this server
 */
export async function focusPane(
  server: TmuxServer,
  place: Partial<Pick<PlaceRecord, "instance" | "paneId" | "panePid">>,
  caller?: string,
): Promise<FocusOutcome> {
  const seen = await look(server, [TAG.agent]);
  const target = seen.panes.find(
    (pane) =>
      pane.id === place.paneId &&
      (place.instance === undefined || pane.options[TAG.agent] === place.instance) &&
      (place.panePid === undefined || pane.pid === place.panePid),
  );
  if (target === undefined) return { kind: "gone" };
  const from = seen.panes.find((pane) => pane.id === paneId(caller));
  const client = from === undefined ? undefined : await clientOf(server, from.session);
  // Exact by ids; the name is for people, and `=` keeps it from matching another session's beginning.
  const exact = `=${target.sessionName}:${target.window}.${target.id}`;
  if (client === undefined) {
    return { kind: "command", argv: ["tmux", ...server.socketArgs, "attach-session", "-t", exact] };
  }
  await server.batch([
    ["switch-client", "-c", client, "-t", target.id],
    ["select-window", "-t", `${target.session}:${target.window}`],
    // Selecting another pane ends a zoom; selecting the zoomed one itself leaves it.
    ["select-pane", "-t", target.id],
  ] satisfies Command[]);
  return { kind: "switched" };
}

/** Of the clients that show a session the one that was used last. */
async function clientOf(server: TmuxServer, session: string): Promise<string | undefined> {
  const text = await server.call(["list-clients", "-F", "#{session_id} #{client_activity} #{client_name}"]);
  const clients = text
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([shown]) => shown === session)
    .map(([, activity, ...name]) => ({ activity: Number(activity), name: name.join(" ") }));
  return clients.sort((a, b) => b.activity - a.activity)[0]?.name;
}
