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
  /** Tasks that this one no longer waits for. */
  readonly removeBlockedBy?: readonly string[];
}

/**
 * Links tasks and removes links, in the files of both tasks of each link. A link that is added and removed is removed.
 * @throws TeamError CYCLE, INVALID_INPUT as {@link assertRemovable}, or TASK_NOT_FOUND for any of them; no link is changed in that case
 */
export function linkTasks(ref: TeamRef, changes: TaskLinks): Promise<Task> {
  const { id, addBlocks = [], addBlockedBy = [], removeBlockedBy = [] } = changes;
  return lockTasks(ref, async () => {
    for (const other of [id, ...addBlocks, ...addBlockedBy]) getTask(ref, other);
    assertRemovable(getTask(ref, id), changes);
    const links = [
      ...addBlocks.map((waiting): [string, string] => [waiting, id]),
      ...addBlockedBy.map((blocker): [string, string] => [id, blocker]),
    ];
    if (links.length > 0) {
      assertNoCycle(ref, id, addBlocks, addBlockedBy);
      await changeLinks(ref, { links }, taskFiles(ref));
    }
    const unlinked = removeBlockedBy.map((blocker): [string, string] => [id, blocker]);
    if (unlinked.length > 0) await changeLinks(ref, { unlinked }, taskFiles(ref));
    return getTask(ref, id);
  });
}

/** @throws TeamError INVALID_INPUT if the task does not wait for a blocker that is to be removed */
export function assertRemovable(
  { id, blockedBy }: Task,
  { addBlockedBy = [], removeBlockedBy = [] }: Omit<TaskLinks, "id">,
): void {
  const missing = removeBlockedBy.find((other) => ![...blockedBy, ...addBlockedBy].includes(other));
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
