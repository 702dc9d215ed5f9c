import { dirname, join } from "node:path";
import { scratchDirectory } from "../../os/files/app-directories.ts";
import { createWhole } from "../../os/files/atomic-write.ts";
import { entryOf, listDir, removeFile, removeIfEmpty } from "../../os/files/fs.ts";

/**
 * Milliseconds that an output is kept behind its last word: over a weekend, for a conversation that is gone on with. Which team it
 * was for nobody knows: several work in one directory, so that the end of one removes none of them.
 */
export const RETENTION_MS = 3 * 24 * 60 * 60 * 1000;
/** Milliseconds between two sweeps, whoever makes them. */
const SWEEP_MS = 24 * 60 * 60 * 1000;
/** Says when the newest sweep was, by its age. */
const MARK = ".swept";

/** Files that took the output of commands and subagents and are older than they are kept. */
export function oldOutputs(now: number, scratch = scratchDirectory()): string[] {
  return listDir(scratch)
    .map((place) => join(scratch, place, "tasks"))
    .filter((tasks) => entryOf(dirname(tasks))?.isDirectory() && entryOf(tasks)?.isDirectory())
    .flatMap((tasks) => listDir(tasks).map((name) => join(tasks, name)))
    .filter((path) => path.endsWith(".output") && ageOf(path, now) > RETENTION_MS);
}

/** Removes them, and the directories that this leaves empty. */
export function removeOutputs(paths: readonly string[]): void {
  for (const path of paths) {
    removeFile(path);
    removeIfEmpty(dirname(path));
    removeIfEmpty(dirname(dirname(path)));
  }
}

/** Removes what is older than it is kept, once a day of all the agents of a user: whoever makes the day's mark does it. */
export function sweepOutputs(now: number, scratch = scratchDirectory()): void {
  const mark = join(scratch, MARK);
  if (entryOf(mark) !== undefined) {
    if (ageOf(mark, now) < SWEEP_MS) return;
    removeFile(mark);
  }
  if (createWhole(mark, "")) removeOutputs(oldOutputs(now, scratch));
}

/** Of one that is gone by now 0. */
function ageOf(path: string, now: number): number {
  const entry = entryOf(path);
  return entry === undefined ? 0 : now - Number(entry.mtimeMs);
}
