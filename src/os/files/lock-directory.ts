import { mkdirSync, realpathSync, rmdirSync, statSync, utimesSync } from "node:fs";
import { lockSync } from "proper-lockfile";
import { systemCode } from "../../errors.ts";
import { isMissing } from "./fs.ts";
import { OUR_MODE, STALE_MS } from "./lock-state.ts";

/** The lock directory `<path>.lock` while this process holds it. */
export interface LockDirectory {
  /** Distinguishes this directory from a later one of the same name. */
  readonly id: string;
  /** Returns whether this process created the directory that exists now. */
  owned(): boolean;
  /** Removes the directory, unless another process has taken the lock since. */
  release(): void;
}

/**
 * Takes the lock `<path>.lock` with the package `proper-lockfile`, as foreign writers do. The package creates the directory,
 * removes a stale one first (untouched for 10 s by the wall clock), touches ours every 5 s, and removes it when the process
 * exits. It notices a lost lock only at its next touch, so `owned` checks that the directory is still ours.
 * @returns undefined while another process holds it
 */
export function takeLockDirectory(path: string): LockDirectory | undefined {
  let id: string | undefined;
  let isHeld = false;
  const owned = (): boolean => id !== undefined && lockDirectoryId(path) === id;
  const fs = {
    mkdirSync: (directory: string) => {
      mkdirSync(directory, { mode: OUR_MODE });
      id = lockDirectoryId(path) ?? "";
    },
    // Before ours exists, the package removes a stale one; afterwards it may remove only ours.
    rmdirSync: (directory: string) => {
      if (id === undefined || owned()) removeDirectory(directory);
    },
    // Skips the package's probe for the precision of file times: the new directory's own time shows it.
    utimesSync: (directory: string, atime: Date, mtime: Date) => {
      if (isHeld) utimesSync(directory, atime, mtime);
    },
    statSync,
    realpathSync,
  };
  // The holder checks `owned` itself before it writes.
  const onCompromised = (): void => undefined;
  let release: () => void;
  try {
    release = lockSync(path, { realpath: false, stale: STALE_MS, fs, onCompromised });
  } catch (error) {
    // ENOENT: a peer mistook the new directory for the stale one, and removed it.
    if (systemCode(error) === "ELOCKED" || (id !== undefined && isMissing(error))) return undefined;
    throw error;
  }
  isHeld = true;
  return {
    id: id ?? "",
    owned,
    release: () => {
      try {
        release();
      } catch (error) {
        if (systemCode(error) !== "ERELEASED") throw error;
        // The package gave the lock up because the directory's time had changed; the directory may still be ours.
        if (owned()) removeLockDirectory(path);
      }
    },
  };
}

/** Returns the id of the current lock directory of `path`; undefined while the lock is free. */
export function lockDirectoryId(path: string): string | undefined {
  const stat = statSync(`${path}.lock`, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.ino.toString(36)}-${stat.birthtimeNs.toString(36)}`;
}

/** Removes the lock directory of a holder that is known to be dead. */
export function removeLockDirectory(path: string): void {
  removeDirectory(`${path}.lock`);
}

/** Removes an empty directory. A file of that name stays: no peer treats it as a stale lock. */
function removeDirectory(path: string): void {
  try {
    rmdirSync(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
