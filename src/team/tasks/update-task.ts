import { type Clock, systemClock } from "../../os/clock.ts";
import { defined } from "../../schema/defined.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { Task } from "../../schema/task.ts";
import { readTeam } from "../config/config.ts";
import { findMember, lookUpMember } from "../members/members.ts";
import type { TeamRef } from "../ref.ts";
import { lowerClaimCursor } from "./claim-cursor.ts";
import { assertRemovable, linkTasks } from "./dependencies.ts";
import { withLease, withoutLease } from "./lease.ts";
import { notifyPending, recordUnblocked } from "./notify-owners.ts";
import { parseTouches } from "./parse-touches.ts";
import {
  PRIVATE_KEYS,
  withPendingAssignment,
  withPendingCompletion,
  withReopened,
} from "./pending-notifications.ts";
import { reviewerOf, type TaskFields, withFields } from "./task-fields.ts";
import { assertAllowed, isReviewersReopening, type TaskUpdate } from "./task-rules.ts";
import {
  changeTask,
  createTask,
  deleteTask,
  findTask,
  getTask,
  isBlockedNow,
  type NewTask,
  ownerName,
  reserveTaskId,
} from "./tasks.ts";
import { assertNoOverlap, startAlone } from "./touches.ts";
import { unassignTasks } from "./unassign.ts";
import { confirmVerify, removeVerify } from "./verify-record.ts";

/** Hooks that run before a task is created or completed; an error refuses the change (protocol.md section 5, Hooks). */
export interface TaskHooks {
  readonly created?: ((task: TaskFacts) => Promise<void>) | undefined;
  readonly completed?: ((task: TaskFacts) => Promise<void>) | undefined;
  /** Runs the task's confirmed verify command; an error refuses the completion. */
  readonly verify?: ((task: Task) => Promise<void>) | undefined;
  /** A person decides, so a verify command of this change counts as confirmed. */
  readonly confirms?: boolean | undefined;
}

/** The task that a hook receives, with the requested values. */
type TaskFacts = Pick<Task, "id" | "subject" | "description">;

/**
 * Adds a task and notifies its owner, unless that is the actor.
 * @param actor name of the acting member
 * @throws TeamError AGENT_NOT_FOUND for the owner and the reviewer, TASK_NOT_FOUND for a blocker, INVALID_INPUT for a pattern, and
 *   errors of the hooks; nothing is added in that case
 */
export async function addTask(
  ref: TeamRef,
  actor: string,
  input: NewTask,
  clock: Clock = systemClock,
  hooks?: TaskHooks,
): Promise<Task> {
  const owner = input.owner ? findMember(readTeam(ref), input.owner).name : undefined;
  const fields = parsedFields(ref, input);
  const { owner: _given, metadata, ...rest } = { ...input, ...fields };
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
  if (fields.verify && hooks?.confirms) await confirmVerify(ref, task.id, fields.verify, clock.now());
  return notifyPending(ref, await withPresentOwner(ref, task, owner), clock);
}

/**
 * Unassigns a task whose new owner has left the team since it was checked, for example while a hook ran: the end of that member
 * unassigned its tasks before this one was among them, and no other member could claim it.
 * @param owner undefined or empty if the change sets no owner
 */
async function withPresentOwner(ref: TeamRef, task: Task, owner: string | undefined): Promise<Task> {
  const hasLeft = (name: string): boolean => lookUpMember(readTeam(ref), name) === undefined;
  if (!owner || !hasLeft(owner)) return task;
  const ended = { name: owner, tasks: [task.id] };
  const [unassigned = task] = await unassignTasks(ref, ended, () => hasLeft(owner));
  return unassigned;
}

/** @throws TeamError AGENT_NOT_FOUND for the reviewer, INVALID_INPUT for a pattern */
function parsedFields(ref: TeamRef, { verify, reviewer, touches }: TaskFields): TaskFields {
  return defined({
    verify: verify?.trim(),
    reviewer: reviewer ? findMember(readTeam(ref), reviewer).name : reviewer,
    touches: touches && parseTouches(touches),
  });
}

/** Reserves an id, and runs the hook for the task before it exists, after all other checks. @returns the reserved id */
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
 * Changes a task and notifies the members concerned: a new owner; on completion the lead; on completion or deletion each owner
 * whose task it unblocks.
 * @returns the task as it is afterwards; undefined if it was deleted
 * @throws TeamError TASK_NOT_FOUND, TASK_CLAIMED, TASK_BLOCKED, TASK_RESOLVED, TASK_CONFLICT, CYCLE, AGENT_NOT_FOUND,
 *   INVALID_INPUT, and errors of the hooks; nothing is changed in that case. VERIFY_FAILED: the task is not completed
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
  const fields = parsedFields(ref, update);
  const wanted = { ...update, ...(owner === undefined ? {} : { owner }), ...fields };
  const before = getTask(ref, id);
  assertAllowed(before, actor, wanted, get);
  assertRemovable(before, update);
  if (update.status === "completed" && before.status !== "completed") {
    const { subject = before.subject, description = before.description } = update;
    await hooks?.completed?.({ id, subject, description });
  }
  if (update.status === "completed") await hooks?.verify?.(before);
  if (update.status === "deleted") {
    await removeTask(ref, actor, id, (current) => assertAllowed(current, actor, wanted, get), clock);
    return undefined;
  }
  const change = (current: Task): Task => {
    assertAllowed(current, actor, wanted, get);
    const next = applied(ref, current, actor, wanted);
    const isStarted = next.status === "in_progress" && current.status !== "in_progress";
    if (isStarted || (next.status === "in_progress" && fields.touches !== undefined))
      assertNoOverlap(ref, next);
    return withNotifications(current, next, actor);
  };
  const { addBlocks = [], addBlockedBy = [], removeBlockedBy = [] } = update;
  const wasBlocked = isBlockedNow(ref, before);
  if (addBlocks.length + addBlockedBy.length + removeBlockedBy.length > 0) {
    // Check the change with the new links before any link is changed: it may be refused.
    const linked = [...before.blockedBy, ...addBlockedBy];
    change({ ...before, blockedBy: linked.filter((other) => !removeBlockedBy.includes(other)) });
    await linkTasks(ref, { id, addBlocks, addBlockedBy, removeBlockedBy });
  }
  const planned = applied(ref, before, actor, wanted);
  const task = await startAlone(ref, planned, () => changeTask(ref, id, change, { actor }));
  await changeConfirmed(ref, id, fields.verify, { at: clock.now(), confirms: hooks?.confirms === true });
  if (task.status !== "completed") await lowerClaimCursor(ref, id);
  const isUnblocked = removeBlockedBy.length > 0 && wasBlocked;
  const [unblocked = task] = isUnblocked ? await recordUnblocked(ref, [id], actor) : [];
  return notifyPending(ref, await withPresentOwner(ref, unblocked, owner), clock);
}

/** Deletes a task with its verify command, and notifies the owners whose tasks waited only for it. */
async function removeTask(
  ref: TeamRef,
  actor: string,
  id: string,
  assertMay: (task: Task) => void,
  clock: Clock,
): Promise<void> {
  const { status, blocks } = await deleteTask(ref, id, assertMay, { actor });
  await removeVerify(ref, id);
  // A completed task blocked none of them.
  const unblocked = status === "completed" ? [] : await recordUnblocked(ref, blocks, actor);
  for (const task of unblocked) await notifyPending(ref, task, clock);
}

/** Only a person confirms or removes a verify command. A model's command stays a proposal in the task's file. */
async function changeConfirmed(
  ref: TeamRef,
  id: string,
  verify: string | undefined,
  { at, confirms }: { readonly at: number; readonly confirms: boolean },
): Promise<void> {
  if (verify === undefined || !confirms) return;
  await (verify === "" ? removeVerify(ref, id) : confirmVerify(ref, id, verify, at));
}

/** Returns the task with the update applied. */
function applied(ref: TeamRef, task: Task, actor: string, update: TaskUpdate): Task {
  const { subject = task.subject, description = task.description, activeForm = task.activeForm } = update;
  const owner = nextOwner(task, actor, update);
  const { owner: _owner, activeForm: _form, ...rest } = task;
  const next: Task = {
    ...rest,
    subject,
    description,
    ...(activeForm ? { activeForm } : {}),
    status: nextStatus(task, update),
    ...(owner === undefined ? {} : { owner }),
  };
  const merged =
    update.metadata === undefined ? task.metadata : mergedMetadata(task.metadata, update.metadata);
  const metadata = withFields(merged, update);
  if (metadata !== task.metadata) next.metadata = metadata;
  return withCurrentLease(ref, task, next, actor);
}

/** Adds the pending notifications that follow from a change. */
function withNotifications(before: Task, next: Task, actor: string): Task {
  const owner = ownerName(next);
  const isNewOwner = owner !== undefined && owner !== actor && owner !== ownerName(before);
  const task = isNewOwner ? withPendingAssignment(next, owner, actor) : next;
  if (before.status === next.status) return task;
  if (next.status === "completed") return withPendingCompletion(task, actor);
  if (before.status !== "completed") return task;
  const isReturned = owner !== undefined && owner !== actor && reviewerOf(before) === actor;
  return withReopened(isReturned ? withPendingAssignment(task, owner, actor) : task);
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
function nextOwner(task: Task, actor: string, update: TaskUpdate): string | undefined {
  const { owner, status } = update;
  if (owner !== undefined) return owner === "" ? undefined : owner;
  const holder = ownerName(task);
  if (status !== "in_progress" || task.status === "in_progress") return holder;
  const keepsOwner = actor === LEAD_NAME || isReviewersReopening(task, actor, update);
  return keepsOwner ? (holder ?? actor) : actor;
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
