import { join } from "node:path";
import { closeToOthers, isClosedToOwner, isOpenToOthers, openToOwner } from "../os/files/access.ts";
import { entryOf, isDirectory, listDir, removeFile } from "../os/files/fs.ts";
import { deadTemporaries, removeStaleLock, staleLocks, stuckLocks } from "../store/stale-locks.ts";
import type { TeamRef } from "../team/ref.ts";
import { removeStaleFifos, staleFifos } from "../team/repair/stale-fifos.ts";
import { operand } from "../text/shell-quote.ts";
import { listSome, type Problem } from "./finding.ts";

/** Checks for files that dead processes left in a team's directories, and for wrong access modes. */
export const FILE_CHECKS: readonly ((ref: TeamRef) => Problem[])[] = [
  ownerAccessProblems,
  otherAccessProblems,
  staleLockProblems,
  stuckLockProblems,
  temporaryFileProblems,
  staleFifoProblems,
];

/** Lists a team's directories. Does not follow links: a target need not belong to the team. */
function directoriesOf({ paths }: TeamRef): string[] {
  const below = (path: string): string[] => [
    path,
    ...listDir(path)
      .map((name) => join(path, name))
      .filter((one) => entryOf(one)?.isDirectory() && !isLock(one))
      .flatMap(below),
  ];
  return [paths.dir, paths.tasks].filter(isDirectory).flatMap(below);
}

/** A lock exists as long as its holder, which may be another program: the doctor changes nothing about it. */
function isLock(path: string): boolean {
  return path.endsWith(".lock") && isDirectory(path);
}

/** Lists a team's directories and everything in them, except locks. */
function entriesOf(ref: TeamRef): string[] {
  const directories = directoriesOf(ref);
  const entries = directories.flatMap((path) => listDir(path).map((name) => join(path, name)));
  return [...new Set([...directories, ...entries])].filter((path) => !isLock(path));
}

/** Finds files that their owner cannot read or write: messages and tasks can no longer be written there. */
function ownerAccessProblems(ref: TeamRef): Problem[] {
  const closed = entriesOf(ref).filter(isClosedToOwner);
  if (closed.length === 0) return [];
  const repair = async (): Promise<string> => {
    const existing = closed.filter((path) => entryOf(path) !== undefined);
    for (const path of existing) openToOwner(path);
    return `gave you access again: ${listSome(existing)}`;
  };
  return [{ level: "fail", text: `you cannot read and write ${listSome(closed)}`, repair }];
}

function otherAccessProblems(ref: TeamRef): Problem[] {
  const open = entriesOf(ref).filter(isOpenToOthers);
  if (open.length === 0) return [];
  const text = `other users can access ${listSome(open)}`;
  const repair = async (): Promise<string> => {
    const existing = open.filter((path) => entryOf(path) !== undefined);
    for (const path of existing) closeToOthers(path);
    return `removed the access of other users: ${listSome(existing)}`;
  };
  return [{ level: "warn", text, repair }];
}

function staleLockProblems(ref: TeamRef): Problem[] {
  const left = directoriesOf(ref).flatMap(staleLocks);
  if (left.length === 0) return [];
  const repair = async (): Promise<string> => {
    for (const path of left) await removeStaleLock(path);
    return `removed the locks that ended processes left on ${listSome(left)}`;
  };
  return [{ level: "warn", text: `ended processes left locks on ${listSome(left)}`, repair }];
}

function stuckLockProblems(ref: TeamRef): Problem[] {
  return directoriesOf(ref)
    .flatMap(stuckLocks)
    .map((path) => ({
      level: "fail",
      text: `${path} locks a file and is never removed automatically`,
      remedy: `Make sure that no other program uses this lock, then: rm -r ${operand(path)}`,
    }));
}

function temporaryFileProblems(ref: TeamRef): Problem[] {
  const left = directoriesOf(ref).flatMap(deadTemporaries);
  if (left.length === 0) return [];
  const repair = async (): Promise<string> => {
    for (const path of left) removeFile(path);
    return `removed half-written files of ended processes, which no other process has read: ${listSome(left)}`;
  };
  return [{ level: "warn", text: `ended processes left half-written files: ${listSome(left)}`, repair }];
}

function staleFifoProblems(ref: TeamRef): Problem[] {
  const stale = staleFifos(ref).map(({ path }) => path);
  if (stale.length === 0) return [];
  const repair = async (): Promise<string | undefined> => {
    const removed = await removeStaleFifos(ref);
    const paths = removed.map(({ path }) => path);
    return paths.length === 0 ? undefined : `removed FIFOs of ended processes: ${listSome(paths)}`;
  };
  return [{ level: "warn", text: `ended processes left FIFOs: ${listSome(stale)}`, repair }];
}
