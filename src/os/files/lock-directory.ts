import { mkdirSync, rmdirSync, statSync, utimesSync } from "node:fs";
import { systemCode } from "../../errors.ts";
import { systemClock } from "../clock.ts";
import { isMissing } from "./fs.ts";

/** Milliseconds without a sign of life after which every peer takes a lock away (interop.md). */
export const STALE_MS = 10_000;
/** Milliseconds between two signs of life of a long holder: two before the lock is stale, as the package does. */
const FRESH_MS = STALE_MS / 2;

/**
 * The mode of our lock directories: from their first moment on it tells them from foreign ones, which are 0777 but for the
 * umask. Nothing is put into them.
 */
const OUR_MODE = 0o500;

/** The lock directory `<path>.lock`, as long as it is ours. */
export interface SharedLock {
  /** Tells this very directory from a later one of the same name. */
  readonly id: string;
  /** Whether it still is the one that we made. */
  owned(): boolean;
  /** Shows a sign of life every 5 s, for a holder that lets the event loop run. @returns ends it */
  keepFresh(): () => void;
  /** Gives it back; one that was taken from us stays with whoever has it. */
  release(): void;
}

/** Held by this process, and given back when it ends by itself in the middle of an asynchronous holder. */
const held = new Set<SharedLock>();
let givesBackAtExit = false;

/**
 * Takes the lock that the package `proper-lockfile` makes, which foreign writers take too: an empty directory, stale when
 * it was not touched for 10 s by the wall clock.
 * @returns undefined while somebody else holds it
 */
export function takeSharedLock(path: string): SharedLock | undefined {
  const directory = `${path}.lock`;
  if (!makeDirectory(directory) && !(removeStale(directory) && makeDirectory(directory))) return undefined;
  const id = lockDirectoryId(path) ?? "";
  const owned = (): boolean => id !== "" && lockDirectoryId(path) === id;
  const lock: SharedLock = {
    id,
    owned,
    keepFresh: () => {
      const timer = setInterval(() => touch(directory, owned), FRESH_MS);
      timer.unref();
      return () => clearInterval(timer);
    },
    release: () => {
      held.delete(lock);
      if (owned()) breakSharedLock(path);
    },
  };
  held.add(lock);
  if (!givesBackAtExit) process.once("exit", giveBackAll);
  givesBackAtExit = true;
  return lock;
}

/** Which directory the lock of `path` is right now; undefined while nobody holds it. */
export function lockDirectoryId(path: string): string | undefined {
  const stat = statSync(`${path}.lock`, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.ino.toString(36)}-${stat.birthtimeNs.toString(36)}`;
}

/** Whether one of ours made the lock directory of `path` that is there now. */
export function isSharedLockOurs(path: string): boolean {
  const stat = statSync(`${path}.lock`, { throwIfNoEntry: false });
  return stat !== undefined && (stat.mode & 0o777) === OUR_MODE;
}

/** Removes the lock directory, of ourselves or of a holder that is known to be dead. */
export function breakSharedLock(path: string): void {
  try {
    rmdirSync(`${path}.lock`);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}

function makeDirectory(path: string): boolean {
  try {
    mkdirSync(path, { mode: OUR_MODE });
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** @returns whether the name is free now */
function removeStale(directory: string): boolean {
  const stat = statSync(directory, { throwIfNoEntry: false });
  if (stat === undefined) return true;
  if (stat.mtimeMs >= systemClock.now() - STALE_MS) return false;
  try {
    rmdirSync(directory);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  return true;
}

function touch(directory: string, owned: () => boolean): void {
  try {
    const now = new Date(systemClock.now());
    if (owned()) utimesSync(directory, now, now);
  } catch (error) {
    // Gone since the look: the holder asks `owned` before it writes. Any other failure is told by that write itself.
    if (systemCode(error) === undefined) throw error;
  }
}

function giveBackAll(): void {
  for (const lock of held) {
    try {
      lock.release();
    } catch (error) {
      // The process ends: the next of ours frees the lock of a dead holder, a foreign one waits its 10 s.
      if (systemCode(error) === undefined) throw error;
    }
  }
}
