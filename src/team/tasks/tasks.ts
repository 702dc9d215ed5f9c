import { TeamError } from "../../errors.ts";
import { replaceFile } from "../../os/files/atomic-write.ts";
import { entryOf, readText, removeFile } from "../../os/files/fs.ts";
import { ownSecrets, redactValue } from "../../os/redact.ts";
import { defined } from "../../schema/defined.ts";
import { splitAddress } from "../../schema/names.ts";
import { isPlainTask, type Task, taskNumbered, withNumber } from "../../schema/task.ts";
import { formatJson } from "../../store/format-json.ts";
import { jsonUpdate, readJsonFile } from "../../store/json-file.ts";
import type { Held, LockOptions } from "../../store/lock.ts";
import { recordEvent } from "../../telemetry/event-log.ts";
import { assertTeam, changeInTeam, lockInTeam } from "../config/team-lock.ts";
import { currentEventSubject } from "../members/members.ts";
import { readCached, type TeamRef } from "../ref.ts";
import { changeLinks, finishLinkChange, type TaskFiles } from "./dependency-journal.ts";
import { withPendingAssignment } from "./pending-notifications.ts";
import { highestTaskId, raiseWatermark, taskIds } from "./task-ids.ts";

export interface NewTask {
  readonly subject: string;
  readonly description?: string;
  readonly activeForm?: string;
  readonly owner?: string;
  /** Who gives it to its owner: noted in it until that one is told. */
  readonly assignedBy?: string;
  /** Tasks that are there; both ends are linked. */
  readonly blockedBy?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/**
 * Adds a task under the next id that was never used.
 * @param reserved the id, if {@link reserveTaskId} gave one for it
 * @throws TeamError TASK_NOT_FOUND when a task that it waits for is not there; then nothing was added
 */
export async function createTask(ref: TeamRef, input: NewTask, reserved?: string): Promise<Task> {
  const created = await lockTasks(ref, async (held) => {
    const blockedBy = [...new Set(input.blockedBy ?? [])];
    for (const blocker of blockedBy) getTask(ref, blocker);
    const id = reserved ?? String(highestTaskId(ref) + 1);
    const task = newTask(id, input, blockedBy);
    const write = (): void =>
      replaceFile(ref.paths.task(id), formatJson(task), { beforeRename: () => held.assertOwned() });
    if (blockedBy.length === 0) write();
    else await changeLinks(ref, { created: id }, taskFiles(ref), write);
    return task;
  });
  recordTask(ref, "created", created);
  return created;
}

/** @param before as a change found it */
function recordTask(ref: TeamRef, what: "created" | "changed" | "deleted", task: Task, before?: Task): void {
  const owner = ownerName(task);
  const whose = owner ?? (before && ownerName(before));
  recordEvent(ref, {
    type: "task",
    what,
    ...currentEventSubject(ref, whose),
    taskId: task.id,
    status: task.status,
    owner,
    ...(before && { statusBefore: before.status, ownerBefore: ownerName(before) }),
  });
}

/** Takes the next id for a task that may come to be, or not: nobody else is given it. */
export function reserveTaskId(ref: TeamRef): Promise<string> {
  return lockTasks(ref, (held) => {
    const id = String(highestTaskId(ref) + 1);
    raiseWatermark(ref, id, held);
    return id;
  });
}

function newTask(id: string, input: NewTask, blockedBy: string[]): Task {
  const { owner, assignedBy } = input;
  const task: Task = {
    id,
    subject: input.subject,
    description: input.description ?? "",
    ...(input.activeForm === undefined ? {} : { activeForm: input.activeForm }),
    status: "pending",
    blocks: [],
    blockedBy,
    ...(owner === undefined ? {} : { owner }),
    ...(Object.keys(input.metadata ?? {}).length === 0 ? {} : { metadata: { ...input.metadata } }),
  };
  const isGiven = owner !== undefined && assignedBy !== undefined && owner !== assignedBy;
  return withoutSecrets(isGiven ? withPendingAssignment(task, owner, assignedBy) : task);
}

/** With none in what somebody has written into it; what it holds for us alone tells of processes. */
function withoutSecrets(task: Task): Task {
  const { subject, description, activeForm, metadata } = task;
  const said = Object.entries(metadata ?? {}).filter(([key]) => !key.startsWith("_"));
  const words = defined({ subject, description, activeForm });
  const secrets = ownSecrets();
  return {
    ...task,
    ...redactValue(words, secrets),
    ...(metadata && { metadata: { ...metadata, ...redactValue(Object.fromEntries(said), secrets) } }),
  };
}

/**
 * @throws TeamError TASK_NOT_FOUND, CORRUPT_FILE, TEAM_NOT_FOUND
 */
export function getTask(ref: TeamRef, id: string): Task {
  const task = findTask(ref, id);
  if (task !== undefined) return task;
  assertTeam(ref);
  throw taskNotFound(ref, id);
}

/** The same, undefined when there is none. */
export function findTask(ref: TeamRef, id: string): Task | undefined {
  return readJsonFile(ref.paths.task(id), taskNumbered(id));
}

/** Hears of a task whose file cannot be read. */
type OnProblem = (error: TeamError, id: string) => void;

/**
 * All tasks by their number, without internal ones. A file that cannot be read is left out and told to `onFlaw`.
 * @throws TeamError TEAM_NOT_FOUND
 */
export function listTasks(ref: TeamRef, onFlaw?: OnProblem): Task[] {
  assertTeam(ref);
  return readTasks(ref, onFlaw).filter((task) => !task.metadata?._internal);
}

/** The same with internal ones. */
export function readTasks(ref: TeamRef, onFlaw?: OnProblem): Task[] {
  return taskIds(ref).flatMap((id) => readableTask(ref, id, onFlaw) ?? []);
}

/** One of them; undefined when it is not there, or cannot be read. */
export function readableTask(ref: TeamRef, id: string, onFlaw?: OnProblem): Task | undefined {
  return (
    readCached(ref, ref.paths.task(id), () => plainTask(ref, id)) ??
    skipCorrupt(
      () => findTask(ref, id),
      (error) => onFlaw?.(error, id),
    )
  );
}

/** A task that needs no leniency; undefined when it has to be read by the schema, which also says what is wrong with it. */
function plainTask(ref: TeamRef, id: string): Task | undefined {
  try {
    const value: unknown = JSON.parse(readText(ref.paths.task(id)) ?? "");
    return isPlainTask(value) ? withNumber(value, id) : undefined;
  } catch {
    return undefined;
  }
}

function skipCorrupt<T>(read: () => T, onFlaw: (error: TeamError) => void): T | undefined {
  try {
    return read();
  } catch (error) {
    // One bad file never hides the others; whoever repairs asks to be told.
    if (!(error instanceof TeamError) || error.code !== "CORRUPT_FILE") throw error;
    onFlaw(error);
    return undefined;
  }
}

/**
 * Changes one task under its lock.
 * @param change gets the newest content, may run more than once; undefined means no change
 * @returns what the file holds now
 * @throws TeamError TASK_NOT_FOUND, and what `change` throws
 */
export async function changeTask(
  ref: TeamRef,
  id: string,
  change: (task: Task) => Task | undefined,
  options: LockOptions = {},
): Promise<Task> {
  getTask(ref, id);
  const path = ref.paths.task(id);
  const missing = (): TeamError => taskNotFound(ref, id);
  let before: Task | undefined;
  const noting = (task: Task): Task | undefined => {
    before = task;
    const next = change(task);
    return next && withoutSecrets(next);
  };
  const plan = jsonUpdate({ path, schema: taskNumbered(id), missing, change: noting });
  const after = await changeInTeam(ref, path, plan, options);
  // What was only noted in it (a lease, a link, who was told) is no event.
  if (before !== undefined && (before.status !== after.status || ownerName(before) !== ownerName(after)))
    recordTask(ref, "changed", after, before);
  return after;
}

/** How a change of links reaches the tasks' files. */
export function taskFiles(ref: TeamRef): TaskFiles {
  return {
    isThere: (id) => entryOf(ref.paths.task(id)) !== undefined,
    read: (id) => readableTask(ref, id),
    change: (id, change) => changeTask(ref, id, change),
  };
}

/**
 * Removes a task: its id is never used again, and leaves the lists of the others.
 * @param assertMay gets the newest content under the task's lock, where nobody can claim it meanwhile
 * @throws TeamError TASK_NOT_FOUND, and what `assertMay` throws; then the task is there as before
 */
export async function deleteTask(
  ref: TeamRef,
  id: string,
  assertMay: (task: Task) => void = () => undefined,
): Promise<void> {
  const deleted = await lockTasks(ref, async (held) => {
    const task = getTask(ref, id);
    const { blocks, blockedBy } = task;
    const namedBy = [...new Set([...blocks, ...blockedBy])];
    await changeLinks(ref, { deleted: id, namedBy }, taskFiles(ref), async () => {
      raiseWatermark(ref, id, held);
      await lockInTeam(ref, ref.paths.task(id), (own) => {
        assertMay(getTask(ref, id));
        own.assertOwned();
        removeFile(ref.paths.task(id));
      });
    });
    return task;
  });
  recordTask(ref, "deleted", deleted);
}

/** Whether some task that it waits for is not completed; one that was deleted blocks nobody. */
export function isBlocked(task: Task, get: (id: string) => Task | undefined): boolean {
  return task.blockedBy.some((id) => {
    const blocker = get(id);
    return blocker !== undefined && blocker.status !== "completed";
  });
}

/** The same by the files as they are now; a task that cannot be read may not be completed, so that it blocks. */
export function isBlockedNow(ref: TeamRef, task: Task): boolean {
  let isUnsure = false;
  const get = (id: string): Task | undefined =>
    readableTask(ref, id, () => {
      isUnsure = true;
    });
  return isBlocked(task, get) || isUnsure;
}

/** The owner's name; a peer may have written an agent id. */
export function ownerName(task: Task): string | undefined {
  return task.owner === undefined || task.owner === "" ? undefined : splitAddress(task.owner).name;
}

/** The team's lock over its tasks: to create, delete, link, and to claim when the claimer must not be busy. */
export function lockTasks<T>(ref: TeamRef, work: (held: Held) => T | Promise<T>): Promise<T> {
  return lockInTeam(ref, ref.paths.taskLock, async (held) => {
    await finishLinkChange(ref, taskFiles(ref));
    return work(held);
  });
}

function taskNotFound(ref: TeamRef, id: string): TeamError {
  return new TeamError("TASK_NOT_FOUND", `There is no task ${JSON.stringify(id)} in ${ref.team}.`, {
    hint: "teams task list shows them.",
    details: { reason: "task_not_found", taskId: id },
  });
}
