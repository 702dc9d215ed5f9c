import { join } from "node:path";
import { closeToOthers, isClosedToOwner, isOpenToOthers, openToOwner } from "../os/files/access.ts";
import { entryOf, isDirectory, listDir, removeFile } from "../os/files/fs.ts";
import { deadTemporaries, removeStaleLock, staleLocks, stuckLocks } from "../store/stale-locks.ts";
import type { TeamRef } from "../team/ref.ts";
import { removeStaleFifos, staleFifos } from "../team/repair/stale-fifos.ts";
import { operand } from "../text/shell-quote.ts";
import { type Flaw, some } from "./finding.ts";

/** What dead processes left in a team's directories, and what others could read there. */
export const FILE_LOOKS: readonly ((ref: TeamRef) => Flaw[])[] = [
  closedFlaws,
  modeFlaws,
  lockFlaws,
  lastingLockFlaws,
  temporaryFlaws,
  fifoFlaws,
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
function closedFlaws(ref: TeamRef): Flaw[] {
  const closed = entriesOf(ref).filter(isClosedToOwner);
  if (closed.length === 0) return [];
  const mend = async (): Promise<string> => {
    const left = closed.filter((path) => entryOf(path) !== undefined);
    for (const path of left) openToOwner(path);
    return `opened to its own user again: ${some(left)}`;
  };
  return [{ level: "fail", text: `its own user cannot read and write ${some(closed)}`, mend }];
}

function modeFlaws(ref: TeamRef): Flaw[] {
  const open = entriesOf(ref).filter(isOpenToOthers);
  if (open.length === 0) return [];
  const text = `other users can look into ${some(open)}`;
  const mend = async (): Promise<string> => {
    const left = open.filter((path) => entryOf(path) !== undefined);
    for (const path of left) closeToOthers(path);
    return `closed to other users: ${some(left)}`;
  };
  return [{ level: "warn", text, mend }];
}

function lockFlaws(ref: TeamRef): Flaw[] {
  const left = directoriesOf(ref).flatMap(staleLocks);
  if (left.length === 0) return [];
  const mend = async (): Promise<string> => {
    for (const path of left) await removeStaleLock(path);
    return `removed the locks that ended processes left on ${some(left)}`;
  };
  return [{ level: "warn", text: `ended processes left locks on ${some(left)}`, mend }];
}

function lastingLockFlaws(ref: TeamRef): Flaw[] {
  return directoriesOf(ref)
    .flatMap(stuckLocks)
    .map((path) => ({
      level: "fail",
      text: `${path} locks a file, and nothing takes it away by itself`,
      remedy: `When no other program works there: rm -r ${operand(path)}`,
    }));
}

function temporaryFlaws(ref: TeamRef): Flaw[] {
  const left = directoriesOf(ref).flatMap(deadTemporaries);
  if (left.length === 0) return [];
  const mend = async (): Promise<string> => {
    for (const path of left) removeFile(path);
    return `removed what ended processes had half written and nobody had seen: ${some(left)}`;
  };
  return [{ level: "warn", text: `ended processes left half-written files: ${some(left)}`, mend }];
}

function fifoFlaws(ref: TeamRef): Flaw[] {
  const stale = staleFifos(ref).map(({ path }) => path);
  if (stale.length === 0) return [];
  const mend = async (): Promise<string | undefined> => {
    const removed = await removeStaleFifos(ref);
    const paths = removed.map(({ path }) => path);
    return paths.length === 0 ? undefined : `removed FIFOs of ended processes: ${some(paths)}`;
  };
  return [{ level: "warn", text: `ended processes left FIFOs: ${some(stale)}`, mend }];
}
