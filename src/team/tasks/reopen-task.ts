import { TeamError } from "../../errors.ts";
import type { Task } from "../../schema/task.ts";
import type { TeamRef } from "../ref.ts";
import { lowerClaimCursor } from "./claim-cursor.ts";
import { withLease } from "./lease.ts";
import { withReopened } from "./pending-notifications.ts";
import { changeTask, getTask, ownerName } from "./tasks.ts";
import { assertNoOverlap, startAlone } from "./touches.ts";

/**
 * Sets a task whose completion was rejected back to in progress, with its owner. Without an owner, or while another task that
 * touches the same files runs, the task becomes pending. Idempotent.
 */
export async function reopenTask(ref: TeamRef, id: string): Promise<Task> {
  const reopen = (task: Task): Task | undefined => {
    const next = reopened(ref, task);
    if (next.status === task.status) return undefined;
    return task.status === "completed" ? withReopened(next) : next;
  };
  const task = await startAlone(ref, getTask(ref, id), () => changeTask(ref, id, reopen));
  await lowerClaimCursor(ref, id);
  return task;
}

function reopened(ref: TeamRef, task: Task): Task {
  const owner = ownerName(task);
  if (task.status === "in_progress") return task;
  if (owner === undefined || hasOverlap(ref, task)) return { ...task, status: "pending" };
  return withLease(ref, { ...task, status: "in_progress" }, owner);
}

function hasOverlap(ref: TeamRef, task: Task): boolean {
  try {
    assertNoOverlap(ref, task);
    return false;
  } catch (error) {
    if (error instanceof TeamError && error.code === "TASK_CONFLICT") return true;
    throw error;
  }
}
