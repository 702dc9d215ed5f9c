import { TeamError } from "../../errors.ts";
import type { Task } from "../../schema/task.ts";
import { globCovers, globsOverlap } from "../../text/glob-overlap.ts";
import type { TeamRef } from "../ref.ts";
import { hasLeaseExpired } from "./lease.ts";
import { touchesOf } from "./task-fields.ts";
import { isClaimableBy } from "./task-rules.ts";
import { isBlockedNow, listTasks, lockTasks, ownerName } from "./tasks.ts";

/**
 * Refuses to start a task while a running one touches the same files.
 * @throws TeamError TASK_CONFLICT
 */
export function assertNoOverlap(ref: TeamRef, task: Task): void {
  const overlap = findOverlap(ref, task);
  if (overlap !== undefined) throw overlap;
}

/** Whether the actor can claim a task without naming it, see `claimTask`. A task with an unreadable blocker is blocked. */
export function hasClaimable(ref: TeamRef, actor: string): boolean {
  return listTasks(ref).some(
    (task) =>
      isClaimableBy(task, actor) &&
      !(task.status === "pending" && isBlockedNow(ref, task)) &&
      findOverlap(ref, task) === undefined,
  );
}

function findOverlap(ref: TeamRef, task: Task): TeamError | undefined {
  const touches = touchesOf(task);
  if (touches.length === 0) return undefined;
  for (const other of listTasks(ref)) {
    if (other.id === task.id || !isRunning(other)) continue;
    const theirs = touchesOf(other);
    const mine = touches.find((one) => theirs.some((pattern) => globsOverlap(one, pattern)));
    if (mine !== undefined) {
      const pattern = theirs.find((one) => globsOverlap(mine, one)) ?? mine;
      return overlapError(task, other, { mine, theirs: pattern });
    }
  }
  return undefined;
}

/**
 * Runs the change that starts a task. Two tasks that touch the same files cannot start at once: the check and the change are
 * one step under the team's task lock.
 */
export function startAlone<T>(ref: TeamRef, task: Task, start: () => Promise<T>): Promise<T> {
  return touchesOf(task).length === 0 ? start() : lockTasks(ref, start);
}

function isRunning(task: Task): boolean {
  return task.status === "in_progress" && !hasLeaseExpired(task);
}

function overlapError(
  task: Task,
  other: Task,
  patterns: { readonly mine: string; readonly theirs: string },
): TeamError {
  const owner = ownerName(other);
  const holder = owner === undefined ? "in progress" : `in progress, owned by ${owner}`;
  const { mine, theirs } = patterns;
  const overlap = mine === theirs ? `${mine}, like` : `${mine}, which overlaps ${theirs} of`;
  return new TeamError(
    "TASK_CONFLICT",
    `Task #${task.id} touches ${overlap} task #${other.id} (${holder}); task #${task.id} was not changed.`,
    {
      hint: `Take another task, or try again when #${other.id} is completed.`,
      details: { reason: "touches_overlap", taskId: task.id, otherTaskId: other.id, owner, ...patterns },
    },
  );
}

/** The files that a running task of another member has reserved. */
export interface Reservation {
  readonly taskId: string;
  readonly owner: string;
  /** Returns the pattern that covers a path relative to the project; undefined if none does. */
  readonly covers: (path: string) => string | undefined;
}

/** Returns the files that running tasks of other members have reserved. */
export function reservations(ref: TeamRef, actor: string): readonly Reservation[] {
  return listTasks(ref).flatMap((task) => {
    const owner = ownerName(task);
    if (owner === undefined || owner === actor || !isRunning(task)) return [];
    const touches = touchesOf(task);
    if (touches.length === 0) return [];
    const covers = (path: string): string | undefined => touches.find((one) => globCovers(one, path));
    return [{ taskId: task.id, owner, covers }];
  });
}
