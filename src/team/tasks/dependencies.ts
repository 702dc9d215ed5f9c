import { TeamError } from "../../errors.ts";
import type { Task } from "../../schema/task.ts";
import type { TeamRef } from "../ref.ts";
import { changeLinks } from "./dependency-journal.ts";
import { findTask, getTask, lockTasks, taskFiles } from "./tasks.ts";

interface TaskLinks {
  readonly id: string;
  /** Tasks that wait for this one. */
  readonly addBlocks?: readonly string[];
  /** Tasks that this one waits for. */
  readonly addBlockedBy?: readonly string[];
}

/**
 * Links tasks, in the files of both tasks of each link.
 * @throws TeamError CYCLE, or TASK_NOT_FOUND for any of them; nothing is linked in that case
 */
export function linkTasks(ref: TeamRef, { id, addBlocks = [], addBlockedBy = [] }: TaskLinks): Promise<Task> {
  return lockTasks(ref, async () => {
    for (const other of [id, ...addBlocks, ...addBlockedBy]) getTask(ref, other);
    assertNoCycle(ref, id, addBlocks, addBlockedBy);
    const links = [
      ...addBlocks.map((waiting): [string, string] => [waiting, id]),
      ...addBlockedBy.map((blocker): [string, string] => [id, blocker]),
    ];
    await changeLinks(ref, { links }, taskFiles(ref));
    return getTask(ref, id);
  });
}

/**
 * Removes the links of a task to tasks that it waits for, in the files of both ends.
 * @throws TeamError TASK_NOT_FOUND; INVALID_INPUT if it does not wait for one of them; no link is removed in that case
 */
export function unlinkTasks(ref: TeamRef, id: string, blockers: readonly string[]): Promise<Task> {
  return lockTasks(ref, async () => {
    assertWaitsFor(getTask(ref, id), blockers);
    await changeLinks(ref, { unlinked: blockers.map((blocker) => [id, blocker]) }, taskFiles(ref));
    return getTask(ref, id);
  });
}

/** @throws TeamError INVALID_INPUT if a task does not wait for one of the blockers */
export function assertWaitsFor({ id, blockedBy }: Task, blockers: readonly string[]): void {
  const missing = blockers.find((blocker) => !blockedBy.includes(blocker));
  if (missing === undefined) return;
  const waits = blockedBy.length === 0 ? "no task" : blockedBy.map((other) => `#${other}`).join(", ");
  throw new TeamError("INVALID_INPUT", `Task #${id} does not wait for #${missing}; nothing was changed.`, {
    hint: `Task #${id} waits for ${waits}. See all dependencies: teams task graph`,
  });
}

/** Refuses links that would make a task wait for itself, directly or through other tasks. */
function assertNoCycle(
  ref: TeamRef,
  id: string,
  addBlocks: readonly string[],
  addBlockedBy: readonly string[],
): void {
  const waitsFor = new Map([[id, [...getTask(ref, id).blockedBy, ...addBlockedBy]]]);
  const before = (task: string): readonly string[] =>
    waitsFor.get(task) ?? findTask(ref, task)?.blockedBy ?? [];
  const seen = new Set<string>();
  const open = [...before(id)];
  const ends = new Set([id, ...addBlocks]);
  for (let task = open.pop(); task !== undefined; task = open.pop()) {
    if (ends.has(task)) throw cycleError(id, task);
    if (seen.has(task)) continue;
    seen.add(task);
    open.push(...before(task));
  }
  if (addBlocks.includes(id)) throw cycleError(id, id);
}

function cycleError(id: string, through: string): TeamError {
  const what = through === id ? "wait for itself" : `wait for #${through}, which waits for it`;
  return new TeamError("CYCLE", `Task #${id} would ${what}; nothing was linked.`, {
    hint: "See all dependencies: teams task graph",
  });
}
