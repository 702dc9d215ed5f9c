import { TeamError } from "../errors.ts";
import { steadyNow } from "../os/clock.ts";
import { entryOf } from "../os/fs.ts";
import type { Task } from "../schema/task.ts";
import { readTeam } from "../team/config.ts";
import type { TeamRef } from "../team/ref.ts";
import { isUnnoted, withCompletion } from "../team/task-news.ts";
import { hasNews, tellNews } from "../team/task-tell.ts";
import { changeTask, getTask, ownerOf, readTasks } from "../team/tasks.ts";
import type { LeadContext } from "./context.ts";

/** Milliseconds between two whole looks while the directory stays as it is: for foreign writers that write in place, without a lock. */
const WHOLE_LOOK_MS = 5_000;
/** Milliseconds within which a change may leave the directory's time as it was: file systems count in ticks. */
const TICK_MS = 50;

/** What the tasks were like when they were looked at last. */
interface Seen {
  /** Of their directory, in milliseconds since the epoch; undefined when it is to be looked at again in any case. */
  readonly changedAt: number | undefined;
  readonly at: number;
  /** Those that were not completed. */
  readonly open: ReadonlySet<string>;
}
const seen = new WeakMap<LeadContext, Seen>();

/**
 * Tells what follows from changes of tasks that nobody told: what a process noted down that was killed over it, and what a
 * foreign peer completed since the last look of this context (before the first one nobody watched). For teams of ours
 * only; of others it touches nothing (protocol.md, Whose is it). Reads nothing where no task has changed.
 * @throws TeamError TEAM_NOT_FOUND, and what kept somebody from being told; the others were
 */
export async function lookAtTasks(ctx: LeadContext): Promise<void> {
  const { ref } = ctx;
  if (readTeam(ref).schemaVersion === undefined) return;
  const changedAt = Number(entryOf(ref.paths.tasks)?.mtimeMs ?? 0);
  const before = seen.get(ctx);
  if (before?.changedAt === changedAt && steadyNow() - before.at < WHOLE_LOOK_MS) return;
  // What changes while this reads is looked at again, and so is everything when something could not be told.
  const isSettled = ctx.clock.now() - changedAt > TICK_MS;
  if (before !== undefined) seen.set(ctx, { ...before, changedAt: undefined });
  const tasks = readTasks(ref);
  const isNew = (task: Task): boolean => before?.open.has(task.id) === true && isUnnoted(task);
  await forEach(
    tasks.filter((task) => hasNews(task) || isNew(task)),
    async (task) => {
      await tellNews(ref, isNew(task) ? await noted(ref, task.id) : task, ctx.clock);
    },
  );
  const open = new Set(tasks.filter(({ status }) => status !== "completed").map(({ id }) => id));
  seen.set(ctx, { changedAt: isSettled ? changedAt : undefined, at: steadyNow(), open });
}

/** First noted, then told, so that it is told whoever is killed in between. */
function noted(ref: TeamRef, id: string): Promise<Task> {
  return changeTask(ref, id, (task) =>
    isUnnoted(task) ? withCompletion(task, ownerOf(task) ?? "system") : undefined,
  );
}

/** Tells what was noted down, and not told, of some tasks; for teams of ours only. */
export async function tellTaskNews({ ref, clock }: LeadContext, ids: readonly string[]): Promise<void> {
  if (ids.length === 0 || readTeam(ref).schemaVersion === undefined) return;
  await forEach(ids, async (id) => {
    // As it is by now, and as its file says.
    await tellNews(ref, getTask(ref, id), clock);
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
