import { TeamError } from "../../errors.ts";
import { steadyNow } from "../../os/clock.ts";
import { entryOf } from "../../os/files/fs.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { Task } from "../../schema/task.ts";
import { readTeam } from "../../team/config/config.ts";
import { isJournalled } from "../../team/inbox/inbox-recovery.ts";
import type { TeamRef } from "../../team/ref.ts";
import { hasPendingNotifications, notifyPending } from "../../team/tasks/notify-owners.ts";
import { isCompletionUnrecorded, withPendingCompletion } from "../../team/tasks/pending-notifications.ts";
import { changeTask, getTask, ownerName, readTasks } from "../../team/tasks/tasks.ts";
import { needsVerify } from "../../team/tasks/verify-record.ts";
import type { OperationContext } from "../context.ts";

/**
 * A foreign program may write a task file in place, which does not change the directory's time. So each file of an unfinished task
 * is checked, up to this number, which takes a few milliseconds. Longer lists are read completely after this many milliseconds.
 */
const MAX_STAT_CALLS = 1_000;
const FULL_CHECK_MS = 5_000;
/** Milliseconds by which a file's time may precede its change: file systems count in ticks. */
const TICK_MS = 50;

/** The state of the tasks at the last check. */
interface LastCheck {
  /** When the check began: in milliseconds since the epoch (`since`) and on the steady clock (`at`). */
  readonly since: number;
  readonly at: number;
  /** The ids of the tasks that were not completed. */
  readonly open: ReadonlySet<string>;
}
const lastChecks = new WeakMap<OperationContext, LastCheck>();

/**
 * Sends notifications of task changes that no process has sent: changes that a killed process had recorded, and tasks that
 * another program completed since this context's last check, or at any time if their owner is a foreign member. Only for teams
 * created by this program; it changes nothing in others (protocol.md, Whose is it). Reads no task if none has changed.
 * @throws TeamError TEAM_NOT_FOUND, and the first error of a notification; the others were sent
 */
export async function notifyMissedTaskChanges(ctx: OperationContext): Promise<void> {
  const { ref } = ctx;
  const config = readTeam(ref);
  if (config.schemaVersion === undefined) return;
  const before = lastChecks.get(ctx);
  if (before !== undefined && isUnchanged(ref, before)) return;
  const [since, at] = [ctx.clock.now(), steadyNow()];
  const tasks = readTasks(ref);
  const isUnreported = unreportedChecker(ref, config);
  const isNew = (task: Task): boolean => before?.open.has(task.id) === true && isCompletionUnrecorded(task);
  await forEach(
    tasks.filter((task) => isNew(task) || isUnreported(task)),
    (task) => notifyOne(ref, task, ctx.clock),
  );
  // Only after success, so that the next check tries failed notifications again.
  const open = tasks.filter(({ status }) => status !== "completed").map(({ id }) => id);
  lastChecks.set(ctx, { since, at, open: new Set(open) });
}

function isUnchanged({ paths }: TeamRef, { since, at, open }: LastCheck): boolean {
  if (steadyNow() - at >= FULL_CHECK_MS) return false;
  const files = open.size > MAX_STAT_CALLS ? [] : [...open].map((id) => paths.task(id));
  return [paths.tasks, ...files].every((path) => Number(entryOf(path)?.mtimeMs ?? 0) < since - TICK_MS);
}

/** Records a completion before its notification, so that the notification is sent even if this process is killed in between. */
function recordCompletion(ref: TeamRef, id: string): Promise<Task> {
  return changeTask(ref, id, (task) =>
    isCompletionUnrecorded(task) ? withPendingCompletion(task, ownerName(task) ?? "system") : undefined,
  );
}

/**
 * Sends the notifications of some tasks that a command can know of without an earlier check: recorded ones, and completions by
 * foreign members. Only for teams created by this program.
 */
export async function notifyTaskChanges(
  { ref, clock }: OperationContext,
  tasks: readonly Task[],
): Promise<void> {
  const config = readTeam(ref);
  if (config.schemaVersion === undefined) return;
  await forEach(tasks.filter(unreportedChecker(ref, config)), async ({ id }) => {
    // Read again: the task may have changed meanwhile.
    await notifyOne(ref, getTask(ref, id), clock);
  });
}

/** Sends the notifications of one task, including that of a completion that no process has recorded. */
export function notifyTask({ ref, clock }: OperationContext, id: string): Promise<void> {
  return notifyOne(ref, getTask(ref, id), clock);
}

/**
 * Records the completion of an unrecorded task first, then sends all notifications. A completion that is still to be verified
 * is not announced.
 */
async function notifyOne(ref: TeamRef, task: Task, clock: OperationContext["clock"]): Promise<void> {
  if (task.status === "completed" && needsVerify(ref, task)) return;
  const recorded = isCompletionUnrecorded(task) ? await recordCompletion(ref, task.id) : task;
  await notifyPending(ref, recorded, clock);
}

/**
 * Returns a test for tasks with an unsent notification. Our members record each completion in the task, so a completion without
 * that record is new if the task belongs to a foreign member.
 */
function unreportedChecker(ref: TeamRef, { members }: TeamConfig): (task: Task) => boolean {
  const foreign = new Set(
    members.flatMap(({ name }) => (name === LEAD_NAME || isJournalled(ref, name) ? [] : [name])),
  );
  return (task) =>
    hasPendingNotifications(task) || (foreign.has(ownerName(task) ?? "") && isCompletionUnrecorded(task));
}

/** Works through all items even if one fails. @throws the first error */
async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      // Thrown below. A task that was deleted meanwhile needs no notification.
      if (!(error instanceof TeamError && error.code === "TASK_NOT_FOUND")) failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
