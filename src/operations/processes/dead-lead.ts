import { livenessOf } from "../../os/process/identity.ts";
import { signalProcess } from "../../os/process/process-table.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readStatus } from "../../team/records/read-records.ts";
import type { OperationContext } from "../context.ts";
import { endMarkedProcesses } from "./end-processes.ts";

/**
 * Ends the tmux clients that a killed lead left waiting. Does nothing unless the lead's process is known to be dead; calls tmux
 * only if a client is alive.
 * @throws TmuxError
 */
export async function endDeadLeadWatches({ ref, env }: Pick<OperationContext, "ref" | "env">): Promise<void> {
  const status = readStatus(ref, LEAD_NAME);
  if (status?.serverWatches === undefined || livenessOf(status.process) !== "dead") return;
  for (const { channel, server, client } of status.serverWatches) {
    if (livenessOf(client) !== "alive") continue;
    // Rare, so it is loaded only when needed: most commands reconcile.
    const [{ endWatch }, { serverAt }] = await Promise.all([
      import("../../tmux/server-exit.ts"),
      import("../../backend/tmux/server-for.ts"),
    ]);
    await endWatch(serverAt(server, env), channel, () => signalProcess(client.pid, "SIGTERM"));
  }
}

/**
 * Ends the commands that a killed lead left running, since its successor would repeat their work. The commands are marked with
 * the lead's session. Does nothing unless the lead's process is known to be dead.
 */
export async function endDeadLeadCommands({ ref }: Pick<OperationContext, "ref">): Promise<void> {
  const status = readStatus(ref, LEAD_NAME);
  if (status === undefined || livenessOf(status.process) !== "dead" || status.sessionId === "") return;
  await endMarkedProcesses(status.sessionId);
}
