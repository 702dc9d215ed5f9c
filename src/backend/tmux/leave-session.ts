import { LEAVES, LEAVING_CLIENT, LEAVING_CLIENTS } from "../../launch/leave-session.ts";
import type { Env } from "../../os/env.ts";
import { attemptBatch } from "../../tmux/attempt-batch.ts";
import { tmuxCaller } from "../../tmux/caller.ts";
import { allOf, equals, ifElse, type TmuxCommand } from "../../tmux/command.ts";
import { TmuxError } from "../../tmux/error.ts";
import { type PaneId, paneId, type SessionId } from "../../tmux/ids.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { TAG } from "./pane-tags.ts";
import { callersServer } from "./server-for.ts";

/** A line of {@link LEAVING_CLIENT}. */
const LEAVING = new RegExp(`^${LEAVES} (\\S+) (.+)$`);

/**
 * Marks panes that are about to end. If their session belongs to the team and has no other panes, its clients switch back to their last
 * session, because tmux would detach them. Clients without another session stay. Never throws an error of tmux: the panes must end in any
 * case.
 */
export async function leaveEndingSessions(
  server: TmuxServer,
  panes: readonly { readonly pane: PaneId; readonly condition: string }[],
): Promise<void> {
  await leave(
    server,
    panes.map(({ pane, condition }) => {
      const mark = ["set-option", "-p", "-t", pane, TAG.ending, "1"];
      return ifElse(pane, condition, [mark, ["list-clients", "-t", pane, "-F", LEAVING_CLIENTS]], []);
    }),
  );
}

/** Like {@link leaveEndingSessions}, for the pane of this process. */
export async function leaveOwnSession(env: Env): Promise<void> {
  const caller = tmuxCaller(env);
  const pane = paneId(caller?.pane);
  if (caller === undefined || pane === undefined) return;
  const condition = allOf(equals("pane_id", pane), equals("pid", String(caller.serverPid)));
  await leaveEndingSessions(callersServer(env), [{ pane, condition }]);
}

/** Like {@link leaveEndingSessions}, for a whole session. */
export async function leaveSession(server: TmuxServer, session: SessionId, serverPid: number): Promise<void> {
  await leave(server, [["list-clients", "-t", session, "-F", LEAVING_CLIENT]], serverPid);
}

async function leave(server: TmuxServer, listing: readonly TmuxCommand[], serverPid?: number): Promise<void> {
  try {
    const { lines } = await attemptBatch(server, listing, { serverPid });
    const switching = [...new Set(lines)].flatMap((line) => {
      const [, client, session] = LEAVING.exec(line) ?? [];
      return client === undefined ? [] : [["switch-client", "-c", client, "-t", `=${session}:`]];
    });
    if (switching.length > 0) await attemptBatch(server, switching, { serverPid });
  } catch (error) {
    // The command that ends the session reports its own tmux errors.
    if (!(error instanceof TmuxError)) throw error;
  }
}
