import { readMetadata, withMetadata } from "../../schema/member-metadata.ts";
import { readTeam, updateTeam } from "../../team/config/config.ts";
import { lookUpMember } from "../../team/members/members.ts";
import { renewLeases, restoreTasks } from "../../team/tasks/unassign.ts";
import type { OperationContext } from "../context.ts";
import { dropShutdownRequests } from "../ending/clear-previous-start.ts";
import { awaitEndingDone } from "../ending/process-ending.ts";

/**
 * Does for a member that a person restarted in its pane what `resume` does for the others: it drops shutdown requests of the previous
 * process, and restores the member's tasks. Call it in the member's new process, before that reads its inbox. Idempotent.
 * @returns the ids of the tasks that were unassigned meanwhile
 */
export async function completePaneRestart(ctx: OperationContext, name: string): Promise<readonly string[]> {
  const { ref, clock } = ctx;
  // Another process may be unassigning them right now.
  await awaitEndingDone(ctx, name);
  await dropShutdownRequests(ref, name);
  const member = lookUpMember(readTeam(ref), name);
  const restored = member === undefined ? [] : await restoreTasks(ref, member, clock);
  await renewLeases(ref, name);
  if (member === undefined || readMetadata(member, "tasksToRestore") === undefined) return restored;
  await updateTeam(ref, (config) => {
    const known = lookUpMember(config, name);
    if (known === undefined || readMetadata(known, "tasksToRestore") === undefined) return undefined;
    const next = withMetadata(known, { tasksToRestore: undefined });
    return { ...config, members: config.members.map((one) => (one === known ? next : one)) };
  });
  return restored;
}
