import { join } from "node:path";
import { systemClock } from "../os/clock.ts";
import { entryOf, listDir, temporaryWriter } from "../os/files/fs.ts";
import { STALE_MS } from "../os/files/lock-directory.ts";
import { readRecordLink } from "../os/files/symlink-record.ts";
import { startOf } from "../os/process/identity.ts";
import { withLock } from "./lock.ts";
import { ownerLiveness, seekOwnerLock } from "./owner-lock.ts";

/** What ended processes left of their locks in a directory, by the files that were locked. */
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

/** A directory that no process of ours made: after 10 s without a sign of life it is anybody's, as for every peer. */
function isAbandoned(path: string, names: readonly string[], owner: string): boolean {
  const entry = entryOf(path);
  if (!entry?.isDirectory() || names.includes(owner) || listDir(path).length > 0) return false;
  return Number(entry.mtimeMs) < systemClock.now() - STALE_MS;
}

/**
 * What stands where a lock would be, and never lapses as one does: a directory with something in it or with a time to come, a
 * file or directory in the place of our record. Who put it there cannot be told, so that it is a person's to remove.
 */
export function stuckLocks(directory: string): string[] {
  return listDir(directory)
    .filter((name) => LOCK.test(name))
    .map((name) => join(directory, name))
    .filter((path) => (path.endsWith(".lock") ? isLastingDirectory(path) : isNoRecord(path)));
}

/** The locks of the files that are locked at all, and not the tasks' file `.lock`, which is one of these. */
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
 * Removes them in the one way that is safe beside others: by taking the lock and giving it back.
 * @throws TeamError LOCK_TIMEOUT
 */
export async function removeStaleLock(path: string): Promise<void> {
  // A taker that died in the middle of taking over; nobody meets this one until the next takes over.
  for (let heir = `${path}.q~`; isOfDead(heir); heir += "~") seekOwnerLock(heir)()?.release();
  await withLock(path, () => undefined);
}

/** Longest life of a file on its way to its name, in milliseconds: it takes some, and a stopped process a while. */
const ON_ITS_WAY_MS = 60 * 60 * 1000;

/** Halves of files whose writers have ended. */
export function deadTemporaries(directory: string): string[] {
  return listDir(directory).flatMap((name) => {
    const pid = temporaryWriter(name);
    const age = systemClock.now() - Number(entryOf(join(directory, name))?.mtimeMs ?? Number.NaN);
    // A writer in another container has a pid that says nothing here; it is as quick as any.
    const isLeft = pid !== undefined && age > (startOf(pid) === undefined ? STALE_MS : ON_ITS_WAY_MS);
    return isLeft ? [join(directory, name)] : [];
  });
}
