import { TeamError } from "../../errors.ts";
import type { Task } from "../../schema/task.ts";
import type { LockOptions } from "../../store/lock.ts";
import type { TeamRef } from "../ref.ts";
import { claimCursor, raiseClaimCursor } from "./claim-cursor.ts";
import { withLease } from "./lease.ts";
import { touchesOf } from "./task-fields.ts";
import { taskIds } from "./task-ids.ts";
import { agentBusy, assertClaimable, assertNotStarted, isClaimableBy } from "./task-rules.ts";
import {
  changeTask,
  findTask,
  getTask,
  isBlockedNow,
  listTasks,
  lockTasks,
  ownerName,
  readableTask,
} from "./tasks.ts";

interface ClaimOptions {
  /** Refuses the claim if the claimer has an unfinished task. */
  readonly exclusive?: boolean;
}

/**
 * Claims and starts a task: the given one, or the lowest free one.
 * @throws TeamError TASK_NOT_FOUND (also if none is free), TASK_CLAIMED, TASK_BLOCKED, TASK_RESOLVED, TASK_CONFLICT, AGENT_BUSY
 */
export function claimTask(
  ref: TeamRef,
  actor: string,
  id: string | undefined,
  options: ClaimOptions = {},
): Promise<Task> {
  const claim = (isLocked = false): Promise<Task> =>
    id === undefined ? claimLowest(ref, actor, isLocked) : claimOne(ref, actor, id, { isLocked });
  if (!options.exclusive) return claim();
  return lockTasks(ref, () => {
    const busyWith = listTasks(ref)
      .filter((task) => task.id !== id && task.status !== "completed" && ownerName(task) === actor)
      .map((task) => task.id);
    if (busyWith.length > 0) throw agentBusy(actor, busyWith);
    return claim(true);
  });
}

interface ClaimOneOptions extends LockOptions {
  /** Refuses a task that the claimer has already started. */
  readonly isNew?: boolean | undefined;
  /** The caller holds the team's task lock. */
  readonly isLocked?: boolean | undefined;
}

async function claimOne(
  ref: TeamRef,
  actor: string,
  id: string,
  { isNew, isLocked, ...options }: ClaimOneOptions = {},
): Promise<Task> {
  // Most tasks reserve no files: do not load the code that compares patterns to claim such a task.
  const isReserving = touchesOf(getTask(ref, id)).length > 0;
  const { assertNoOverlap } = isReserving ? await import("./touches.ts") : NO_PATTERNS;
  let hasNewPatterns = false;
  const claim = (task: Task): Task | undefined => {
    // Another process may have started it under the same name since it was listed.
    if (isNew) assertNotStarted(task, actor);
    assertClaimable(task, actor, (other) => findTask(ref, other));
    hasNewPatterns = !isReserving && touchesOf(task).length > 0;
    if (hasNewPatterns) return undefined;
    if (task.status !== "in_progress" || ownerName(task) !== actor) assertNoOverlap(ref, task);
    return withLease(ref, { ...task, owner: actor, status: "in_progress" }, actor);
  };
  const change = (): Promise<Task> => changeTask(ref, id, claim, { ...options, actor });
  // As one step, so that two tasks that touch the same files cannot start at once.
  const claimed = await (isReserving && !isLocked ? lockTasks(ref, change) : change());
  return hasNewPatterns ? claimOne(ref, actor, id, { isNew, isLocked, ...options }) : claimed;
}

const NO_PATTERNS: Pick<typeof import("./touches.ts"), "assertNoOverlap"> = {
  assertNoOverlap: () => undefined,
};

async function claimLowest(ref: TeamRef, actor: string, isLocked: boolean): Promise<Task> {
  const held: string[] = [];
  for await (const task of openTasks(ref)) {
    if (task.metadata?._internal || !isClaimableBy(task, actor)) continue;
    if (task.status === "pending" && isBlockedNow(ref, task)) continue;
    // A locked task is probably being claimed: skip it, so concurrent claimers take one task each without waiting.
    const claimed = await unlessNotFree(
      claimOne(ref, actor, task.id, { isNew: true, isLocked, waitMs: 0 }),
      () => held.push(task.id),
    );
    if (claimed !== undefined) return claimed;
  }
  for (const id of held) {
    const claimed = await unlessNotFree(claimOne(ref, actor, id, { isNew: true, isLocked }));
    if (claimed !== undefined) return claimed;
  }
  throw new TeamError("TASK_NOT_FOUND", "No task is free; nothing was claimed.", {
    hint: "teams task list shows the owner and the blockers of each task.",
    details: { reason: "task_not_found" },
  });
}

/** Returns the claimed task; undefined if it is not free, since the next one may be. */
async function unlessNotFree(claim: Promise<Task>, onHeld?: () => void): Promise<Task | undefined> {
  try {
    return await claim;
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    if (error.code === "LOCK_TIMEOUT" && onHeld !== undefined) onHeld();
    else if (!NOT_FREE.has(error.code)) throw error;
    return undefined;
  }
}

/** After this many missing ids in a row, listing the directory is cheaper than trying more ids. */
const MAX_MISSING = 16;

/**
 * Yields the unfinished tasks: first by ascending id from the claim cursor, reading one at a time, since an early one is
 * often free; then all others. Unreadable files are skipped.
 */
async function* openTasks(ref: TeamRef): AsyncGenerator<Task> {
  const read = (id: number): Task | undefined => readableTask(ref, String(id));
  const tried = new Set<string>();
  let doneBelow: number | undefined = claimCursor(ref);
  for (let id = doneBelow, missing = 0; missing < MAX_MISSING; id += 1) {
    tried.add(String(id));
    const task = read(id);
    missing = task === undefined ? missing + 1 : 0;
    if (task === undefined) continue;
    if (task.status === "completed") {
      if (doneBelow !== undefined) doneBelow = id + 1;
      continue;
    }
    if (doneBelow !== undefined) await raiseClaimCursor(ref, doneBelow, read);
    doneBelow = undefined;
    yield task;
  }
  if (doneBelow !== undefined) await raiseClaimCursor(ref, doneBelow, read);
  for (const id of taskIds(ref)) {
    const task = tried.has(id) ? undefined : readableTask(ref, id);
    if (task !== undefined && task.status !== "completed") yield task;
  }
}

const NOT_FREE: ReadonlySet<string> = new Set([
  "TASK_CLAIMED",
  "TASK_BLOCKED",
  "TASK_RESOLVED",
  "TASK_CONFLICT",
  "TASK_NOT_FOUND",
]);
