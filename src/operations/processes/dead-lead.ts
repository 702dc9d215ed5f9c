import { livenessOf } from "../../os/process/identity.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readStatus } from "../../team/records/read-records.ts";
import type { OperationContext } from "../context.ts";
import { endMarkedProcesses } from "./end-processes.ts";

/**
 * Ends the clients that a lead's process has left waiting when it was killed. That process must be known to be dead; a call
 * of tmux is made only where one is there.
 * @throws TmuxError
 */
export async function endDeadLeadWatches({ ref, env }: Pick<OperationContext, "ref" | "env">): Promise<void> {
  const status = readStatus(ref, LEAD_NAME);
  if (status?.serverWatches === undefined || livenessOf(status.process) !== "dead") return;
  for (const { channel, server, client } of status.serverWatches) {
    if (livenessOf(client) !== "alive") continue;
    // Rare, and no part of a cold look at a team.
    const [{ endWatch }, { serverAt }] = await Promise.all([
      import("../../tmux/server-exit.ts"),
      import("../../backend/tmux/server-for.ts"),
    ]);
    await endWatch(serverAt(server.socket, env), channel);
  }
}

/**
 * Ends what the commands of a lead run on that was killed, as those of a teammate: whoever follows it would do their work a
 * second time beside them. They carry its session; that process must be known to be dead.
 */
export async function endDeadLeadCommands({ ref }: Pick<OperationContext, "ref">): Promise<void> {
  const status = readStatus(ref, LEAD_NAME);
  if (status === undefined || livenessOf(status.process) !== "dead" || status.sessionId === "") return;
  await endMarkedProcesses(status.sessionId);
}
