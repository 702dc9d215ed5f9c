import { pause, steadyNow } from "../os/clock.ts";
import { removeFile, removeTree } from "../os/files/fs.ts";
import { removeLockDirectory } from "../os/files/lock-directory.ts";
import { finishGroups } from "./group-commit.ts";

// Steps for a process that renames the directory of a file while it holds the lock of that file.

/** Milliseconds within which a waiting process sees that its change was made; it checks every few milliseconds. */
const SEEN_MS = 2_000;
/** Milliseconds between two checks of the acknowledgements. */
const POLL_MS = 5;

/**
 * Waits until each process has seen that another process made its change: after the rename it could no longer find out. Call it in a
 * turn, in which no other process makes changes.
 * @returns false if a process does not check in time, for example because it is stopped
 */
export async function awaitSeenChanges(path: string): Promise<boolean> {
  for (const deadline = steadyNow() + SEEN_MS; finishGroups(path); ) {
    if (steadyNow() > deadline) return false;
    await pause(POLL_MS);
  }
  return true;
}

/**
 * Releases the locks of a file whose directory this process has renamed while it held them. Also drops the changes that other
 * processes have posted: those processes find the file missing and report that nothing was changed.
 */
export function releaseMoved(path: string): void {
  removeTree(`${path}.waiting`);
  removeFile(`${path}.lock.owner`);
  removeLockDirectory(path);
  removeFile(`${path}.q`);
}
