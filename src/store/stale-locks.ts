import { join } from "node:path";
import { systemClock } from "../os/clock.ts";
import { entryOf, listDir, temporaryWriter } from "../os/files/fs.ts";
import { STALE_MS } from "../os/files/lock-state.ts";
import { readRecordLink } from "../os/files/symlinks.ts";
import { startTimeOf } from "../os/process/identity.ts";
import { isGrouped, isWaitingDirectory } from "./group-commit.ts";
import { withLock } from "./lock.ts";
import { ownerLiveness, seekOwnerLock } from "./owner-lock.ts";

/** Returns the files in a directory on which ended processes left locks. */
export function staleLocks(directory: string): string[] {
  const names = listDir(directory);
  const files = names.flatMap((name) => {
    const [, file, end] = /^(.+?)(\.q~*|\.lock\.owner|\.lock)$/.exec(name) ?? [];
    if (file === undefined) return [];
    const path = join(directory, name);
    const isDead = end === ".lock" ? isAbandoned(path, names, `${name}.owner`) : isOfDead(path);
    return isDead ? [join(directory, file)] : [];
  });
  return [...new Set(files)];
}

/** Returns whether a foreign lock directory is stale: every peer may remove it after 10 s without an update. */
function isAbandoned(path: string, names: readonly string[], owner: string): boolean {
  const entry = entryOf(path);
  if (!entry?.isDirectory() || names.includes(owner) || listDir(path).length > 0) return false;
  return Number(entry.mtimeMs) < systemClock.now() - STALE_MS;
}

/**
 * Returns the paths of locks that never become stale: a lock directory that is not empty or whose time lies in the future,
 * and a file or directory at the path of our record. Their creator is unknown, so only the user may remove them.
 */
export function stuckLocks(directory: string): string[] {
  return listDir(directory)
    .filter((name) => LOCK.test(name))
    .map((name) => join(directory, name))
    .filter((path) => (path.endsWith(".lock") ? isLastingDirectory(path) : isNoRecord(path)));
}

/** Matches the locks of all files that teams locks. The tasks' own file `.lock` is such a file and not a lock. */
const LOCK = /^(.+\.json|\.lock)\.(lock|q)$/;

function isLastingDirectory(path: string): boolean {
  const entry = entryOf(path);
  if (entry === undefined) return false;
  const isLater = Number(entry.mtimeMs) > systemClock.now() + STALE_MS;
  return !entry.isDirectory() || isLater || listDir(path).length > 0;
}

function isNoRecord(path: string): boolean {
  const entry = entryOf(path);
  return entry !== undefined && !entry.isSymbolicLink();
}

function isOfDead(path: string): boolean {
  const record = readRecordLink(path);
  return record !== undefined && ownerLiveness(record) === "dead";
}

/**
 * Removes what ended processes left of the lock of `path`. Takes the lock and releases it, the only way that is safe while
 * other processes use it.
 * @throws TeamError LOCK_TIMEOUT
 */
export async function removeStaleLock(path: string): Promise<void> {
  // Left by a process that died while it took over a lock. Only the next takeover meets it.
  for (let takeover = `${path}.q~`; isOfDead(takeover); takeover += "~") seekOwnerLock(takeover)()?.release();
  await withLock(path, () => undefined);
}

/** Milliseconds until a temporary file of a live process counts as left over: a stopped process may still rename it. */
const MAX_TEMPORARY_MS = 60 * 60 * 1000;

/** Returns temporary files whose writers have ended, and changes that ended processes have posted. */
export function deadTemporaries(directory: string): string[] {
  return listDir(directory).flatMap((name) => {
    const path = join(directory, name);
    if (isWaitingDirectory(directory)) return ownerLiveness(name) === "dead" ? [path] : [];
    const pid = temporaryWriter(name);
    const age = systemClock.now() - Number(entryOf(path)?.mtimeMs ?? Number.NaN);
    // The pid of a writer in another container means nothing here; that writer also renames within 10 s.
    const isLeft = pid !== undefined && age > (startTimeOf(pid) === undefined ? STALE_MS : MAX_TEMPORARY_MS);
    return isLeft && !isGrouped(path) ? [path] : [];
  });
}
