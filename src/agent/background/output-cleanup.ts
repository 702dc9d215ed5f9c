import { dirname, join } from "node:path";
import { scratchDirectory } from "../../os/files/app-directories.ts";
import { createWhole } from "../../os/files/atomic-write.ts";
import { entryOf, listDir, removeFile, removeIfEmpty } from "../../os/files/fs.ts";

/**
 * Milliseconds that an output is kept after its last write: long enough to resume a conversation after a weekend. The end
 * of a team removes no outputs, since several teams may share a directory and a file does not record its team.
 */
export const RETENTION_MS = 3 * 24 * 60 * 60 * 1000;
/** Minimum milliseconds between two sweeps, even of different agents. */
const SWEEP_MS = 24 * 60 * 60 * 1000;
/** Its modification time is the time of the newest sweep. */
const MARK = ".swept";

/** Returns the output files of commands and subagents that have expired. */
export function oldOutputs(now: number, scratch = scratchDirectory()): string[] {
  return (
    listDir(scratch)
      .map((place) => join(scratch, place, "tasks"))
      .filter((tasks) => entryOf(dirname(tasks))?.isDirectory() && entryOf(tasks)?.isDirectory())
      .flatMap((tasks) => listDir(tasks).map((name) => join(tasks, name)))
      // A directory of this name is not ours, and cannot be removed as a file.
      .filter(
        (path) => path.endsWith(".output") && entryOf(path)?.isFile() && ageOf(path, now) > RETENTION_MS,
      )
  );
}

/** Removes output files, and the directories that become empty. */
export function removeOutputs(paths: readonly string[]): void {
  for (const path of paths) {
    removeFile(path);
    removeIfEmpty(dirname(path));
    removeIfEmpty(dirname(dirname(path)));
  }
}

/** Removes expired outputs once a day for all agents of a user: the agent that creates the mark does it. */
export function sweepOutputs(now: number, scratch = scratchDirectory()): void {
  const mark = join(scratch, MARK);
  if (entryOf(mark) !== undefined) {
    if (ageOf(mark, now) < SWEEP_MS) return;
    removeFile(mark);
  }
  if (createWhole(mark, "")) removeOutputs(oldOutputs(now, scratch));
}

/** Returns the age of a file in milliseconds; 0 if it is gone. */
function ageOf(path: string, now: number): number {
  const entry = entryOf(path);
  return entry === undefined ? 0 : now - Number(entry.mtimeMs);
}
