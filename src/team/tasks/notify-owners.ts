import { messageOf, TeamError } from "../../errors.ts";
import type { Clock } from "../../os/clock.ts";
import { formatProtocol } from "../../protocol/messages.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { Task } from "../../schema/task.ts";
import { eventMessageId } from "../mailbox/event-message-id.ts";
import { type OutgoingMessage, sendMessage } from "../mailbox/send.ts";
import type { TeamRef } from "../ref.ts";
import { lowerClaimCursor } from "./claim-cursor.ts";
import {
  completionNumber,
  isReopened,
  pendingAssignment,
  pendingCompletionBy,
  withCompletionNotified,
  withoutPendingAssignment,
  withReopened,
} from "./pending-notifications.ts";
import { changeTask, isBlockedNow, ownerName, readableTask } from "./tasks.ts";

/** Whether something of this task waits to be told, or noted. */
export function hasPendingNotifications(task: Task): boolean {
  return pendingAssignment(task) !== undefined || pendingCompletionBy(task) !== undefined || isReopened(task);
}

/**
 * Tells what follows from a task's last change: a new owner of its task; of a completion the lead, and each owner whose task
 * has become free by it. Sent first, under ids that derive from the event, and then noted in the task: whoever tells it at
 * the same time, or after one that was killed, adds nothing (protocol.md section 4).
 * @returns the task as it is then
 * @throws TeamError when somebody could not be told; the task is right, and the next look tells the rest
 */
export async function notifyPending(ref: TeamRef, task: Task, clock: Clock): Promise<Task> {
  const assigned = pendingAssignment(task);
  if (assigned !== undefined && assigned.to === ownerName(task)) {
    const waitsFor = openBlockers(ref, task);
    const mail = { from: assigned.by, to: assigned.to, messageId: assigned.id };
    await sendAssignment(ref, task, mail, clock, waitsFor.length === 0 ? {} : { waitsFor });
  }
  const by = pendingCompletionBy(task);
  if (by !== undefined) await notifyCompletion(ref, task, by, clock);
  if (!hasPendingNotifications(task)) return task;
  if (isReopened(task)) await lowerClaimCursor(ref, task.id);
  return changeTask(ref, task.id, (current) => {
    const isSame = pendingAssignment(current)?.id === assigned?.id;
    const next = isSame ? withoutPendingAssignment(current) : current;
    if (pendingCompletionBy(next) !== undefined && completionNumber(next) === completionNumber(task))
      return withCompletionNotified(next);
    if (isReopened(next)) return withReopened(next);
    return next === current ? undefined : next;
  });
}

async function notifyCompletion(ref: TeamRef, task: Task, by: string, clock: Clock): Promise<void> {
  const event = `${task.id}.${completionNumber(task)}`;
  if (by !== LEAD_NAME) {
    const news = { type: "task_completed", from: by, taskId: task.id, taskSubject: task.subject } as const;
    const text = formatProtocol(news, new Date(clock.now()));
    await send(
      ref,
      { from: by, to: LEAD_NAME, text, messageId: eventMessageId("completed", event) },
      task.id,
      clock,
    );
  }
  for (const id of task.blocks) {
    // Of one that cannot be read nobody knows the owner, and the others are told all the same.
    const waiting = readableTask(ref, id);
    const waiter = waiting === undefined ? undefined : ownerName(waiting);
    if (waiting === undefined || waiter === undefined || waiting.status === "completed") continue;
    if (isBlockedNow(ref, waiting)) continue;
    // One event, also where the last two of its blockers are completed at once.
    const blockers = waiting.blockedBy.map((other) => {
      const blocker = readableTask(ref, other);
      return blocker === undefined ? other : `${other}.${completionNumber(blocker)}`;
    });
    const messageId = eventMessageId("unblocked", id, waiter, ...blockers.toSorted());
    await sendAssignment(ref, waiting, { from: by, to: waiter, messageId }, clock, { isFree: true });
  }
}

function openBlockers(ref: TeamRef, { blockedBy }: Task): readonly string[] {
  return blockedBy.filter((id) => {
    const blocker = readableTask(ref, id);
    return blocker !== undefined && blocker.status !== "completed";
  });
}

function sendAssignment(
  ref: TeamRef,
  { id, subject, description }: Task,
  mail: Omit<OutgoingMessage, "text">,
  clock: Clock,
  more: { readonly isFree?: true; readonly waitsFor?: readonly string[] } = {},
): Promise<void> {
  const of = { taskId: id, subject, description, assignedBy: mail.from };
  const news = { type: "task_assignment", ...of, ...more } as const;
  return send(ref, { ...mail, text: formatProtocol(news, new Date(clock.now())) }, id, clock);
}

async function send(ref: TeamRef, mail: OutgoingMessage, taskId: string, clock: Clock): Promise<void> {
  try {
    await sendMessage(ref, mail, clock);
  } catch (error) {
    // Whoever has ended, or is no member of a team without a lead of that name, has nothing to be told.
    if (error instanceof TeamError && NO_RECIPIENT.has(error.code)) return;
    throw new TeamError(
      error instanceof TeamError ? error.code : "PERMISSION_DENIED",
      `Task #${taskId} was changed, but ${mail.to} was not told: ${messageOf(error)}`,
      {
        hint: "The task itself is right; the next look at the team (teams status) tells them.",
        cause: error,
      },
    );
  }
}

const NO_RECIPIENT: ReadonlySet<string> = new Set(["RECIPIENT_NOT_FOUND", "RECIPIENT_INACTIVE"]);
