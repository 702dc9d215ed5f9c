import type { TeamMember } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { StartClaim } from "../../schema/start-claim.ts";
import { markAsRead, recordProgress, unreadMessages } from "../../team/mailbox/receive.ts";
import { readPlace } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import { notifyPending } from "../../team/tasks/notify-owners.ts";
import { withPendingAssignment } from "../../team/tasks/pending-notifications.ts";
import { changeTask, ownerName, readableTask } from "../../team/tasks/tasks.ts";
import type { OperationContext } from "../context.ts";
import { endMarked, endProcesses } from "../processes/end-processes.ts";
import { closePlace } from "./settle-ending.ts";

/**
 * Ends what the last start of a member left: the script that holds a crashed one's pane, what went on in the background, and
 * a start that a killed process had begun.
 * @returns the pids that could not be ended
 */
export async function endPreviousStart(
  ctx: OperationContext,
  name: string,
  { begun }: StartClaim,
): Promise<readonly number[]> {
  const left = await endProcesses(ctx, name);
  if (begun === undefined) return left;
  return [...left, ...(await endMarked(begun))];
}

/**
 * Makes way for the next start of a member whose processes have ended: its pane is closed, what would end it at once is
 * answered, and the tasks that it had and nobody else has are its own again.
 * @returns the ids of those
 */
export async function clearForRestart(ctx: OperationContext, member: TeamMember): Promise<readonly string[]> {
  const { ref } = ctx;
  const { name } = member;
  const place = readPlace(ref, name);
  if (place !== undefined) await closePlace(ctx, place);
  await dropShutdownRequests(ref, name);
  return reassignHeldTasks(ctx, member);
}

/** A request to end that it had not read is not meant for the one that is started again. */
async function dropShutdownRequests(ref: TeamRef, name: string): Promise<void> {
  const requests = (await unreadMessages(ref, name)).filter(
    ({ protocol }) => protocol?.type === "shutdown_request",
  );
  const keys = requests.map(({ key }) => key);
  await markAsRead(ref, name, keys);
  await recordProgress(ref, name, keys, "done");
}

/** It is told of each as of any task that is given to it, so that it goes on with them. */
async function reassignHeldTasks(
  { ref, clock }: OperationContext,
  member: TeamMember,
): Promise<readonly string[]> {
  const { name } = member;
  const given: string[] = [];
  for (const id of readMetadata(member, "tasksToRestore") ?? []) {
    if (readableTask(ref, id) === undefined) continue;
    const task = await changeTask(ref, id, (current) =>
      current.status === "pending" && ownerName(current) === undefined
        ? withPendingAssignment({ ...current, owner: name }, name, LEAD_NAME)
        : undefined,
    );
    await notifyPending(ref, task, clock);
    if (ownerName(task) === name && task.status !== "completed") given.push(id);
  }
  return given;
}
