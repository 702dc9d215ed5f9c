import type { TeamMember } from "../../schema/config.ts";
import type { StartClaim } from "../../schema/start-claim.ts";
import { markAsRead, recordProgress, unreadMessages } from "../../team/mailbox/receive.ts";
import { markRestarted } from "../../team/members/ending-claims.ts";
import { readPlace } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import { restoreTasks } from "../../team/tasks/unassign.ts";
import type { OperationContext } from "../context.ts";
import { endMarkedProcesses, endProcesses } from "../processes/end-processes.ts";
import { closePlace } from "./process-ending.ts";

/**
 * Ends the processes of a member's previous start: the launch script that keeps a crashed agent's pane open, background commands,
 * and the processes of a start that a killed process had begun.
 * @returns the pids that could not be ended
 */
export async function endPreviousStart(
  ctx: OperationContext,
  name: string,
  { begun }: StartClaim,
): Promise<readonly number[]> {
  const left = await endProcesses(ctx, name);
  if (begun === undefined) return left;
  return [...left, ...(await endMarkedProcesses(begun))];
}

/**
 * Prepares the restart of a member whose processes have ended: closes its pane, marks unread shutdown requests as read, and
 * reassigns the tasks that it held and that are still unassigned.
 * @returns the ids of its tasks
 */
export async function clearForRestart(ctx: OperationContext, member: TeamMember): Promise<readonly string[]> {
  const { name } = member;
  const place = readPlace(ctx.ref, name);
  if (place !== undefined) await closePlace(ctx, place);
  return takeOverFromPreviousProcess(ctx, name);
}

/**
 * Marks unread shutdown requests as read, and reassigns the tasks that the member held and that are still unassigned. Idempotent.
 * @returns the ids of its tasks
 */
export async function takeOverFromPreviousProcess(
  { ref, clock }: OperationContext,
  name: string,
): Promise<readonly string[]> {
  await dropShutdownRequests(ref, name);
  return restoreTasks(ref, name, await markRestarted(ref, name), clock);
}

/** Marks unread shutdown requests as read: they were meant for the previous start. */
async function dropShutdownRequests(ref: TeamRef, name: string): Promise<void> {
  const requests = (await unreadMessages(ref, name)).filter(
    ({ protocol }) => protocol?.type === "shutdown_request",
  );
  const keys = requests.map(({ key }) => key);
  await markAsRead(ref, name, keys);
  await recordProgress(ref, name, keys, "done");
}
