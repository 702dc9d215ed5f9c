import { join } from "node:path";
import { closeToOthers, isClosedToOwner, isOpenToOthers, openToOwner } from "../os/files/access.ts";
import { entryOf, isDirectory, listDir, removeFile } from "../os/files/fs.ts";
import { clearDeadLock, deadLocks, deadTemporaries, lastingLocks } from "../store/stale-locks.ts";
import type { TeamRef } from "../team/ref.ts";
import { removeStaleFifos, staleFifos } from "../team/repair/stale-fifos.ts";
import { operand } from "../text/shell-quote.ts";
import { listSome, type Problem } from "./finding.ts";

/** What dead processes left in a team's directories, and what others could read there. */
export const FILE_CHECKS: readonly ((ref: TeamRef) => Problem[])[] = [
  ownerAccessProblems,
  otherAccessProblems,
  staleLockProblems,
  stuckLockProblems,
  temporaryFileProblems,
  staleFifoProblems,
];

function directoriesOf({ paths }: TeamRef): string[] {
  const below = (path: string): string[] =>
    isDirectory(path) && !isLock(path)
      ? [path, ...listDir(path).flatMap((name) => below(join(path, name)))]
      : [];
  return [...below(paths.dir), ...below(paths.tasks)];
}

/** Comes and goes with its holder, which may be another program: nothing about it is ours to change. */
function isLock(path: string): boolean {
  return path.endsWith(".lock") && isDirectory(path);
}

/** A team's directories and all that is in them. */
function entriesOf(ref: TeamRef): string[] {
  const directories = directoriesOf(ref);
  const entries = directories.flatMap((path) => listDir(path).map((name) => join(path, name)));
  return [...new Set([...directories, ...entries])].filter((path) => !isLock(path));
}

/** What its own user may not read or write: no message and no task gets there any more. */
function ownerAccessProblems(ref: TeamRef): Problem[] {
  const closed = entriesOf(ref).filter(isClosedToOwner);
  if (closed.length === 0) return [];
  const repair = async (): Promise<string> => {
    const left = closed.filter((path) => entryOf(path) !== undefined);
    for (const path of left) openToOwner(path);
    return `opened to its own user again: ${listSome(left)}`;
  };
  return [{ level: "fail", text: `its own user cannot read and write ${listSome(closed)}`, repair }];
}

function otherAccessProblems(ref: TeamRef): Problem[] {
  const open = entriesOf(ref).filter(isOpenToOthers);
  if (open.length === 0) return [];
  const text = `other users can look into ${listSome(open)}`;
  const repair = async (): Promise<string> => {
    const left = open.filter((path) => entryOf(path) !== undefined);
    for (const path of left) closeToOthers(path);
    return `closed to other users: ${listSome(left)}`;
  };
  return [{ level: "warn", text, repair }];
}

function staleLockProblems(ref: TeamRef): Problem[] {
  const left = directoriesOf(ref).flatMap(deadLocks);
  if (left.length === 0) return [];
  const repair = async (): Promise<string> => {
    for (const path of left) await clearDeadLock(path);
    return `removed the locks that ended processes left on ${listSome(left)}`;
  };
  return [{ level: "warn", text: `ended processes left locks on ${listSome(left)}`, repair }];
}

function stuckLockProblems(ref: TeamRef): Problem[] {
  return directoriesOf(ref)
    .flatMap(lastingLocks)
    .map((path) => ({
      level: "fail",
      text: `${path} locks a file, and nothing takes it away by itself`,
      remedy: `When no other program works there: rm -r ${operand(path)}`,
    }));
}

function temporaryFileProblems(ref: TeamRef): Problem[] {
  const left = directoriesOf(ref).flatMap(deadTemporaries);
  if (left.length === 0) return [];
  const repair = async (): Promise<string> => {
    for (const path of left) removeFile(path);
    return `removed what ended processes had half written and nobody had seen: ${listSome(left)}`;
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
