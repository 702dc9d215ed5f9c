import { livenessOf } from "../os/identity.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { readStatus } from "../team/records.ts";
import type { LeadContext } from "./context.ts";

/**
 * Ends the clients that a lead's process has left waiting when it was killed. That process must be known to be dead; a call
 * of tmux is made only where one is there.
 * @throws TmuxError
 */
export async function endLeftWatches({ ref, env }: Pick<LeadContext, "ref" | "env">): Promise<void> {
  const status = readStatus(ref, LEAD_NAME);
  if (status?.serverWatches === undefined || livenessOf(status.process) !== "dead") return;
  for (const { channel, server, client } of status.serverWatches) {
    if (livenessOf(client) !== "alive") continue;
    // Rare, and no part of a cold look at a team.
    const [{ endWatch }, { serverAt }] = await Promise.all([
      import("../tmux/server-end.ts"),
      import("../backend/servers.ts"),
    ]);
    await endWatch(serverAt(server.socket, env), channel);
  }
}
