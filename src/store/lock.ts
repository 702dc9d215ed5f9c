import { messageOf, TeamError } from "../errors.ts";
import { pause, steadyNow } from "../os/clock.ts";
import { lockDirectoryId } from "../os/files/lock-directory.ts";
import { readRecordLink } from "../os/files/symlinks.ts";
import { awaitLock, type LockWait, type OwnerLock, seekOwnerLock, takeOwnedDirectory } from "./owner-lock.ts";

// How a file is locked, from the outside in; this file has the steps in this order:
//   1. work: `withLock` runs any work; `updateFile` (update-file.ts) replaces one file
//   2. queue: `inQueue` lets in one of our calls at a time, in order within a process, by `<path>.q` between processes
//   3. shared lock: `holdShared` takes the directory `<path>.lock`, which foreign writers take too
// Details: update-file.ts, group-commit.ts (changes that waiting processes hand over), owner-lock.ts (retries, the two locks,
// and which process holds them), os/files/lock-directory.ts.

/** Longer than the 10 s after which a stale lock is removed (product.md, Commands). */
const WAIT_MS = 15_000;
/** A foreign writer may take the lock of a holder that was stopped for 10 s. If it happens repeatedly for one change, it is not an accident. */
const MAX_LOST = 5;
/**
 * Milliseconds between two attempts: short, because a lock is held for a few, and uneven, so that waiting processes do not
 * retry in step. Many processes wait in our queue, but only its one holder for the shared lock.
 */
const QUEUE_RETRY = { min: 1, spread: 29 };
const SHARED_RETRY = { min: 1, spread: 2 };
/**
 * The pause that leaves the shared lock free after each of our turns: `share` times the hold time, at most `max` ms. A
 * foreign writer tries eleven times within some 680 ms, at most 100 ms apart, and then loses its message (interop.md). With
 * a share of 4 a fifth of its attempts fails, and all eleven once in fifty million messages. A share of 2 was too little on an
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
export class LockLost extends Error {
  override readonly name = "LockLost";
}

/**
 * Runs `work` while holding the lock of `path`. The file need not exist, but its directory must. To replace one file,
 * `updateFile` holds the shared lock for a shorter time.
 * @param work takes milliseconds and must not lock the same path. It runs again from its start, and must read everything
 *   again, if the lock was lost before its change.
 * @throws TeamError LOCK_TIMEOUT, nothing was done then; PERMISSION_DENIED if the work is done, but a lock cannot be released
 */
export function withLock<T>(
  path: string,
  work: (held: Held) => T | Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  return inQueue(path, (turn) => turn.holdShared(work), options);
}

/** A turn in our queue, which foreign writers do not notice. */
export interface LockTurn {
  /**
   * Runs `work` under the shared lock too, and releases that lock afterwards.
   * @throws TeamError LOCK_TIMEOUT; PERMISSION_DENIED if the work is done, but the lock cannot be released
   */
  holdShared<T>(work: (held: Held) => T | Promise<T>): Promise<T>;
  /** Notes that more processes wait, so this turn ends with a pause for foreign writers. */
  noteWaiting(): void;
}

interface QueueOptions<T> extends LockOptions {
  /** Called after each failed attempt; a result ends the wait: another process has done the work. */
  readonly instead?: (() => { readonly value: T } | undefined) | undefined;
}

/**
 * Runs `work` in a turn of our queue; again from its start if the lock was lost.
 * @throws TeamError LOCK_TIMEOUT; PERMISSION_DENIED if the work is done, but the lock of the queue cannot be released
 */
export function inQueue<T>(
  path: string,
  work: (turn: LockTurn) => Promise<T>,
  { waitMs = WAIT_MS, random = Math.random, instead }: QueueOptions<T> = {},
): Promise<T> {
  const wait: LockWait = { path, waitMs, random };
  return inOrder(path, async () => {
    for (let lost = 0; ; lost += 1) {
      try {
        return await oneTurn(wait, work, instead);
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
  /** More processes probably wait after this one. */
  isBusy: boolean;
  /** Milliseconds for which this turn has held the shared lock. */
  heldMs: number;
}

async function oneTurn<T>(
  wait: LockWait,
  work: (turn: LockTurn) => Promise<T>,
  instead: QueueOptions<T>["instead"],
): Promise<T> {
  const record = `${wait.path}.q`;
  const seek = seekOwnerLock(record);
  const take = (): { readonly lock: OwnerLock } | { readonly value: T } | undefined => {
    const lock = seek();
    return lock === undefined ? instead?.() : { lock };
  };
  const { taken, attempts } = await awaitLock(wait, {
    take,
    holder: () => readRecordLink(record),
    record,
    retry: QUEUE_RETRY,
  });
  if (!("lock" in taken)) return taken.value;
  const { lock } = taken;
  const queue: Queue = { lock, since: steadyNow(), isBusy: attempts > 1, heldMs: 0 };
  let isDone = false;
  try {
    const value = await work({
      holdShared: (inner) => holdShared(wait, queue, inner),
      noteWaiting: () => {
        queue.isBusy = true;
      },
    });
    isDone = true;
    return value;
  } finally {
    // At the end of the turn, because the time after its last hold counts as free too.
    if (queue.isBusy) await leaveFree(queue);
    releaseLock(wait.path, isDone, record, lock);
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
    if (!queue.lock.owned() || !shared.owned()) throw new LockLost(`The lock of ${path} was lost.`);
  };
  let isDone = false;
  try {
    const result = work({ assertOwned });
    const value = result instanceof Promise ? await result : result;
    isDone = true;
    return value;
  } finally {
    releaseLock(path, isDone, `${path}.lock`, shared);
    queue.heldMs += steadyNow() - since;
  }
}

/** Pauses until the shared lock was free for long enough in this turn. */
async function leaveFree({ heldMs, since }: Queue): Promise<void> {
  const freeMs = steadyNow() - since - heldMs;
  const rest = Math.min(FREE.share * heldMs, FREE.max) - freeMs;
  if (rest > FREE.min) await pause(rest);
}

function releaseLock(path: string, isDone: boolean, entry: string, lock: Pick<OwnerLock, "release">): void {
  try {
    lock.release();
  } catch (error) {
    // If the work threw, the caller gets that error: it is the cause.
    if (isDone) throw notReleased(path, entry, error);
  }
}

function lostTooOften(path: string): TeamError {
  return new TeamError(
    "LOCK_TIMEOUT",
    `The lock of ${path} was lost more than ${MAX_LOST} times in a row; nothing was changed.`,
    { hint: "The machine may be out of memory, or its clock may have changed. Try again later." },
  );
}

function notReleased(path: string, entry: string, error: unknown): TeamError {
  return new TeamError(
    "PERMISSION_DENIED",
    `${path} was updated, but its lock could not be released (${messageOf(error)}).`,
    { hint: `Remove ${entry} when no program holds it.`, cause: error },
  );
}
