import { removeFile } from "../os/files/fs.ts";
import {
  breakSharedLock,
  isSharedLockOurs,
  lockDirectoryId,
  type SharedLock,
  takeSharedLock,
} from "../os/files/lock-directory.ts";
import { createRecordLink, readRecordLink } from "../os/files/symlink-record.ts";
import { ownerLiveness, ownerOf, ownerRecord } from "./owner-lock.ts";

/**
 * Takes the directory lock, with our record beside it: which directory it is, and whose. Only the holder of the queue lock
 * may call this and touches that record, so that whoever has the lock without one is a foreign writer.
 * @returns undefined while somebody holds it: a foreign one for 10 s without a sign of life at most, one of ours as long as it lives
 */
export function takeShared(path: string): SharedLock | undefined {
  const beside = `${path}.lock.owner`;
  if (isHeldByLiving(path, beside)) return undefined;
  const shared = takeSharedLock(path);
  if (shared === undefined) return undefined;
  const record = ownerRecord(shared.id);
  try {
    if (!createRecordLink(beside, record)) {
      // Left by one that could not be judged, and whose lock was stale.
      removeFile(beside);
      createRecordLink(beside, record);
    }
  } catch (error) {
    shared.release();
    throw error;
  }
  return {
    ...shared,
    release: () => {
      try {
        // First the record: it must never stand beside a lock that somebody else has taken since.
        if (readRecordLink(beside) === record) removeFile(beside);
      } finally {
        shared.release();
      }
    },
  };
}

/**
 * Looks at what the last holder of ours left. A slow one that lives (its queue lock was taken from it, by the clock or by
 * hand) keeps the lock whatever its age; of a dead one the directory, and no other, is removed without waiting. So is one
 * of ours without a record: its maker held the queue lock before us, and died before it could say so.
 */
function isHeldByLiving(path: string, beside: string): boolean {
  const left = readRecordLink(beside);
  if (left === undefined) {
    if (isSharedLockOurs(path)) breakSharedLock(path);
    return false;
  }
  const liveness = ownerLiveness(left);
  // Also by its mode: a file system gives a new directory the number of the last one, and its time within one tick.
  const isItsLock = isSharedLockOurs(path) && lockDirectoryId(path) === ownerOf(left)?.word;
  if (isItsLock && liveness !== "dead") return liveness === "alive";
  if (isItsLock) breakSharedLock(path);
  removeFile(beside);
  return false;
}
