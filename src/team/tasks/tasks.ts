import { TeamError } from "../../errors.ts";
import { formatJson, replaceFile } from "../../os/files/atomic-write.ts";
import { entryOf, readText, removeFile } from "../../os/files/fs.ts";
import { ownSecrets, redactValue } from "../../os/redact.ts";
import { defined } from "../../schema/defined.ts";
import { isPlainTask, taskForm } from "../../schema/guards/task.ts";
import { splitAddress } from "../../schema/names.ts";
import type { Task } from "../../schema/task.ts";
import { jsonUpdate, readJsonFile } from "../../store/json-file.ts";
import type { Held, LockOptions } from "../../store/lock.ts";
import { recordEvent } from "../../telemetry/event-log.ts";
import { wellFormed } from "../../text/characters/well-formed.ts";
import { assertTeam, updateTeamFile } from "../config/team-lock.ts";
import { currentEventSubject } from "../members/members.ts";
import { readCached, type TeamRef } from "../ref.ts";
import { changeLinks, finishLinkChange, type TaskFiles } from "./dependency-journal.ts";
import { withPendingAssignment } from "./pending-notifications.ts";
import { type TaskFields, withFields } from "./task-fields.ts";
import { nextTaskId, raiseWatermark, taskIds } from "./task-ids.ts";

export interface NewTask extends TaskFields {
  readonly subject: string;
  readonly description?: string;
  readonly activeForm?: string;
  readonly owner?: string;
  /** The member that assigns it; kept in the task until its owner is notified. */
  readonly assignedBy?: string;
  /** Ids of existing tasks; both ends are linked. */
  readonly blockedBy?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/**
 * Adds a task under the next unused id.
 * @throws TeamError TASK_NOT_FOUND if a blocker does not exist, and errors of `assertMay`; nothing is added in that case
 */
export async function createTask(
  ref: TeamRef,
  input: NewTask,
  { reserved, assertMay, actor }: NewTaskOptions = {},
): Promise<Task> {
  const created = await lockTasks(ref, async (held) => {
    assertMay?.();
    const blockedBy = [...new Set(input.blockedBy ?? [])];
    for (const blocker of blockedBy) getTask(ref, blocker);
    const id = nextTaskId(ref, reserved);
    const task = newTask(id, input, blockedBy);
    const write = (): void =>
      replaceFile(ref.paths.task(id), formatJson(task), { beforeRename: () => held.assertOwned() });
    if (blockedBy.length === 0) write();
    else await changeLinks(ref, { created: id }, taskFiles(ref), write);
    return task;
  });
  recordTask(ref, "created", created, { actor });
  return created;
}

interface Actor {
  /** The member that acts on a task, and is the subject of the event; undefined if teams itself acts. */
  readonly actor?: string | undefined;
}

interface NewTaskOptions extends Actor {
  /** Its id, if {@link reserveTaskId} has returned one. If the file of that id exists by now, the task gets the next id. */
  readonly reserved?: string | undefined;
  /** Called under the tasks' lock: no other process adds a task meanwhile. */
  readonly assertMay?: () => void;
}

/** @param context the task before a change, and who changed it */
function recordTask(
  ref: TeamRef,
  what: "created" | "changed" | "deleted",
  task: Task,
  { before, actor }: { readonly before?: Task } & Actor,
): void {
  recordEvent(ref, {
    type: "task",
    what,
    ...currentEventSubject(ref, actor),
    taskId: task.id,
    status: task.status,
    owner: ownerName(task),
    ...(before && { statusBefore: before.status, ownerBefore: ownerName(before) }),
  });
}

/** Reserves the next id for a task that may not be created in the end. No other task gets this id. */
export function reserveTaskId(ref: TeamRef): Promise<string> {
  return lockTasks(ref, (held) => {
    const id = nextTaskId(ref);
    raiseWatermark(ref, id, held);
    return id;
  });
}

function newTask(id: string, input: NewTask, blockedBy: string[]): Task {
  const { owner, assignedBy } = input;
  const metadata = withFields(input.metadata, input);
  const task: Task = {
    id,
    subject: input.subject,
    description: input.description ?? "",
    ...(input.activeForm === undefined ? {} : { activeForm: input.activeForm }),
    status: "pending",
    blocks: [],
    blockedBy,
    ...(owner === undefined ? {} : { owner }),
    ...(metadata === undefined ? {} : { metadata }),
  };
  const isAssignedByOther = owner !== undefined && assignedBy !== undefined && owner !== assignedBy;
  return withoutSecrets(isAssignedByOther ? withPendingAssignment(task, owner, assignedBy) : task);
}

/**
 * Redacts secrets in texts and metadata, except in our own keys, which only identify processes and messages. The texts are well formed,
 * because models of other programs also read them.
 */
function withoutSecrets(task: Task): Task {
  const { subject, description, activeForm, metadata } = task;
  const userEntries = Object.entries(metadata ?? {}).filter(([key]) => !key.startsWith("_"));
  const texts = defined({ subject, description, activeForm });
  const secrets = ownSecrets();
  return wellFormed({
    ...task,
    ...redactValue(texts, secrets),
    ...(metadata && { metadata: { ...metadata, ...redactValue(Object.fromEntries(userEntries), secrets) } }),
  });
}

/** Returns a task. @throws TeamError TASK_NOT_FOUND, CORRUPT_FILE, TEAM_NOT_FOUND */
export function getTask(ref: TeamRef, id: string): Task {
  const task = findTask(ref, id);
  if (task !== undefined) return task;
  assertTeam(ref);
  throw taskNotFound(ref, id);
}

/** Returns a task; undefined if it is missing. @throws TeamError CORRUPT_FILE */
export function findTask(ref: TeamRef, id: string): Task | undefined {
  return readJsonFile(ref.paths.task(id), taskForm(id));
}

/** Called for each task whose file cannot be read. */
type OnProblem = (error: TeamError, id: string) => void;

/**
 * Returns all tasks except internal ones, by ascending id. Unreadable files are left out and reported to `onProblem`.
 * @throws TeamError TEAM_NOT_FOUND
 */
export function listTasks(ref: TeamRef, onProblem?: OnProblem): Task[] {
  assertTeam(ref);
  return readTasks(ref, onProblem).filter((task) => !task.metadata?._internal);
}

/** Returns all tasks like {@link listTasks}, including internal ones. */
export function readTasks(ref: TeamRef, onProblem?: OnProblem): Task[] {
  return taskIds(ref).flatMap((id) => readableTask(ref, id, onProblem) ?? []);
}

/** Returns one task; undefined if it is missing or unreadable. */
export function readableTask(ref: TeamRef, id: string, onProblem?: OnProblem): Task | undefined {
  const path = ref.paths.task(id);
  return (
    readCached(ref, path, () => plainTask(path, id)) ??
    skipCorrupt(
      () => findTask(ref, id),
      (error) => onProblem?.(error, id),
    )
  );
}

/** Reads a task without the schema, for speed; undefined if only the schema can read it, or report its problem. */
function plainTask(path: string, id: string): Task | undefined {
  try {
    const value: unknown = JSON.parse(readText(path) ?? "");
    return isPlainTask(value) && value.id === id ? value : undefined;
  } catch {
    return undefined;
  }
}

function skipCorrupt<T>(read: () => T, onProblem: (error: TeamError) => void): T | undefined {
  try {
    return read();
  } catch (error) {
    // One bad file must not hide the others; a repair passes a callback.
    if (!(error instanceof TeamError) || error.code !== "CORRUPT_FILE") throw error;
    onProblem(error);
    return undefined;
  }
}

/**
 * Changes one task under its lock.
 * @param change receives the newest content and may run more than once; it returns undefined for no change
 * @returns the task as it is in the file afterwards
 * @throws TeamError TASK_NOT_FOUND, and what `change` throws
 */
export async function changeTask(
  ref: TeamRef,
  id: string,
  change: (task: Task) => Task | undefined,
  { actor, ...options }: LockOptions & Actor = {},
): Promise<Task> {
  getTask(ref, id);
  const path = ref.paths.task(id);
  const missing = (): TeamError => taskNotFound(ref, id);
  let before: Task | undefined;
  const changeAndRemember = (task: Task): Task | undefined => {
    before = task;
    const next = change(task);
    return next && withoutSecrets(next);
  };
  const plan = jsonUpdate({ path, schema: taskForm(id), missing, change: changeAndRemember });
  const after = await updateTeamFile(ref, path, plan, options);
  // A change of a lease, a link or a notification mark is not an event.
  if (before !== undefined && (before.status !== after.status || ownerName(before) !== ownerName(after)))
    recordTask(ref, "changed", after, { before, actor });
  return after;
}

/** Returns access to the task files for a change of links. */
export function taskFiles(ref: TeamRef): TaskFiles {
  return {
    isThere: (id) => entryOf(ref.paths.task(id)) !== undefined,
    read: (id) => readableTask(ref, id),
    change: (id, change) => changeTask(ref, id, change),
  };
}

/**
 * Deletes a task and all links to it. Its id is never used again.
 * @param assertMay receives the newest content under the task's lock, so no process can claim it meanwhile
 * @returns the deleted task
 * @throws TeamError TASK_NOT_FOUND, and errors of `assertMay`; the task is unchanged in that case
 */
export async function deleteTask(
  ref: TeamRef,
  id: string,
  assertMay: (task: Task) => void = () => undefined,
  { actor }: Actor = {},
): Promise<Task> {
  const deleted = await lockTasks(ref, async (held) => {
    const task = getTask(ref, id);
    const { blocks, blockedBy } = task;
    const namedBy = [...new Set([...blocks, ...blockedBy])];
    await changeLinks(ref, { deleted: id, namedBy }, taskFiles(ref), async () => {
      raiseWatermark(ref, id, held);
      const whileLocked = (own: Held): void => {
        assertMay(getTask(ref, id));
        own.assertOwned();
        removeFile(ref.paths.task(id));
      };
      await updateTeamFile(ref, ref.paths.task(id), { whileLocked });
    });
    return task;
  });
  recordTask(ref, "deleted", deleted, { actor });
  return deleted;
}

/** True if a blocker of the task is not completed; a deleted blocker does not count. */
export function isBlocked(task: Task, get: (id: string) => Task | undefined): boolean {
  return task.blockedBy.some((id) => {
    const blocker = get(id);
    return blocker !== undefined && blocker.status !== "completed";
  });
}

/** Checks {@link isBlocked} in the files. An unreadable blocker may be incomplete, so it blocks. */
export function isBlockedNow(ref: TeamRef, task: Task): boolean {
  let isUnsure = false;
  const get = (id: string): Task | undefined =>
    readableTask(ref, id, () => {
      isUnsure = true;
    });
  return isBlocked(task, get) || isUnsure;
}

/** Returns the owner's name, even if another program wrote an agent id. */
export function ownerName(task: Task): string | undefined {
  return task.owner === undefined || task.owner === "" ? undefined : splitAddress(task.owner).name;
}

/** Runs `work` under the team's task lock: to create, delete or link tasks, and for exclusive claims. */
export function lockTasks<T>(ref: TeamRef, work: (held: Held) => T | Promise<T>): Promise<T> {
  const whileLocked = async (held: Held): Promise<T> => {
    await finishLinkChange(ref, taskFiles(ref));
    return work(held);
  };
  return updateTeamFile(ref, ref.paths.taskLock, { whileLocked });
}

function taskNotFound(ref: TeamRef, id: string): TeamError {
  return new TeamError("TASK_NOT_FOUND", `There is no task ${JSON.stringify(id)} in ${ref.team}.`, {
    hint: "teams task list shows all tasks.",
    details: { reason: "task_not_found", taskId: id },
  });
}
