import { type Stats, statSync } from "node:fs";
import { systemClock } from "../clock.ts";

// Separate from lock-directory.ts: a command that only reads must not load the package that takes locks.

/** Milliseconds without an update after which every peer removes a lock (interop.md). */
export const STALE_MS = 10_000;

/**
 * The mode of our lock directories, which stay empty. It distinguishes them from foreign ones, which are 0777 minus the
 * umask, from the start.
 */
export const OUR_MODE = 0o500;

/** Returns whether one of our processes created the lock directory of `path`. */
export function isLockDirectoryOurs(path: string): boolean {
  return ((lockOf(path)?.mode ?? 0) & 0o777) === OUR_MODE;
}

/**
 * Returns whether another program holds the lock of `path`, and it is not stale. Our own processes never write a file in place,
 * so their locks are not a reason to wait for a reader.
 */
export function isLockedElsewhere(path: string): boolean {
  const since = lockOf(path)?.mtimeMs ?? 0;
  return Math.abs(systemClock.now() - since) < STALE_MS && !isLockDirectoryOurs(path);
}

function lockOf(path: string): Stats | undefined {
  return statSync(`${path}.lock`, { throwIfNoEntry: false });
}
