import { TeamError } from "../../errors.ts";
import { steadyNow } from "../../os/clock.ts";
import { entryOf } from "../../os/files/fs.ts";
import type { Task } from "../../schema/task.ts";
import { readTeam } from "../../team/config/config.ts";
import type { TeamRef } from "../../team/ref.ts";
import { hasPendingNotifications, notifyPending } from "../../team/tasks/notify-owners.ts";
import { isCompletionUnrecorded, withPendingCompletion } from "../../team/tasks/pending-notifications.ts";
import { changeTask, getTask, ownerName, readTasks } from "../../team/tasks/tasks.ts";
import type { OperationContext } from "../context.ts";

/**
 * A foreign writer that writes in place, without a lock, changes nothing of the directory. So each unfinished task is looked
 * at by itself, up to so many, which takes a few milliseconds; of longer lists after so many milliseconds.
 */
const MOST_BY_ITSELF = 1_000;
const WHOLE_LOOK_MS = 5_000;
/** Milliseconds by which the time of a change may lie before the change: file systems count in ticks. */
const TICK_MS = 50;

/** What the tasks were like when they were looked at last. */
interface Seen {
  /** When that look began: in milliseconds since the epoch, and as the steady clock goes. */
  readonly since: number;
  readonly at: number;
  /** Those that were not completed. */
  readonly open: ReadonlySet<string>;
}
const seen = new WeakMap<OperationContext, Seen>();

/**
 * Tells what follows from changes of tasks that nobody told: what a process noted down that was killed over it, and what a
 * foreign peer completed since the last look of this context (before the first one nobody watched). For teams of ours
 * only; of others it touches nothing (protocol.md, Whose is it). Reads nothing where no task has changed.
 * @throws TeamError TEAM_NOT_FOUND, and what kept somebody from being told; the others were
 */
export async function lookAtTasks(ctx: OperationContext): Promise<void> {
  const { ref } = ctx;
  if (readTeam(ref).schemaVersion === undefined) return;
  const before = seen.get(ctx);
  if (before !== undefined && isAsBefore(ref, before)) return;
  const [since, at] = [ctx.clock.now(), steadyNow()];
  const tasks = readTasks(ref);
  const isNew = (task: Task): boolean => before?.open.has(task.id) === true && isCompletionUnrecorded(task);
  await forEach(
    tasks.filter((task) => hasPendingNotifications(task) || isNew(task)),
    async (task) => {
      await notifyPending(ref, isNew(task) ? await noted(ref, task.id) : task, ctx.clock);
    },
  );
  // Only now: what could not be told is new to the next look as well.
  const open = tasks.filter(({ status }) => status !== "completed").map(({ id }) => id);
  seen.set(ctx, { since, at, open: new Set(open) });
}

function isAsBefore({ paths }: TeamRef, { since, at, open }: Seen): boolean {
  if (steadyNow() - at >= WHOLE_LOOK_MS) return false;
  const files = open.size > MOST_BY_ITSELF ? [] : [...open].map((id) => paths.task(id));
  return [paths.tasks, ...files].every((path) => Number(entryOf(path)?.mtimeMs ?? 0) < since - TICK_MS);
}

/** First noted, then told, so that it is told whoever is killed in between. */
function noted(ref: TeamRef, id: string): Promise<Task> {
  return changeTask(ref, id, (task) =>
    isCompletionUnrecorded(task) ? withPendingCompletion(task, ownerName(task) ?? "system") : undefined,
  );
}

/** Tells what was noted down, and not told, of some tasks; for teams of ours only. */
export async function notifyTaskChanges(
  { ref, clock }: OperationContext,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0 || readTeam(ref).schemaVersion === undefined) return;
  await forEach(ids, async (id) => {
    // As it is by now, and as its file says.
    await notifyPending(ref, getTask(ref, id), clock);
  });
}

/** Works through all of them, though one fails. @throws what the first failed with */
async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      // Thrown below. One that was deleted meanwhile has no news.
      if (!(error instanceof TeamError && error.code === "TASK_NOT_FOUND")) failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
