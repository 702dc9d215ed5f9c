import { messageOf, systemErrorCode, TeamError } from "../../errors.ts";
import type { Clock } from "../../os/clock.ts";
import { formatProtocol } from "../../protocol/messages.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { Task } from "../../schema/task.ts";
import { eventMessageId, hasNoRecipient, type OutgoingMessage, sendMessage } from "../mailbox/send.ts";
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
import { reviewerOf } from "./task-fields.ts";
import { runText, withProof } from "./task-proof.ts";
import { changeTask, isBlockedNow, ownerName, readableTask } from "./tasks.ts";

/** True if a notification about this task is pending, or its reopening is not recorded yet. */
export function hasPendingNotifications(task: Task): boolean {
  return pendingAssignment(task) !== undefined || pendingCompletionBy(task) !== undefined || isReopened(task);
}

/**
 * Sends the notifications that follow from a task's last change: an assignment to the new owner; a completion to the
 * lead, and to each owner whose task it unblocks. Sends first, with ids derived from the event, then records that in the
 * task. Another process that sends the same, or repeats it after a crash, adds nothing (protocol.md section 4).
 * @returns the task as it is afterwards
 * @throws TeamError if a notification could not be sent; the task is correct, and the next poll sends the rest
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
    const notice = { type: "task_completed", from: by, taskId: task.id, taskSubject: task.subject } as const;
    const text = formatProtocol(notice, new Date(clock.now()));
    await send(
      ref,
      { from: by, to: LEAD_NAME, text, messageId: eventMessageId("completed", event) },
      task.id,
      clock,
    );
  }
  const reviewer = reviewerOf(task);
  if (reviewer !== undefined && reviewer !== by) {
    const mail = {
      from: by,
      to: reviewer,
      text: reviewText(ref, task, by),
      messageId: eventMessageId("review", event),
    };
    await send(ref, mail, task.id, clock);
  }
  for (const id of task.blocks) {
    // The owner of an unreadable task is unknown; notify the others.
    const waiting = readableTask(ref, id);
    if (waiting !== undefined) await notifyIfFree(ref, waiting, by, clock);
  }
}

/** Notifies the owner of an unfinished task without open blockers. @param by the member that completed or removed the last blocker */
export async function notifyIfFree(ref: TeamRef, task: Task, by: string, clock: Clock): Promise<void> {
  const waiter = ownerName(task);
  if (waiter === undefined || task.status === "completed" || isBlockedNow(ref, task)) return;
  // All blockers are part of the id, so there is one event even if the last two are completed at the same time.
  const blockers = task.blockedBy.map((other) => {
    const blocker = readableTask(ref, other);
    return blocker === undefined ? other : `${other}.${completionNumber(blocker)}`;
  });
  const messageId = eventMessageId("unblocked", task.id, waiter, ...blockers.toSorted());
  await sendAssignment(ref, task, { from: by, to: waiter, messageId }, clock, { isFree: true });
}

/** Returns the request to review a completed task. The task counts as completed unless its reviewer reopens it. */
function reviewText(ref: TeamRef, task: Task, by: string): string {
  const { shown, verifyRun } = withProof(ref, task);
  const proof =
    shown === "passed" && verifyRun !== null
      ? `Its verify command passed: ${runText(verifyRun)}.`
      : "No verify command has passed.";
  const owner = ownerName(task) ?? by;
  return [
    `Review task #${task.id}, please: ${by} completed “${task.subject}”. ${proof}`,
    `If something is missing, send ${owner} what to change, and reopen the task (TaskUpdate with status in_progress, or teams task update ${task.id} --status in_progress); ${owner} stays its owner. If nothing is missing, do nothing: the task counts as completed.`,
  ].join("\n\n");
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
  const about = { taskId: id, subject, description, assignedBy: mail.from };
  const notice = { type: "task_assignment", ...about, ...more } as const;
  return send(ref, { ...mail, text: formatProtocol(notice, new Date(clock.now())) }, id, clock);
}

async function send(ref: TeamRef, mail: OutgoingMessage, taskId: string, clock: Clock): Promise<void> {
  try {
    await sendMessage(ref, mail, clock);
  } catch (error) {
    // There is no one to notify; a manual lead need not be a member.
    if (hasNoRecipient(error)) return;
    throw new TeamError(
      error instanceof TeamError ? error.code : systemErrorCode(error),
      `Task #${taskId} was changed, but ${mail.to} could not be notified: ${messageOf(error)}`,
      {
        hint: "Run teams status to send the notification again; the task itself is correct.",
        cause: error,
      },
    );
  }
}
