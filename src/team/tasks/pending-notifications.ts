import { randomUUID } from "node:crypto";
import * as z from "zod/mini";
import { lazily } from "../../schema/guards/guard.ts";
import type { Task } from "../../schema/task.ts";
import { FIELD_KEYS } from "./task-fields.ts";

/**
 * Pending notifications about a task, kept in the metadata of its file, which other programs preserve. If the process
 * that changed the task is killed, the next process that reads the task sends them; sent ones are never repeated.
 * `told` (a key in existing files) and `reopened` are numbers of completions: the last notified one, and the last one undone by reopening the task.
 */
const assignment = lazily(() =>
  z.object({
    id: z.string(),
    to: z.string(),
    by: z.string(),
    /** It is not new: the last blocker of its task was removed. */
    isFree: z.optional(z.literal(true)),
  }),
);
const completion = lazily(() =>
  z.object({ told: z.number(), reopened: z.number(), by: z.optional(z.string()) }),
);
type Completion = z.infer<ReturnType<typeof completion>>;

/** An owner that has not been notified yet; `id` is the id of the message. */
type Assignment = z.infer<ReturnType<typeof assignment>>;

/** Keys of a task's metadata that only `teams` sets, never a user. */
export const PRIVATE_KEYS: ReadonlySet<string> = new Set([
  "_lease",
  "_assigned",
  "_completion",
  ...FIELD_KEYS,
]);

/** Returns the assignment that the owner has not been notified of. */
export function pendingAssignment({ metadata }: Task): Assignment | undefined {
  if (metadata?._assigned === undefined) return undefined;
  const parsed = assignment().safeParse(metadata._assigned);
  return parsed.success ? parsed.data : undefined;
}

/** Marks the notification of a new owner as pending, in the same change that assigns the task. */
export function withPendingAssignment(task: Task, to: string, by: string): Task {
  return { ...task, metadata: { ...task.metadata, _assigned: { id: randomUUID(), to, by } } };
}

/** Marks as pending the notification of an owner whose task can start, because its last blocker was removed. */
export function withPendingStart(task: Task, to: string, by: string): Task {
  return { ...task, metadata: { ...task.metadata, _assigned: { id: randomUUID(), to, by, isFree: true } } };
}

export function withoutPendingAssignment(task: Task): Task {
  if (task.metadata?._assigned === undefined) return task;
  const { metadata: _old, ...rest } = task;
  const { _assigned, ...others } = task.metadata;
  return Object.keys(others).length === 0 ? rest : { ...rest, metadata: others };
}

/** Returns the number of the current completion: 1 for the first, one more after each reopening. */
export function completionNumber(task: Task): number {
  return marks(task).reopened + 1;
}

/** True if a task is completed, and this completion is neither notified nor marked as pending. */
export function isCompletionUnrecorded(task: Task): boolean {
  const { told: notified, by } = marks(task);
  return task.status === "completed" && by === undefined && notified < completionNumber(task);
}

/** Marks the notification of a completion as pending: in the change that completes the task, or when another program did. */
export function withPendingCompletion(task: Task, by: string): Task {
  return marked(task, { ...marks(task), by });
}

/** Returns who completed a task, if that notification is pending. */
export function pendingCompletionBy(task: Task): string | undefined {
  return task.status === "completed" ? marks(task).by : undefined;
}

/** Marks the notification of the current completion as sent. */
export function withCompletionNotified(task: Task): Task {
  const { by: _notified, ...others } = marks(task);
  return marked(task, { ...others, told: completionNumber(task) });
}

/** True if another program, which does not know these marks, reopened the task. */
export function isReopened(task: Task): boolean {
  return task.status !== "completed" && marks(task).told >= completionNumber(task);
}

/** Counts a reopening, so that the next completion has another number. */
export function withReopened(task: Task): Task {
  const { by: _pending, ...others } = marks(task);
  return marked(task, { ...others, reopened: completionNumber(task) });
}

function marked(task: Task, value: Completion): Task {
  return { ...task, metadata: { ...task.metadata, _completion: value } };
}

const NO_MARKS: Completion = { told: 0, reopened: 0 };

function marks({ metadata }: Task): Completion {
  if (metadata?._completion === undefined) return NO_MARKS;
  const parsed = completion().safeParse(metadata._completion);
  return parsed.success ? parsed.data : NO_MARKS;
}
