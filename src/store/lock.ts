import { TeamError } from "../errors.ts";
import { pause, steadyNow } from "../os/clock.ts";
import { removeFile } from "../os/fs.ts";
import { createRecordLink, readRecordLink } from "../os/links.ts";
import { breakSharedLock, lockDirectoryId, type SharedLock, takeSharedLock } from "../os/shared-lock.ts";
import { ownerLiveness, ownerOf, ownerRecord, takeOwnerLock } from "./lock-owner.ts";

/** Longer than the 10 s after which a stale lock is taken away (product.md, Commands). */
const WAIT_MS = 15_000;
/** A foreign writer may rob a holder that was stopped for 10 s; that it happens to one change this often is no accident. */
const MAX_ROBBED = 5;
/** Between two tries, in milliseconds: short, because a lock is held for a few, and uneven, so that waiters part. */
const RETRY_MS = { least: 1, spread: 29 };

/** A lock while it is held. */
export interface Held {
  /**
   * To be called right before a change becomes visible (the rename).
   * @throws LockLost when the lock was taken from us meanwhile; `withLock` then does the work again.
   */
  assertOwned(): void;
}

export interface LockOptions {
  /** Milliseconds to wait for the lock, 15 s by default. */
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
 * file need not exist, its directory must.
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
  return inTurn(path, () => lockedRun(path, work, options));
}

async function lockedRun<T>(
  path: string,
  work: (held: Held) => T | Promise<T>,
  { waitMs = WAIT_MS, random = Math.random }: LockOptions,
): Promise<T> {
  const waiting = { deadline: steadyNow() + waitMs, waitMs, random };
  for (let robbed = 0; ; robbed += 1) {
    const lock = await acquire(path, waiting);
    try {
      return await work(lock);
    } catch (error) {
      if (!(error instanceof LockLost)) throw error;
      if (robbed >= MAX_ROBBED) throw robbedTooOften(path);
    } finally {
      lock.release();
    }
  }
}

interface Waiting {
  readonly deadline: number;
  readonly waitMs: number;
  readonly random: () => number;
}

async function acquire(path: string, waiting: Waiting): Promise<Held & { release(): void }> {
  const queue = await whenFree(path, waiting, () => takeOwnerLock(`${path}.q`));
  try {
    const shared = await whenFree(path, waiting, () => takeShared(path));
    return {
      assertOwned: () => {
        if (!queue.owned() || !shared.owned()) throw new LockLost(`The lock of ${path} was taken away.`);
      },
      release: () => {
        try {
          shared.release();
        } finally {
          // Or nobody of ours would come to this path before the end of this process.
          queue.release();
        }
      },
    };
  } catch (error) {
    queue.release();
    throw error;
  }
}

/** Takes the directory lock, with our record beside it: which directory it is, and whose. Only the holder of the queue lock touches that record. */
function takeShared(path: string): SharedLock | undefined {
  const beside = `${path}.lock.owner`;
  freeDeadHolder(path, beside);
  const shared = takeSharedLock(path);
  if (shared === undefined) return undefined;
  createRecordLink(beside, ownerRecord(shared.id));
  return {
    ...shared,
    release: () => {
      shared.release();
      removeFile(beside);
    },
  };
}

/** A process of ours that died as the holder left its record: its directory, and no other, is removed without waiting. */
function freeDeadHolder(path: string, beside: string): void {
  const left = readRecordLink(beside);
  if (left === undefined) return;
  const isDead = ownerLiveness(left) === "dead";
  if (isDead && lockDirectoryId(path) === ownerOf(left)?.word) breakSharedLock(path);
  removeFile(beside);
}

async function whenFree<T>(path: string, waiting: Waiting, take: () => T | undefined): Promise<T> {
  for (;;) {
    const taken = take();
    if (taken !== undefined) return taken;
    if (steadyNow() >= waiting.deadline) throw timedOut(path, waiting.waitMs);
    await pause(RETRY_MS.least + waiting.random() * RETRY_MS.spread);
  }
}

const turns = new Map<string, Promise<unknown>>();

/** One after the other for each path, in the order of the calls, so that the messages of one sender keep theirs. */
function inTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
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

function timedOut(path: string, waitMs: number): TeamError {
  const holder = ownerOf(readRecordLink(`${path}.q`) ?? "")?.pid;
  const who = holder === undefined ? "another program" : `process ${holder}`;
  return new TeamError(
    "LOCK_TIMEOUT",
    `${path} was locked for ${Math.round(waitMs / 1000)} s by ${who}; nothing was changed.`,
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
