import { messageOf, TeamError } from "../errors.ts";
import { pause, steadyNow } from "../os/clock.ts";
import { lockDirectoryId } from "../os/files/lock-directory.ts";
import { readRecordLink } from "../os/files/symlink-record.ts";
import { type OwnerLock, ownerOf, seekOwnerLock } from "./owner-lock.ts";
import { takeShared } from "./shared-lock.ts";

/** Longer than the 10 s after which a stale lock is taken away (product.md, Commands). */
const WAIT_MS = 15_000;
/**
 * Who waits while the lock goes from hand to hand waits up to so many times as long, since nobody hangs. Who is next is a
 * lottery: of 64 that never pause the unluckiest in 32,000 turns lets some 300 to 600 others go first. So it ends well unless
 * a change takes 100 ms.
 */
const MAX_WAITS = 4;
/** A foreign writer may rob a holder that was stopped for 10 s; that it happens to one change this often is no accident. */
const MAX_ROBBED = 5;
/**
 * Between two tries, in milliseconds: short, because a lock is held for a few, and uneven, so that waiters part. Many wait
 * in our queue, but only its one holder for the shared lock, and all others for that one.
 */
const QUEUE_RETRY = { least: 1, spread: 29 };
const SHARED_RETRY = { least: 1, spread: 2 };
/** Milliseconds of waiting after which one tries twice as often as at first, then three times, and so on. */
const AGE_MS = 2_000;

/**
 * A foreign writer tries eleven times within some 680 ms, at most 100 ms apart, and then loses its message (interop.md).
 * Where ours queue up, each leaves the shared lock free for four times as long as it holds it, so that a fifth of those tries
 * fails, and all eleven of them once in fifty million messages. Half of that was too little where everybody is kept waiting
 * for a processor: foreign writers hold it long then, and keep it from each other as well. No more is needed than the longest
 * time between two tries, and what is left to wait for in less than `least` milliseconds a timer would only make longer.
 */
const FREE = { share: 4, most: 100, least: 0.25 };

/** A lock while it is held. */
export interface Held {
  /**
   * To be called right before a change becomes visible (the rename).
   * @throws LockLost when the lock was taken from us meanwhile; the work is then done again.
   */
  assertOwned(): void;
}

export interface LockOptions {
  /** Milliseconds to wait while one holder keeps the lock, 15 s by default, and {@link MAX_WAITS} times that in all. */
  readonly waitMs?: number;
  readonly random?: () => number;
}

/** The lock was taken from a holder that was stopped for too long; nothing was changed by it. */
class LockLost extends Error {
  override readonly name = "LockLost";
}

/**
 * Runs `work` while holding the lock of `path`: a private queue lock `<path>.q` first, so that foreign writers meet one of
 * us at most, then the directory `<path>.lock` that they know. Calls of one process for one path run in their order. The
 * file need not exist, its directory must. To change one file alone, `changeFile` holds the shared lock for less.
 *
 * `work` is run again from its start when the lock was lost before its change: it reads everything anew, and takes
 * milliseconds. It must not lock the same path.
 * @throws TeamError LOCK_TIMEOUT; nothing was done then
 */
export function withLock<T>(
  path: string,
  work: (held: Held) => T | Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  return inQueue(path, (turn) => turn.holdShared(work), options);
}

/** What the one of ours may do whose turn it is. */
export interface LockTurn {
  /**
   * Runs `work` under the shared lock too, which it gives back afterwards.
   * @throws TeamError LOCK_TIMEOUT, or PERMISSION_DENIED when the work is done and the lock cannot be given back
   */
  holdShared<T>(work: (held: Held) => T | Promise<T>): Promise<T>;
}

/**
 * Runs `work` when it is our turn among all processes of ours, which foreign writers do not notice. It is run again from
 * its start when the lock was lost.
 */
export function inQueue<T>(
  path: string,
  work: (turn: LockTurn) => Promise<T>,
  { waitMs = WAIT_MS, random = Math.random }: LockOptions = {},
): Promise<T> {
  const waiting: Waiting = { path, waitMs, random };
  return inOrder(path, async () => {
    for (let robbed = 0; ; robbed += 1) {
      try {
        return await oneTurn(waiting, work);
      } catch (error) {
        if (!(error instanceof LockLost)) throw error;
        if (robbed >= MAX_ROBBED) throw robbedTooOften(path);
      }
    }
  });
}

interface Waiting {
  readonly path: string;
  readonly waitMs: number;
  readonly random: () => number;
}

async function oneTurn<T>(waiting: Waiting, work: (turn: LockTurn) => Promise<T>): Promise<T> {
  const { path } = waiting;
  const { taken: lock, tries } = await whenFree(waiting, {
    take: seekOwnerLock(`${path}.q`),
    holder: () => readRecordLink(`${path}.q`),
    record: `${path}.q`,
    retry: QUEUE_RETRY,
  });
  const queue = { lock, since: steadyNow(), isBusy: tries > 1 };
  try {
    return await work({ holdShared: (inner) => holdShared(waiting, queue, inner) });
  } finally {
    lock.release();
  }
}

interface Queue {
  readonly lock: OwnerLock;
  /** When it was taken, by the steady clock; the shared lock was free to others from then on. */
  readonly since: number;
  /** Whether others of ours were before us, and so are behind us. */
  readonly isBusy: boolean;
}

async function holdShared<T>(
  waiting: Waiting,
  queue: Queue,
  work: (held: Held) => T | Promise<T>,
): Promise<T> {
  const { path } = waiting;
  const { taken: shared } = await whenFree(waiting, {
    take: () => takeShared(path),
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
    releaseLock(path, isDone, shared.release);
    if (queue.isBusy) await leaveFree(steadyNow() - since, since - queue.since);
  }
}

/** @param heldMs how long the shared lock was held @param freeMs how long it was free before, in the same turn */
async function leaveFree(heldMs: number, freeMs: number): Promise<void> {
  const rest = Math.min(FREE.share * heldMs, FREE.most) - freeMs;
  if (rest > FREE.least) await pause(rest);
}

function releaseLock(path: string, isDone: boolean, release: () => void): void {
  try {
    release();
  } catch (error) {
    // What the work threw is the cause, and goes on to the caller.
    if (isDone) throw notGivenBack(path, error);
  }
}

interface Wanted<T> {
  readonly take: () => T | undefined;
  /** Tells one taking by somebody else from the next. */
  readonly holder: () => string | undefined;
  /** Where a holder of ours leaves its record. */
  readonly record: string;
  readonly retry: { readonly least: number; readonly spread: number };
}

async function whenFree<T>(
  { path, waitMs, random }: Waiting,
  { take, holder, record, retry }: Wanted<T>,
): Promise<{ readonly taken: T; readonly tries: number }> {
  const since = steadyNow();
  let waits = 1;
  let held: string | undefined;
  for (let tries = 1; ; tries += 1) {
    const taken = take();
    if (taken !== undefined) return { taken, tries };
    if (tries === 1) held = holder();
    const waited = steadyNow() - since;
    if (waited >= waits * waitMs) {
      const before = held;
      held = holder();
      if (held === before || waits === MAX_WAITS) {
        throw timedOut(path, waited, ownerOf(readRecordLink(record) ?? "")?.pid);
      }
      waits += 1;
    }
    // The longer one has waited the oftener it tries, or the unlucky among many would wait much longer than all others.
    const age = 1 + waited / AGE_MS;
    await pause(retry.least + (random() * retry.spread) / age);
  }
}

const turns = new Map<string, Promise<unknown>>();

/** One after the other for each path, in the order of the calls, so that the messages of one sender keep theirs. */
function inOrder<T>(path: string, work: () => Promise<T>): Promise<T> {
  const before = turns.get(path) ?? Promise.resolve();
  const mine = before.then(work);
  const settled = mine.then(
    () => undefined,
    // The failure is the caller's, who has `mine`; the next in line only waits for the end.
    () => undefined,
  );
  turns.set(path, settled);
  void settled.then(() => {
    if (turns.get(path) === settled) turns.delete(path);
  });
  return mine;
}

function timedOut(path: string, waited: number, holder: number | undefined): TeamError {
  const who = holder === undefined ? "another program" : `process ${holder}`;
  return new TeamError(
    "LOCK_TIMEOUT",
    `${path} was locked for ${Math.round(waited / 1000)} s by ${who}; nothing was changed.`,
    { hint: "Try again; if that process hangs, end it, and its lock is free at once." },
  );
}

function robbedTooOften(path: string): TeamError {
  return new TeamError(
    "LOCK_TIMEOUT",
    `The lock of ${path} was taken away ${MAX_ROBBED} times; nothing was changed.`,
    { hint: "Is this machine out of memory or its clock being set? Try again when it answers." },
  );
}

function notGivenBack(path: string, error: unknown): TeamError {
  return new TeamError(
    "PERMISSION_DENIED",
    `${path} was changed as asked, but its lock could not be given back (${messageOf(error)}).`,
    { hint: `Look at ${path}.lock: an empty directory, to be removed when nobody holds it.`, cause: error },
  );
}
