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

/** Asked before a task is there, or completed; what it throws refuses that (protocol.md section 5, Hooks). */
export interface TaskHooks {
  readonly created?: ((task: TaskFacts) => Promise<void>) | undefined;
  readonly completed?: ((task: TaskFacts) => Promise<void>) | undefined;
}

/** What it is told of the task, as it is to be. */
type TaskFacts = Pick<Task, "id" | "subject" | "description">;

/**
 * Adds a task; an owner other than the actor is told.
 * @param actor the member who does it, by name
 * @throws TeamError AGENT_NOT_FOUND for the owner, TASK_NOT_FOUND for a blocker, and what the gate throws; nothing was added then
 */
export async function addTask(
  ref: TeamRef,
  actor: string,
  input: NewTask,
  clock: Clock = systemClock,
  gate?: TaskHooks,
): Promise<Task> {
  const owner = input.owner ? findMember(readTeam(ref), input.owner).name : undefined;
  const { owner: _given, metadata, ...rest } = input;
  const reserved = gate?.created === undefined ? undefined : await reserveIfAllowed(ref, input, gate.created);
  const task = await createTask(
    ref,
    {
      ...rest,
      ...(owner === undefined ? {} : { owner, assignedBy: actor }),
      ...(metadata === undefined ? {} : { metadata: mergedMetadata(undefined, metadata) }),
    },
    reserved,
  );
  return notifyPending(ref, task, clock);
}

/** Asks for a task that nobody can see yet; what else would refuse it is looked at before. @returns its id */
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
 * Changes a task, and tells whom it concerns: a new owner; on completion the lead, and each owner whose task has become
 * free by it.
 * @returns the task as it is now; undefined when it was deleted
 * @throws TeamError TASK_NOT_FOUND, TASK_CLAIMED, TASK_BLOCKED, TASK_RESOLVED, CYCLE, AGENT_NOT_FOUND, and what the gate throws;
 * nothing was changed then
 */
export async function updateTask(
  ref: TeamRef,
  actor: string,
  id: string,
  update: TaskUpdate,
  clock: Clock = systemClock,
  gate?: TaskHooks,
): Promise<Task | undefined> {
  const get = (other: string): Task | undefined => findTask(ref, other);
  const owner = update.owner ? findMember(readTeam(ref), update.owner).name : update.owner;
  const wanted = owner === undefined ? update : { ...update, owner };
  const before = getTask(ref, id);
  assertAllowed(before, actor, wanted, get);
  if (update.status === "completed" && before.status !== "completed") {
    const { subject = before.subject, description = before.description } = update;
    await gate?.completed?.({ id, subject, description });
  }
  if (update.status === "deleted") {
    await deleteTask(ref, id, (current) => assertAllowed(current, actor, wanted, get));
    return undefined;
  }
  if (update.addBlocks?.length || update.addBlockedBy?.length) {
    await linkTasks(ref, { id, addBlocks: update.addBlocks ?? [], addBlockedBy: update.addBlockedBy ?? [] });
  }
  const task = await changeTask(ref, id, (current) => {
    assertAllowed(current, actor, wanted, get);
    return withNotifications(current, applied(ref, current, actor, wanted), actor);
  });
  if (task.status !== "completed") await lowerClaimCursor(ref, id);
  return notifyPending(ref, task, clock);
}

/** The task as the update makes it. */
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

/** The change together with what is to be told of it. */
function withNotifications(before: Task, next: Task, actor: string): Task {
  const owner = ownerName(next);
  const isOthers = owner !== undefined && owner !== actor && owner !== ownerName(before);
  const told = isOthers ? withPendingAssignment(next, owner, actor) : next;
  if (before.status === next.status) return told;
  if (next.status === "completed") return withPendingCompletion(told, actor);
  return before.status === "completed" ? withReopened(told) : told;
}

/** What nobody has or is done carries no lease; a new claim, and the owner's own change, get the owner's of now. */
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

/** Starting a task makes it the starter's, unless the lead starts what somebody else has. */
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
  // A lease comes from the owner's status, the marks of what was told from who told it; nobody sets them by hand.
  const given = Object.entries(change).filter(([key]) => !PRIVATE_KEYS.has(key));
  const all = Object.entries({ ...current, ...Object.fromEntries(given) });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}
