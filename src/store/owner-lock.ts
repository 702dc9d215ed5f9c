import { TeamError } from "../errors.ts";
import { afterIfRunning, pause, steadyNow, systemClock } from "../os/clock.ts";
import { entryOf, removeFile } from "../os/files/fs.ts";
import {
  type LockDirectory,
  lockDirectoryId,
  removeLockDirectory,
  takeLockDirectory,
} from "../os/files/lock-directory.ts";
import { isLockDirectoryOurs, STALE_MS } from "../os/files/lock-state.ts";
import { createRecordLink, readRecordLink } from "../os/files/symlinks.ts";
import { type Liveness, ownIdentity, partsOfPidSpace, startTimeOf } from "../os/process/identity.ts";
import { sha256 } from "../protocol/sha256.ts";

/**
 * The holder of a lock. Its record is one line of fewer than 60 characters, which a file system keeps inside the link: the
 * pid, short hashes of the rest of the process's identity, and a word for what it holds.
 */
interface Owner {
  readonly pid: number;
  readonly start: string;
  readonly host: string;
  readonly space: string;
  readonly boot: string;
  readonly word: string;
}

let self: Omit<Owner, "word"> | undefined;
let records = 0;

/** Returns a record of this process. @param word has no dots; the default distinguishes it from every other record of this process */
export function ownerRecord(word: string = nextWord()): string {
  const { pid, start, host, space, boot } = ownOwner();
  return [pid, start, host, space, boot, word].join(".");
}

function nextWord(): string {
  records += 1;
  return records.toString(36);
}

/** Parses a record; undefined if it has another format. */
export function ownerOf(record: string): Owner | undefined {
  const [pid = "", start, host, space, boot, word] = record.split(".");
  if (!/^[1-9][0-9]*$/.test(pid) || !start || !host || !space || !boot || !word) return undefined;
  return { pid: Number(pid), start, host, space, boot, word };
}

/** Returns whether the process that wrote a record still runs; `unknown` if that cannot be judged from here. */
export function ownerLiveness(record: string): Liveness {
  const owner = ownerOf(record);
  const own = ownOwner();
  if (owner === undefined) return "unknown";
  // The host name counts only if the boot differs: the same boot is the same machine, whatever its name was.
  if (owner.boot !== own.boot) return owner.host === own.host ? "dead" : "unknown";
  if (owner.space !== own.space) return "unknown";
  const start = startTimeOf(owner.pid);
  return start !== undefined && tag(start) === owner.start ? "alive" : "dead";
}

function ownOwner(): Omit<Owner, "word"> {
  if (self !== undefined) return self;
  const { pid, procStart, pidSpace = "", bootId = "" } = ownIdentity();
  const { host, namespace } = partsOfPidSpace(pidSpace);
  self = { pid, start: tag(procStart), host: tag(host), space: tag(namespace), boot: tag(bootId) };
  return self;
}

/** Cached hashes; a process that waits in a queue judges the same holders again and again. */
const tags = new Map<string, string>();
const MAX_TAGS = 1_000;

/** Hashes to 36 bits, enough to distinguish one boot, host or start from another. */
function tag(text: string): string {
  const known = tags.get(text);
  if (known !== undefined) return known;
  if (tags.size >= MAX_TAGS) tags.clear();
  const hash = Buffer.from(sha256(text), "hex").toString("base64url").slice(0, 6);
  tags.set(text, hash);
  return hash;
}

/** A held lock file: a link whose text is its owner's record. */
export interface OwnerLock {
  readonly record: string;
  owned(): boolean;
  release(): void;
}

/**
 * Prepares to take the lock file at `path`. An attempt takes it at once if it is free or its owner is dead, and after 10 s if
 * its owner cannot be judged from here (another machine, another container).
 * @returns a function that makes one attempt, and returns undefined while another process holds the lock. An attempt that meets a
 *   different owner than the previous one only reads the link: under load owners follow one another.
 */
export function seekOwnerLock(path: string): () => OwnerLock | undefined {
  let before: string | undefined;
  return () => {
    const seen = readRecordLink(path);
    if (seen === undefined) return newOwnerLock(path);
    const isSuccessor = before !== undefined && before !== seen;
    before = seen;
    return isSuccessor || !hasExpired(path, seen) ? undefined : inherit(path, seen);
  };
}

/** Takes over under the lock `<path>~`: otherwise two processes that replace one dead owner could remove each other's new lock. */
function inherit(path: string, seen: string): OwnerLock | undefined {
  const takeover = seekOwnerLock(`${path}~`)();
  if (takeover === undefined) return undefined;
  try {
    if (readRecordLink(path) === seen) removeFile(path);
  } finally {
    takeover.release();
  }
  return newOwnerLock(path);
}

function newOwnerLock(path: string): OwnerLock | undefined {
  const record = ownerRecord();
  return createRecordLink(path, record) ? ownerLock(path, record) : undefined;
}

function hasExpired(path: string, record: string): boolean {
  const liveness = ownerLiveness(record);
  if (liveness !== "unknown") return liveness === "dead";
  const entry = entryOf(path);
  return entry !== undefined && Number(entry.mtimeMs) < systemClock.now() - STALE_MS;
}

function ownerLock(path: string, record: string): OwnerLock {
  const owned = (): boolean => readRecordLink(path) === record;
  return {
    record,
    owned,
    release: () =>
      releaseEventually(() => {
        if (owned()) removeFile(path);
      }),
  };
}

/** First and maximum delay until a failed release is tried again, in milliseconds. */
const RELEASE_RETRY = { first: 50, max: 1_000 };

/**
 * Releases a lock. If that fails, for example while the disk is read-only, this process tries again until it succeeds: otherwise it
 * would hold the lock for the rest of its life.
 * @throws the error of the first attempt
 */
function releaseEventually(release: () => void, waitMs: number = RELEASE_RETRY.first): void {
  try {
    release();
  } catch (error) {
    const again = (): void => {
      try {
        releaseEventually(release, Math.min(2 * waitMs, RELEASE_RETRY.max));
      } catch {
        // The next attempt is scheduled; the caller of the first one has reported the error.
      }
    };
    // If this process ends meanwhile, its locks count as free.
    afterIfRunning(waitMs, again);
    throw error;
  }
}

/**
 * Takes the lock directory `<path>.lock`, and records in `<path>.lock.owner` which directory it is and which process holds
 * it. Only the holder of the queue lock calls this and changes that record. So a lock without a record is a foreign writer's.
 * @returns undefined while the lock is held: by a foreign writer until 10 s without an update, by one of our processes while it lives
 */
export function takeOwnedDirectory(path: string): LockDirectory | undefined {
  const ownerPath = `${path}.lock.owner`;
  if (clearDeadHolder(path, ownerPath)) return undefined;
  const directory = takeLockDirectory(path);
  if (directory === undefined) return undefined;
  const record = ownerRecord(directory.id);
  try {
    if (!createRecordLink(ownerPath, record)) {
      // Left by a holder that cannot be judged from here and whose lock was stale.
      removeFile(ownerPath);
      createRecordLink(ownerPath, record);
    }
  } catch (error) {
    directory.release();
    throw error;
  }
  return {
    ...directory,
    release: () =>
      releaseEventually(() => {
        try {
          // The record first: it must never be there with a lock that another process has taken since.
          if (readRecordLink(ownerPath) === record) removeFile(ownerPath);
        } finally {
          directory.release();
        }
      }),
  };
}

/**
 * Removes the record and the directory of a dead process, however fresh. A directory with our mode but without a record is
 * removed too: its creator held the queue lock before this process, and died before it wrote the record.
 * @returns whether one of our processes is alive and holds the lock. A slow holder keeps the directory, however old, even if it lost
 *   its queue lock (by the clock, or by hand).
 */
function clearDeadHolder(path: string, ownerPath: string): boolean {
  const record = readRecordLink(ownerPath);
  if (record === undefined) {
    if (isLockDirectoryOurs(path)) removeLockDirectory(path);
    return false;
  }
  const liveness = ownerLiveness(record);
  // The mode counts too: a file system may give a new directory the inode of the last one, and its time within one tick.
  const isItsLock = isLockDirectoryOurs(path) && lockDirectoryId(path) === ownerOf(record)?.word;
  if (isItsLock && liveness !== "dead") return liveness === "alive";
  if (isItsLock) removeLockDirectory(path);
  removeFile(ownerPath);
  return false;
}

/**
 * While holders change, a process waits up to this many times as long, since no holder hangs. Which waiter is next is
 * random: of 64 processes that never pause, the unluckiest in 32,000 turns lets 300 to 600 others go first.
 * So the wait suffices unless a change takes 100 ms.
 */
const MAX_WAITS = 4;
/** Milliseconds of waiting after which a process tries twice as often as at first, then three times, and so on. */
const AGE_MS = 2_000;
/** Maximum milliseconds that count for one pause: after a longer one, this process was stopped or slow, and not the holder. */
const MAX_PAUSE_MS = 1_000;

/** How long a process waits for the locks of one file. */
export interface LockWait {
  /** The file that is locked. */
  readonly path: string;
  /** Milliseconds to wait while one holder keeps the lock, and {@link MAX_WAITS} times that in all. */
  readonly waitMs: number;
  /** Returns a number from 0 up to 1; spreads the retries. */
  readonly random: () => number;
  /** Milliseconds of a steady clock. */
  readonly now?: () => number;
}

/** One lock to wait for. */
export interface WantedLock<T> {
  /** Tries once. @returns undefined while another process holds the lock */
  readonly take: () => T | undefined;
  /** Returns a text that differs each time the lock is taken. */
  readonly holder: () => string | undefined;
  /** The path of the holder's record, if the holder is one of our processes. */
  readonly record: string;
  /** Milliseconds between two attempts: at least `min`, and up to `spread` more. */
  readonly retry: { readonly min: number; readonly spread: number };
}

/**
 * Retries until the lock is taken.
 * @returns the lock, and the number of attempts
 * @throws TeamError LOCK_TIMEOUT
 */
export async function awaitLock<T>(
  { path, waitMs, random, now = steadyNow }: LockWait,
  { take, holder, record, retry }: WantedLock<T>,
): Promise<{ readonly taken: T; readonly attempts: number }> {
  let last = 0;
  let waited = 0;
  let waits = 1;
  let held: string | undefined;
  for (let attempts = 1; ; attempts += 1) {
    const taken = take();
    if (taken !== undefined) return { taken, attempts };
    const at = now();
    if (attempts === 1) held = holder();
    else waited += Math.min(at - last, MAX_PAUSE_MS);
    last = at;
    if (waited >= waits * waitMs) {
      const before = held;
      held = holder();
      if (held === before || waits === MAX_WAITS) {
        throw timedOut(path, waited, ownerOf(readRecordLink(record) ?? "")?.pid);
      }
      waits += 1;
    }
    // Tries more often with age: otherwise the unluckiest of many would wait much longer than all others.
    const age = 1 + waited / AGE_MS;
    await pause(retry.min + (random() * retry.spread) / age);
  }
}

function timedOut(path: string, waited: number, pid: number | undefined): TeamError {
  const [by, when] = pid === undefined ? ["another program", "after 10 s"] : [`process ${pid}`, "at once"];
  return new TeamError(
    "LOCK_TIMEOUT",
    `${path} was locked for ${Math.round(waited / 1000)} s by ${by}; nothing was changed.`,
    { hint: `Try again. If the holder hangs, end it: its lock is then free ${when}.` },
  );
}
