import { TeamError } from "../errors.ts";
import { steadyNow } from "../os/clock.ts";
import { entryOf } from "../os/fs.ts";
import type { Task } from "../schema/task.ts";
import { readTeam } from "../team/config.ts";
import { hasNews, tellNews } from "../team/task-tell.ts";
import { findTask, readTasks } from "../team/tasks.ts";
import type { LeadContext } from "./context.ts";

/** Milliseconds between two whole looks while the directory stays as it is: for foreign writers that write in place, without a lock. */
const WHOLE_LOOK_MS = 5_000;
/** Milliseconds within which a change may leave the directory's time as it was: file systems count in ticks. */
const TICK_MS = 50;

/** What the tasks' directory was like when it was looked at last. */
interface Seen {
  readonly changedAt: number;
  readonly at: number;
}
const seen = new WeakMap<LeadContext, Seen>();

/**
 * Tells what follows from changes of tasks that nobody told: those of foreign peers, and of a process that was killed in
 * between. For teams of ours only; of others it touches nothing (protocol.md, Whose is it). Reads nothing where no task
 * has changed since the last look of this context.
 * @throws TeamError TEAM_NOT_FOUND, and what kept somebody from being told; the others were
 */
export async function lookAtTasks(ctx: LeadContext): Promise<void> {
  const { ref } = ctx;
  if (readTeam(ref).schemaVersion === undefined) return;
  const changedAt = Number(entryOf(ref.paths.tasks)?.mtimeMs ?? 0);
  const before = seen.get(ctx);
  const isSame = before?.changedAt === changedAt && steadyNow() - before.at < WHOLE_LOOK_MS;
  if (isSame) return;
  // What changes while this reads is looked at again.
  if (ctx.clock.now() - changedAt > TICK_MS) seen.set(ctx, { changedAt, at: steadyNow() });
  await tellTaskNews(ctx, readTasks(ref));
}

/** The same among tasks as they were read just now. */
export async function tellTaskNews(ctx: LeadContext, tasks: readonly Task[]): Promise<void> {
  if (readTeam(ctx.ref).schemaVersion === undefined) return;
  const failures: unknown[] = [];
  for (const { id } of tasks.filter(hasNews)) {
    try {
      // As it is by now, and as its file says.
      const task = findTask(ctx.ref, id);
      if (task !== undefined) await tellNews(ctx.ref, task, ctx.clock);
    } catch (error) {
      // Said below; one that was deleted meanwhile has no news. What is wrong with one keeps nobody from the others.
      if (!(error instanceof TeamError && error.code === "TASK_NOT_FOUND")) failures.push(error);
    }
  }
  if (failures.length > 0) {
    seen.delete(ctx);
    throw failures[0];
  }
}
