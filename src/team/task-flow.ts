import { TeamError } from "../errors.ts";
import { type Clock, systemClock } from "../os/clock.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { Task } from "../schema/task.ts";
import type { LockOptions } from "../store/lock.ts";
import { readTeam } from "./config.ts";
import { findMember } from "./members.ts";
import { lowerOpenFrom, openFrom, raiseOpenFrom } from "./open-from.ts";
import type { TeamRef } from "./ref.ts";
import type { TaskGate } from "./task-gate.ts";
import { taskIds } from "./task-ids.ts";
import { leaseLapsed, withLease, withoutLease } from "./task-lease.ts";
import { linkTasks } from "./task-links.ts";
import { OWN_KEYS, withAssignment, withCompletion, withReopened } from "./task-news.ts";
import { agentBusy, assertAllowed, assertClaimable, type TaskUpdate } from "./task-rules.ts";
import { tellNews } from "./task-tell.ts";
import {
  changeTask,
  createTask,
  deleteTask,
  findTask,
  getTask,
  isBlockedNow,
  listTasks,
  lockTasks,
  type NewTask,
  ownerOf,
  readableTask,
  reserveTaskId,
} from "./tasks.ts";

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
  gate?: TaskGate,
): Promise<Task> {
  const owner = input.owner ? findMember(readTeam(ref), input.owner).name : undefined;
  const { owner: _given, metadata, ...rest } = input;
  const reserved = gate?.created === undefined ? undefined : await admitted(ref, input, gate.created);
  const task = await createTask(
    ref,
    {
      ...rest,
      ...(owner === undefined ? {} : { owner, assignedBy: actor }),
      ...(metadata === undefined ? {} : { metadata: merged(undefined, metadata) }),
    },
    reserved,
  );
  return tellNews(ref, task, clock);
}

/** Asks for a task that nobody can see yet; what else would refuse it is looked at before. @returns its id */
async function admitted(
  ref: TeamRef,
  { subject, description = "", blockedBy = [] }: NewTask,
  created: NonNullable<TaskGate["created"]>,
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
  gate?: TaskGate,
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
    return noted(current, applied(ref, current, actor, wanted), actor);
  });
  if (task.status !== "completed") await lowerOpenFrom(ref, id);
  return tellNews(ref, task, clock);
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
    ...(update.metadata === undefined ? {} : { metadata: merged(task.metadata, update.metadata) }),
  };
  return leased(ref, task, next, actor);
}

/** The change together with what is to be told of it. */
function noted(before: Task, next: Task, actor: string): Task {
  const owner = ownerOf(next);
  const isOthers = owner !== undefined && owner !== actor && owner !== ownerOf(before);
  const told = isOthers ? withAssignment(next, owner, actor) : next;
  if (before.status === next.status) return told;
  if (next.status === "completed") return withCompletion(told, actor);
  return before.status === "completed" ? withReopened(told) : told;
}

/** What nobody has or is done carries no lease; a new claim, and the owner's own change, get the owner's of now. */
function leased(ref: TeamRef, before: Task, next: Task, actor: string): Task {
  const owner = ownerOf(next);
  if (owner === undefined || next.status === "completed") return withoutLease(next);
  const isSame = owner === ownerOf(before) && next.status === before.status && owner !== actor;
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
  const holder = ownerOf(task);
  if (status !== "in_progress" || task.status === "in_progress") return holder;
  return actor === LEAD_NAME ? (holder ?? actor) : actor;
}

function merged(
  current: Readonly<Record<string, unknown>> | undefined,
  change: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  // A lease comes from the owner's status, the marks of what was told from who told it; nobody sets them by hand.
  const given = Object.entries(change).filter(([key]) => !OWN_KEYS.has(key));
  const all = Object.entries({ ...current, ...Object.fromEntries(given) });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

export interface ClaimOptions {
  /** Refuse when the claimer has something unfinished. */
  readonly exclusive?: boolean;
}

/**
 * Claims a task and starts it: the given one, or the lowest that is free.
 * @throws TeamError TASK_NOT_FOUND (also when none is free), TASK_CLAIMED, TASK_BLOCKED, TASK_RESOLVED, AGENT_BUSY
 */
export function claimTask(
  ref: TeamRef,
  actor: string,
  id: string | undefined,
  options: ClaimOptions = {},
): Promise<Task> {
  const claim = (): Promise<Task> => (id === undefined ? claimLowest(ref, actor) : claimOne(ref, actor, id));
  if (!options.exclusive) return claim();
  return lockTasks(ref, () => {
    const busyWith = listTasks(ref)
      .filter((task) => task.id !== id && task.status !== "completed" && ownerOf(task) === actor)
      .map((task) => task.id);
    if (busyWith.length > 0) throw agentBusy(actor, busyWith);
    return claim();
  });
}

function claimOne(ref: TeamRef, actor: string, id: string, options: LockOptions = {}): Promise<Task> {
  const claim = (task: Task): Task => {
    assertClaimable(task, actor, (other) => findTask(ref, other));
    return withLease(ref, { ...task, owner: actor, status: "in_progress" }, actor);
  };
  return changeTask(ref, id, claim, options);
}

async function claimLowest(ref: TeamRef, actor: string): Promise<Task> {
  const held: string[] = [];
  for await (const task of openTasks(ref)) {
    if (task.metadata?._internal || !isOpenTo(task, actor)) continue;
    if (task.status === "pending" && isBlockedNow(ref, task)) continue;
    // What somebody is changing right now is being claimed: many that claim at once take one each, and wait for none.
    const claimed = await unlessTaken(claimOne(ref, actor, task.id, { waitMs: 0 }), () => held.push(task.id));
    if (claimed !== undefined) return claimed;
  }
  for (const id of held) {
    const claimed = await unlessTaken(claimOne(ref, actor, id));
    if (claimed !== undefined) return claimed;
  }
  throw new TeamError("TASK_NOT_FOUND", "No task is free; nothing was claimed.", {
    hint: "teams task list shows who works on what, and what waits.",
    details: { reason: "task_not_found" },
  });
}

/** What a claim gave; undefined when the task is somebody else's, or not ready: the next one may be free. */
async function unlessTaken(claim: Promise<Task>, onHeld?: () => void): Promise<Task | undefined> {
  try {
    return await claim;
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    if (error.code === "LOCK_TIMEOUT" && onHeld !== undefined) onHeld();
    else if (!NOT_FREE.has(error.code)) throw error;
    return undefined;
  }
}

/** So many ids in a row that are not there mean that there are no more, or that it is better to look what is. */
const MOST_MISSING = 16;

/**
 * The unfinished tasks, lowest id first: from the mark on one by one, so that nothing else is read where one of the first
 * is free; then all that were not among them. A file that cannot be read hides no other.
 */
async function* openTasks(ref: TeamRef): AsyncGenerator<Task> {
  const read = (id: number): Task | undefined => readableTask(ref, String(id));
  const looked = new Set<string>();
  let doneBelow: number | undefined = openFrom(ref);
  for (let id = doneBelow, missing = 0; missing < MOST_MISSING; id += 1) {
    looked.add(String(id));
    const task = read(id);
    missing = task === undefined ? missing + 1 : 0;
    if (task === undefined) continue;
    if (task.status === "completed") {
      if (doneBelow !== undefined) doneBelow = id + 1;
      continue;
    }
    if (doneBelow !== undefined) await raiseOpenFrom(ref, doneBelow, read);
    doneBelow = undefined;
    yield task;
  }
  if (doneBelow !== undefined) await raiseOpenFrom(ref, doneBelow, read);
  for (const id of taskIds(ref)) {
    const task = looked.has(id) ? undefined : readableTask(ref, id);
    if (task !== undefined && task.status !== "completed") yield task;
  }
}

/** Nobody's, the actor's own that is not begun, or a dead agent's. */
function isOpenTo(task: Task, actor: string): boolean {
  if (task.status === "completed") return false;
  const holder = ownerOf(task);
  return holder === undefined || (holder === actor ? task.status === "pending" : leaseLapsed(task));
}

const NOT_FREE: ReadonlySet<string> = new Set([
  "TASK_CLAIMED",
  "TASK_BLOCKED",
  "TASK_RESOLVED",
  "TASK_NOT_FOUND",
]);
