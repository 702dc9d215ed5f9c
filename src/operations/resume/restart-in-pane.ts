import { readMetadata, withMetadata } from "../../schema/member-metadata.ts";
import { updateTeam } from "../../team/config/config.ts";
import { lookUpMember, withReplaced } from "../../team/members/members.ts";
import { renewLeases } from "../../team/tasks/unassign.ts";
import type { OperationContext } from "../context.ts";
import { takeOverFromPreviousProcess } from "../ending/clear-previous-start.ts";

/**
 * Completes a restart that a person made in the member's pane, as `resume` does for other members: drops shutdown requests of the
 * previous process, and restores the member's tasks. Call it in the new process, before that process reads its inbox. Idempotent.
 * @returns the ids of the tasks that were unassigned meanwhile
 */
export async function completePaneRestart(ctx: OperationContext, name: string): Promise<readonly string[]> {
  const { ref } = ctx;
  const restored = await takeOverFromPreviousProcess(ctx, name);
  await renewLeases(ref, name);
  await updateTeam(ref, (config) => {
    const member = lookUpMember(config, name);
    if (member === undefined || readMetadata(member, "tasksToRestore") === undefined) return undefined;
    return withReplaced(config, member, withMetadata(member, { tasksToRestore: undefined }));
  });
  return restored;
}
