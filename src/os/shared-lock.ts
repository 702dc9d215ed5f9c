import { rmdirSync, statSync } from "node:fs";
import { lockSync, unlockSync } from "proper-lockfile";
import { systemCode } from "../errors.ts";

/** Milliseconds without a sign of life after which every peer takes a lock away (interop.md). */
export const STALE_MS = 10_000;

/** The lock directory `<path>.lock`, as long as it is ours. */
export interface SharedLock {
  /** Tells this very directory from a later one of the same name. */
  readonly id: string;
  /** Whether it still is the one that we made. */
  owned(): boolean;
  /** Gives it back; one that was taken from us stays with whoever has it. */
  release(): void;
}

/**
 * Takes the lock that the package `proper-lockfile` makes, which foreign writers take too.
 * @returns undefined while somebody else holds it
 */
export function takeSharedLock(path: string): SharedLock | undefined {
  let compromised = false;
  const onCompromised = (): void => {
    // The package's default throws from a timer, which would end the process; the holder asks `owned` before it writes.
    compromised = true;
  };
  try {
    lockSync(path, { realpath: false, stale: STALE_MS, onCompromised });
  } catch (error) {
    if (systemCode(error) === "ELOCKED") return undefined;
    throw error;
  }
  const id = lockDirectoryId(path) ?? "";
  const owned = (): boolean => !compromised && id !== "" && lockDirectoryId(path) === id;
  return { id, owned, release: () => release(path, owned()) };
}

/** Which directory the lock of `path` is right now; undefined while nobody holds it. */
export function lockDirectoryId(path: string): string | undefined {
  const stat = statSync(`${path}.lock`, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.ino.toString(36)}-${stat.birthtimeNs.toString(36)}`;
}

/** Removes the lock directory of a holder that is known to be dead. */
export function breakSharedLock(path: string): void {
  try {
    rmdirSync(`${path}.lock`);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}

function release(path: string, owned: boolean): void {
  try {
    // The package removes whatever stands at that name; of somebody else's lock it may only forget its own record.
    unlockSync(path, owned ? { realpath: false } : { realpath: false, fs: { rmdirSync: () => undefined } });
  } catch (error) {
    // It was taken from us while the event loop ran, and the package has noticed: nothing is left to give back.
    if (systemCode(error) !== "ENOTACQUIRED") throw error;
  }
}
