import { TeamError } from "../../errors.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { Task } from "../../schema/task.ts";
import { hasLeaseExpired } from "./lease.ts";
import { reviewerOf, type TaskFields } from "./task-fields.ts";
import { isBlocked, ownerName } from "./tasks.ts";

/** A requested change of a task. */
export interface TaskUpdate extends TaskFields {
  readonly status?: "pending" | "in_progress" | "completed" | "deleted";
  /** A member's name; empty unassigns the task. */
  readonly owner?: string;
  readonly subject?: string;
  readonly description?: string;
  readonly activeForm?: string;
  readonly addBlocks?: readonly string[];
  readonly addBlockedBy?: readonly string[];
  /** Tasks that this one no longer waits for. */
  readonly removeBlockedBy?: readonly string[];
  /** Merged into the existing metadata; null removes a key. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

type GetTask = (id: string) => Task | undefined;

/**
 * Refuses changes that protocol.md section 5 forbids this actor. The lead may do everything except start a blocked task;
 * every member may change texts and metadata; a reviewer may reopen its completed task.
 * @param actor a member's name
 * @throws TeamError TASK_RESOLVED, TASK_CLAIMED, TASK_BLOCKED
 */
export function assertAllowed(task: Task, actor: string, update: TaskUpdate, get: GetTask): void {
  const { status, owner } = update;
  if (status === undefined && owner === undefined) return;
  const starts = status === "in_progress" && task.status !== "in_progress";
  if (actor === LEAD_NAME || isReviewersReopening(task, actor, update)) {
    if (starts) assertUnblocked(task, get);
    return;
  }
  if (starts || owner === actor) {
    assertClaimable(task, actor, get);
    return;
  }
  assertFree(task, actor);
  if (task.status === "completed" && status !== "completed" && status !== "deleted") throw resolved(task);
  if (task.status === "pending" && status === "completed") assertUnblocked(task, get);
}

/** True if the update reopens a completed task, and its reviewer makes it. The task keeps its owner. */
export function isReviewersReopening(
  task: Task,
  actor: string,
  { status, owner }: Pick<TaskUpdate, "status" | "owner">,
): boolean {
  const reopens = status === "in_progress" || status === "pending";
  return task.status === "completed" && reopens && owner === undefined && reviewerOf(task) === actor;
}

/**
 * Refuses a claim of a task that is not free; its owner may claim it again.
 * @throws TeamError TASK_RESOLVED, TASK_CLAIMED, TASK_BLOCKED
 */
export function assertClaimable(task: Task, actor: string, get: GetTask): void {
  if (task.status === "completed") throw resolved(task);
  assertFree(task, actor);
  if (task.status === "pending") assertUnblocked(task, get);
}

/** Refuses a task that this agent has in progress: two processes may claim in its name. @throws TeamError TASK_CLAIMED */
export function assertNotStarted(task: Task, actor: string): void {
  if (task.status === "in_progress" && ownerName(task) === actor) throw claimedBy(task, actor);
}

/** Refuses a task of another owner, unless that owner's lease has expired. */
function assertFree(task: Task, actor: string): void {
  const holder = ownerName(task);
  if (holder !== undefined && holder !== actor && !hasLeaseExpired(task)) throw claimedBy(task, holder);
}

function claimedBy(task: Task, holder: string): TeamError {
  return refusal("TASK_CLAIMED", "already_claimed", task, `belongs to ${holder}`, {
    hint: "See the free tasks: teams task list",
    details: { owner: holder },
  });
}

function assertUnblocked(task: Task, get: GetTask): void {
  if (!isBlocked(task, get)) return;
  const open = task.blockedBy.filter((id) => get(id)?.status !== "completed" && get(id) !== undefined);
  throw refusal("TASK_BLOCKED", "blocked", task, `waits for ${open.map((id) => `#${id}`).join(", ")}`, {
    hint: "Complete its blockers first.",
    details: { blockedBy: open },
  });
}

function resolved(task: Task): TeamError {
  return refusal("TASK_RESOLVED", "already_resolved", task, "is completed", {
    hint: `Ask ${LEAD_NAME} to reopen it.`,
  });
}

/** @param busyWith the claimer's unfinished tasks */
export function agentBusy(actor: string, busyWith: readonly string[]): TeamError {
  const list = busyWith.map((id) => `#${id}`).join(", ");
  return new TeamError("AGENT_BUSY", `${actor} must finish ${list} first; nothing was claimed.`, {
    hint: "Complete those tasks, or claim without --exclusive.",
    details: { reason: "agent_busy", busyWithTasks: busyWith },
  });
}

function refusal(
  code: "TASK_CLAIMED" | "TASK_BLOCKED" | "TASK_RESOLVED",
  reason: string,
  task: Task,
  what: string,
  { hint, details = {} }: { hint: string; details?: Record<string, unknown> },
): TeamError {
  return new TeamError(code, `Task #${task.id} ${what}; it was not changed.`, {
    hint,
    details: { reason, taskId: task.id, ...details },
  });
}

/** True if the task has no owner, is the actor's own and pending, or belongs to a dead agent. */
export function isClaimableBy(task: Task, actor: string): boolean {
  if (task.status === "completed") return false;
  const holder = ownerName(task);
  return holder === undefined || (holder === actor ? task.status === "pending" : hasLeaseExpired(task));
}
