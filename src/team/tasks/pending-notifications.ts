import { randomUUID } from "node:crypto";
import * as z from "zod/mini";
import type { Task } from "../../schema/task.ts";

/**
 * What a task's file says of the news that follows from its changes, in its metadata, which foreign peers keep: so that
 * what its changer could not tell any more is told by whoever looks next, and what was told is not told again.
 */
const assignment = z.object({ id: z.string(), to: z.string(), by: z.string() });
const completion = z.object({ told: z.number(), reopened: z.number(), by: z.optional(z.string()) });

/** A new owner that has not been told yet; `id` is the message's. */
type Assignment = z.infer<typeof assignment>;

/** The keys of a task's metadata that nobody sets but us. */
export const PRIVATE_KEYS: ReadonlySet<string> = new Set(["_lease", "_assigned", "_completion"]);

/** The news of its owner that waits to be told. */
export function pendingAssignment({ metadata }: Task): Assignment | undefined {
  if (metadata?._assigned === undefined) return undefined;
  const parsed = assignment.safeParse(metadata._assigned);
  return parsed.success ? parsed.data : undefined;
}

/** Notes in the very change that gives a task to somebody else that this is to be told. */
export function withPendingAssignment(task: Task, to: string, by: string): Task {
  return { ...task, metadata: { ...task.metadata, _assigned: { id: randomUUID(), to, by } } };
}

export function withoutPendingAssignment(task: Task): Task {
  if (task.metadata?._assigned === undefined) return task;
  const { metadata: _old, ...rest } = task;
  const { _assigned, ...others } = task.metadata;
  return Object.keys(others).length === 0 ? rest : { ...rest, metadata: others };
}

/** How often a task has been completed by now, where it is: which completion it is that the news are about. */
export function completionNumber(task: Task): number {
  return marks(task).reopened + 1;
}

/** Whether a task is completed and nobody has told, or noted down, what follows from it. */
export function isCompletionUnrecorded(task: Task): boolean {
  const { told, by } = marks(task);
  return task.status === "completed" && by === undefined && told < completionNumber(task);
}

/** Notes in the change that completes a task, or once it is seen that a peer did, that this is to be told. */
export function withPendingCompletion(task: Task, by: string): Task {
  return marked(task, { ...marks(task), by });
}

/** Who completed a task of which that is to be told. */
export function pendingCompletionBy(task: Task): string | undefined {
  return task.status === "completed" ? marks(task).by : undefined;
}

export function withCompletionNotified(task: Task): Task {
  const { by: _told, ...others } = marks(task);
  return marked(task, { ...others, told: completionNumber(task) });
}

/** Whether a peer that knows nothing of these marks opened the task again. */
export function isReopened(task: Task): boolean {
  return task.status !== "completed" && marks(task).told >= completionNumber(task);
}

/** Its next completion is another one. */
export function withReopened(task: Task): Task {
  const { by: _untold, ...others } = marks(task);
  return marked(task, { ...others, reopened: completionNumber(task) });
}

function marked(task: Task, value: z.infer<typeof completion>): Task {
  return { ...task, metadata: { ...task.metadata, _completion: value } };
}

const NO_MARKS: z.infer<typeof completion> = { told: 0, reopened: 0 };

function marks({ metadata }: Task): z.infer<typeof completion> {
  if (metadata?._completion === undefined) return NO_MARKS;
  const parsed = completion.safeParse(metadata._completion);
  return parsed.success ? parsed.data : NO_MARKS;
}
