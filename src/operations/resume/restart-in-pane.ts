import { readMetadata, withMetadata } from "../../schema/member-metadata.ts";
import { updateTeam } from "../../team/config/config.ts";
import { lookUpMember } from "../../team/members/members.ts";
import { renewLeases } from "../../team/tasks/unassign.ts";
import type { OperationContext } from "../context.ts";
import { takeOverFromPreviousProcess } from "../ending/clear-previous-start.ts";

/**
 * Does for a member that a person restarted in its pane what `resume` does for the others: it drops shutdown requests of the previous
 * process, and restores the member's tasks. Call it in the member's new process, before that reads its inbox. Idempotent.
 * @returns the ids of the tasks that were unassigned meanwhile
 */
export async function completePaneRestart(ctx: OperationContext, name: string): Promise<readonly string[]> {
  const { ref } = ctx;
  const restored = await takeOverFromPreviousProcess(ctx, name);
  await renewLeases(ref, name);
  await updateTeam(ref, (config) => {
    const member = lookUpMember(config, name);
    if (member === undefined || readMetadata(member, "tasksToRestore") === undefined) return undefined;
    const next = withMetadata(member, { tasksToRestore: undefined });
    return { ...config, members: config.members.map((one) => (one === member ? next : one)) };
  });
  return restored;
}
