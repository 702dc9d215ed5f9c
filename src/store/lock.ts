import { messageOf, TeamError } from "../errors.ts";
import { pause, steadyNow } from "../os/clock.ts";
import { type StagedFile, stageFile } from "../os/files/atomic-write.ts";
import { readText } from "../os/files/fs.ts";
import { type LockDirectory, lockDirectoryId } from "../os/files/lock-directory.ts";
import { readRecordLink } from "../os/files/symlinks.ts";
import { awaitLock, type LockWait, type OwnerLock, seekOwnerLock, takeOwnedDirectory } from "./owner-lock.ts";

// How a file is locked, from the outside in; this file has the steps in this order:
//   1. update: `updateFile` replaces one file, `withLock` runs any work
//   2. queue: `inQueue` lets in one of our calls at a time, in order within a process, by `<path>.q` between processes
//   3. shared lock: `holdShared` takes the directory `<path>.lock`, which foreign writers take too
// Details: owner-lock.ts (retries, the two locks, and which process holds them), os/files/lock-directory.ts.

/** Longer than the 10 s after which a stale lock is removed (product.md, Commands). */
const WAIT_MS = 15_000;
/** A foreign writer may take the lock of a holder that was stopped for 10 s. More often for one change is no accident. */
const MAX_LOST = 5;
/**
 * Milliseconds between two tries: short, because a lock is held for a few, and uneven, so that waiters part. Many processes
 * wait in our queue, but only its one holder for the shared lock.
 */
const QUEUE_RETRY = { min: 1, spread: 29 };
const SHARED_RETRY = { min: 1, spread: 2 };
/**
 * The pause that leaves the shared lock free after each of our turns: `share` times the hold time, at most `max` ms. A
 * foreign writer tries eleven times within some 680 ms, at most 100 ms apart, and then loses its message (interop.md). With
 * a share of 4 a fifth of its tries fails, and all eleven once in fifty million messages. A share of 2 was too little on an
 * overloaded machine, where foreign writers hold the lock long and keep it from each other as well. A pause below `min`
 * ms is skipped: a timer would only make it longer.
 */
const FREE = { share: 4, max: 100, min: 0.25 };

export interface LockOptions {
  /** Milliseconds to wait while one holder keeps the lock, 15 s by default; four times that while holders change. */
  readonly waitMs?: number;
  readonly random?: () => number;
}

/** A lock while it is held. */
export interface Held {
  /**
   * Call immediately before a change becomes visible (the rename).
   * @throws LockLost when another process has taken the lock; the work is then run again
   */
  assertOwned(): void;
}

/** A foreign writer took the lock from a holder that was stopped for too long. The holder changed nothing. */
class LockLost extends Error {
  override readonly name = "LockLost";
}

/** The new content of a file, and the result for the caller. */
export interface FileUpdate<T> {
  readonly value: T;
  /** Omitted: the file stays as it is. */
  readonly content?: string | undefined;
  /** Called once the content is in place, before the next of our processes has its turn. */
  readonly written?: (() => void) | undefined;
}

/**
 * Computes a file's update from its text, undefined if there is no such file.
 * @param isLocked false if a foreign writer may be in the middle of a write. An error is then ignored: the function is called
 *   again under the shared lock.
 */
export type Update<T> = (text: string | undefined, isLocked: boolean) => FileUpdate<T>;

/**
 * Replaces one file under its lock. Reading, computing and writing the new content to the disk take place in our queue
 * alone. The shared lock is then held for a tenth of a millisecond: to check that the file is unchanged, and to rename. So
 * foreign writers nearly always find the lock free, however many of our processes queue. If the file has changed, or the
 * update threw, everything is done once more under the shared lock.
 * @param update may run more than once, so it has no effect that must not be repeated
 * @throws TeamError LOCK_TIMEOUT, and what the update throws under the lock; the file is then unchanged
 */
export async function updateFile<T>(path: string, update: Update<T>, options: LockOptions = {}): Promise<T> {
  const { value, staged } = await inQueue(path, (turn) => updateInTurn(path, update, turn), options);
  staged?.settle();
  return value;
}

/**
 * Runs `work` while holding the lock of `path`. The file need not exist, its directory must. To replace one file,
 * {@link updateFile} holds the shared lock for a shorter time.
 * @param work takes milliseconds and must not lock the same path. It runs again from its start, and must read everything
 *   again, if the lock was lost before its change.
 * @throws TeamError LOCK_TIMEOUT; nothing was done then
 */
export function withLock<T>(
  path: string,
  work: (held: Held) => T | Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  return inQueue(path, (turn) => turn.holdShared(work), options);
}

interface Updated<T> {
  readonly value: T;
  /** Renamed already. Only the directory is still to be synced, for which no process needs to wait under a lock. */
  readonly staged?: StagedFile;
}

async function updateInTurn<T>(path: string, update: Update<T>, turn: LockTurn): Promise<Updated<T>> {
  const before = readText(path);
  const early = tryUpdate(update, before);
  if (early !== undefined) {
    // The text is compared: a change within one tick of the file system's clock shows in no time of a file.
    const replaceIfSame = (staged: StagedFile): Promise<boolean> =>
      turn.holdShared((held) => readText(path) === before && commit(staged, held));
    const updated = await replace(path, early, replaceIfSame);
    if (updated !== undefined) return updated;
  }
  const updated = await turn.holdShared((held) =>
    replace(path, update(readText(path), true), (staged) => commit(staged, held)),
  );
  return updated as Updated<T>;
}

function tryUpdate<T>(update: Update<T>, before: string | undefined): FileUpdate<T> | undefined {
  try {
    return update(before, false);
  } catch {
    // A foreign writer may be in the middle of a write. A real error occurs again under the lock.
    return undefined;
  }
}

/** @returns undefined if `commitStaged` returned false; nothing staged is left then */
async function replace<T>(
  path: string,
  { value, content, written }: FileUpdate<T>,
  commitStaged: (staged: StagedFile) => boolean | Promise<boolean>,
): Promise<Updated<T> | undefined> {
  if (content === undefined) return { value };
  const staged = stageFile(path, content);
  let isDone = false;
  try {
    isDone = await commitStaged(staged);
  } finally {
    if (!isDone) staged.discard();
  }
  if (!isDone) return undefined;
  try {
    written?.();
  } catch (error) {
    staged.settle();
    throw error;
  }
  return { value, staged };
}

function commit(staged: StagedFile, held: Held): true {
  held.assertOwned();
  staged.commit();
  return true;
}

/** A turn in our queue, which foreign writers do not notice. */
export interface LockTurn {
  /**
   * Runs `work` under the shared lock too, and releases that lock afterwards.
   * @throws TeamError LOCK_TIMEOUT; PERMISSION_DENIED when the work is done and the lock cannot be released
   */
  holdShared<T>(work: (held: Held) => T | Promise<T>): Promise<T>;
}

/** Runs `work` in a turn of our queue; again from its start if the lock was lost. */
export function inQueue<T>(
  path: string,
  work: (turn: LockTurn) => Promise<T>,
  { waitMs = WAIT_MS, random = Math.random }: LockOptions = {},
): Promise<T> {
  const wait: LockWait = { path, waitMs, random };
  return inOrder(path, async () => {
    for (let lost = 0; ; lost += 1) {
      try {
        return await oneTurn(wait, work);
      } catch (error) {
        if (!(error instanceof LockLost)) throw error;
        if (lost >= MAX_LOST) throw lostTooOften(path);
      }
    }
  });
}

const turns = new Map<string, Promise<unknown>>();

/** Runs the calls of this process for one path one after another, in their order: a sender's messages keep theirs. */
function inOrder<T>(path: string, work: () => Promise<T>): Promise<T> {
  const before = turns.get(path) ?? Promise.resolve();
  const mine = before.then(work);
  const settled = mine.then(
    () => undefined,
    // The caller handles the failure of `mine`; the next call only waits for its end.
    () => undefined,
  );
  turns.set(path, settled);
  void settled.then(() => {
    if (turns.get(path) === settled) turns.delete(path);
  });
  return mine;
}

interface Queue {
  readonly lock: OwnerLock;
  /** When it was taken, by the steady clock; the shared lock was free to others from then on. */
  readonly since: number;
  /** Whether this process had to wait in the queue; then more processes probably wait after it. */
  readonly isBusy: boolean;
}

async function oneTurn<T>(wait: LockWait, work: (turn: LockTurn) => Promise<T>): Promise<T> {
  const record = `${wait.path}.q`;
  const { taken: lock, tries } = await awaitLock(wait, {
    take: seekOwnerLock(record),
    holder: () => readRecordLink(record),
    record,
    retry: QUEUE_RETRY,
  });
  const queue: Queue = { lock, since: steadyNow(), isBusy: tries > 1 };
  try {
    return await work({ holdShared: (inner) => holdShared(wait, queue, inner) });
  } finally {
    lock.release();
  }
}

async function holdShared<T>(wait: LockWait, queue: Queue, work: (held: Held) => T | Promise<T>): Promise<T> {
  const { path } = wait;
  const { taken: shared } = await awaitLock(wait, {
    take: () => takeOwnedDirectory(path),
    holder: () => lockDirectoryId(path),
    record: `${path}.lock.owner`,
    retry: SHARED_RETRY,
  });
  const since = steadyNow();
  const assertOwned = (): void => {
    if (!queue.lock.owned() || !shared.owned()) throw new LockLost(`The lock of ${path} was taken away.`);
  };
  let isDone = false;
  try {
    const result = work({ assertOwned });
    const value = result instanceof Promise ? await result : result;
    isDone = true;
    return value;
  } finally {
    releaseLock(path, isDone, shared);
    if (queue.isBusy) await leaveFree(steadyNow() - since, since - queue.since);
  }
}

/** @param heldMs how long the shared lock was held @param freeMs how long it was free before, in the same turn */
async function leaveFree(heldMs: number, freeMs: number): Promise<void> {
  const rest = Math.min(FREE.share * heldMs, FREE.max) - freeMs;
  if (rest > FREE.min) await pause(rest);
}

function releaseLock(path: string, isDone: boolean, shared: LockDirectory): void {
  try {
    shared.release();
  } catch (error) {
    // If the work threw, the caller gets that error: it is the cause.
    if (isDone) throw notReleased(path, error);
  }
}

function lostTooOften(path: string): TeamError {
  return new TeamError(
    "LOCK_TIMEOUT",
    `Another program took the lock of ${path} away ${MAX_LOST} times; nothing was changed.`,
    { hint: "The machine may be out of memory, or its clock may have changed. Try again later." },
  );
}

function notReleased(path: string, error: unknown): TeamError {
  return new TeamError(
    "PERMISSION_DENIED",
    `${path} was updated, but its lock could not be released (${messageOf(error)}).`,
    { hint: `Remove the directory ${path}.lock when no program holds it.`, cause: error },
  );
}
