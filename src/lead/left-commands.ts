import { livenessOf } from "../os/identity.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { readStatus } from "../team/records.ts";
import type { LeadContext } from "./context.ts";
import { endMarked } from "./end-processes.ts";

/**
 * Ends what the commands of a lead run on that was killed, as those of a teammate: whoever follows it would do their work a
 * second time beside them. They carry its session; that process must be known to be dead.
 */
export async function endLeftCommands({ ref }: Pick<LeadContext, "ref">): Promise<void> {
  const status = readStatus(ref, LEAD_NAME);
  if (status === undefined || livenessOf(status.process) !== "dead" || status.sessionId === "") return;
  await endMarked(status.sessionId);
}
