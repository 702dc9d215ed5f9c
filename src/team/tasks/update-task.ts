import { type Clock, systemClock } from "../../os/clock.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { Task } from "../../schema/task.ts";
import { readTeam } from "../config/config.ts";
import { findMember } from "../members/members.ts";
import type { TeamRef } from "../ref.ts";
import { lowerClaimCursor } from "./claim-cursor.ts";
import { linkTasks } from "./dependencies.ts";
import { withLease, withoutLease } from "./lease.ts";
import { notifyPending } from "./notify-owners.ts";
import {
  PRIVATE_KEYS,
  withPendingAssignment,
  withPendingCompletion,
  withReopened,
} from "./pending-notifications.ts";
import { assertAllowed, type TaskUpdate } from "./task-rules.ts";
import {
  changeTask,
  createTask,
  deleteTask,
  findTask,
  getTask,
  type NewTask,
  ownerName,
  reserveTaskId,
} from "./tasks.ts";

/** Hooks that run before a task is created or completed; an error of a hook refuses that (protocol.md section 5, Hooks). */
export interface TaskHooks {
  readonly created?: ((task: TaskFacts) => Promise<void>) | undefined;
  readonly completed?: ((task: TaskFacts) => Promise<void>) | undefined;
}

/** The task that a hook receives, with the requested values. */
type TaskFacts = Pick<Task, "id" | "subject" | "description">;

/**
 * Adds a task and notifies its owner, unless that is the actor.
 * @param actor name of the acting member
 * @throws TeamError AGENT_NOT_FOUND for the owner, TASK_NOT_FOUND for a blocker, and errors of the hooks; nothing is added in that case
 */
export async function addTask(
  ref: TeamRef,
  actor: string,
  input: NewTask,
  clock: Clock = systemClock,
  hooks?: TaskHooks,
): Promise<Task> {
  const owner = input.owner ? findMember(readTeam(ref), input.owner).name : undefined;
  const { owner: _given, metadata, ...rest } = input;
  const reserved =
    hooks?.created === undefined ? undefined : await reserveIfAllowed(ref, input, hooks.created);
  const task = await createTask(
    ref,
    {
      ...rest,
      ...(owner === undefined ? {} : { owner, assignedBy: actor }),
      ...(metadata === undefined ? {} : { metadata: mergedMetadata(undefined, metadata) }),
    },
    { reserved, actor },
  );
  return notifyPending(ref, task, clock);
}

/** Runs the hook for a task that does not exist yet, after all other checks. @returns the reserved id */
async function reserveIfAllowed(
  ref: TeamRef,
  { subject, description = "", blockedBy = [] }: NewTask,
  created: NonNullable<TaskHooks["created"]>,
): Promise<string> {
  for (const blocker of blockedBy) getTask(ref, blocker);
  const id = await reserveTaskId(ref);
  await created({ id, subject, description });
  return id;
}

/**
 * Changes a task and notifies the members concerned: a new owner; on completion the lead, and each owner whose task it
 * unblocks.
 * @returns the task as it is afterwards; undefined if it was deleted
 * @throws TeamError TASK_NOT_FOUND, TASK_CLAIMED, TASK_BLOCKED, TASK_RESOLVED, CYCLE, AGENT_NOT_FOUND, and errors of the
 *   hooks; nothing is changed in that case
 */
export async function updateTask(
  ref: TeamRef,
  actor: string,
  id: string,
  update: TaskUpdate,
  clock: Clock = systemClock,
  hooks?: TaskHooks,
): Promise<Task | undefined> {
  const get = (other: string): Task | undefined => findTask(ref, other);
  const owner = update.owner ? findMember(readTeam(ref), update.owner).name : update.owner;
  const wanted = owner === undefined ? update : { ...update, owner };
  const before = getTask(ref, id);
  assertAllowed(before, actor, wanted, get);
  if (update.status === "completed" && before.status !== "completed") {
    const { subject = before.subject, description = before.description } = update;
    await hooks?.completed?.({ id, subject, description });
  }
  if (update.status === "deleted") {
    await deleteTask(ref, id, (current) => assertAllowed(current, actor, wanted, get), { actor });
    return undefined;
  }
  if (update.addBlocks?.length || update.addBlockedBy?.length) {
    await linkTasks(ref, { id, addBlocks: update.addBlocks ?? [], addBlockedBy: update.addBlockedBy ?? [] });
  }
  const change = (current: Task): Task => {
    assertAllowed(current, actor, wanted, get);
    return withNotifications(current, applied(ref, current, actor, wanted), actor);
  };
  const task = await changeTask(ref, id, change, { actor });
  if (task.status !== "completed") await lowerClaimCursor(ref, id);
  return notifyPending(ref, task, clock);
}

/** Returns the task with the update applied. */
function applied(ref: TeamRef, task: Task, actor: string, update: TaskUpdate): Task {
  const { subject = task.subject, description = task.description } = update;
  const owner = nextOwner(task, actor, update);
  const { owner: _old, ...rest } = task;
  const next: Task = {
    ...rest,
    subject,
    description,
    ...(update.activeForm === undefined ? {} : { activeForm: update.activeForm }),
    status: nextStatus(task, update),
    ...(owner === undefined ? {} : { owner }),
    ...(update.metadata === undefined ? {} : { metadata: mergedMetadata(task.metadata, update.metadata) }),
  };
  return withCurrentLease(ref, task, next, actor);
}

/** Adds the pending notifications that follow from a change. */
function withNotifications(before: Task, next: Task, actor: string): Task {
  const owner = ownerName(next);
  const isOthers = owner !== undefined && owner !== actor && owner !== ownerName(before);
  const task = isOthers ? withPendingAssignment(next, owner, actor) : next;
  if (before.status === next.status) return task;
  if (next.status === "completed") return withPendingCompletion(task, actor);
  return before.status === "completed" ? withReopened(task) : task;
}

/** Updates the lease: none without an owner or when completed; the owner's current one for a new claim or the owner's own change. */
function withCurrentLease(ref: TeamRef, before: Task, next: Task, actor: string): Task {
  const owner = ownerName(next);
  if (owner === undefined || next.status === "completed") return withoutLease(next);
  const isSame = owner === ownerName(before) && next.status === before.status && owner !== actor;
  if (isSame) return next;
  return next.status === "in_progress" || owner === actor ? withLease(ref, next, owner) : withoutLease(next);
}

function nextStatus(task: Task, { status, owner }: TaskUpdate): Task["status"] {
  if (status !== undefined && status !== "deleted") return status;
  return owner === "" && task.status === "in_progress" ? "pending" : task.status;
}

/** A member that starts a task becomes its owner, unless the lead starts another member's task. */
function nextOwner(task: Task, actor: string, { owner, status }: TaskUpdate): string | undefined {
  if (owner !== undefined) return owner === "" ? undefined : owner;
  const holder = ownerName(task);
  if (status !== "in_progress" || task.status === "in_progress") return holder;
  return actor === LEAD_NAME ? (holder ?? actor) : actor;
}

function mergedMetadata(
  current: Readonly<Record<string, unknown>> | undefined,
  change: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  // Leases and notification marks are set by `teams` alone, never by hand.
  const given = Object.entries(change).filter(([key]) => !PRIVATE_KEYS.has(key));
  const all = Object.entries({ ...current, ...Object.fromEntries(given) });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}
