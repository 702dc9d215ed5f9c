import { TeamError } from "../../errors.ts";
import { replaceFile } from "../../os/files/atomic-write.ts";
import { entryOf, listDir, readText } from "../../os/files/fs.ts";
import type { Held } from "../../store/lock.ts";
import type { TeamRef } from "../ref.ts";

/** Returns the ids of the task files, ascending. */
export function taskIds(ref: TeamRef): string[] {
  return idsIn(ref)
    .sort((a, b) => a - b)
    .map(String);
}

function idsIn(ref: TeamRef): number[] {
  return listDir(ref.paths.tasks).flatMap((name) => {
    const id = /^([1-9][0-9]{0,14})\.json$/.exec(name)?.[1];
    return id === undefined ? [] : [Number(id)];
  });
}

/** The highest id that a task's file name may have. */
const MAX_ID = 999_999_999_999_999;

/**
 * Returns the id of a new task. Call it under the tasks' lock.
 * @param reserved the id that was reserved for the task; the next id is returned if a program that ignores the watermark has used it
 * @throws TeamError CORRUPT_FILE if the highest possible id is used
 */
export function nextTaskId(ref: TeamRef, reserved?: string): string {
  if (reserved !== undefined && entryOf(ref.paths.task(reserved)) === undefined) return reserved;
  const id = highestTaskId(ref) + 1;
  if (id <= MAX_ID) return String(id);
  const path = ref.paths.task(String(MAX_ID));
  throw new TeamError("CORRUPT_FILE", `No task id is left above that of ${path}; no task was added.`, {
    hint: "Rename that file to a free lower number, or remove the file.",
  });
}

/** Returns the highest task id ever used, according to the files and the watermark. */
function highestTaskId(ref: TeamRef): number {
  let highest = highWaterMark(ref);
  for (const id of idsIn(ref)) highest = Math.max(highest, id);
  return highest;
}

/** Raises the watermark, so that the id of a removed task is never used again. Call it under the tasks' lock. */
export function raiseWatermark(ref: TeamRef, id: string, held: Held): void {
  if (highWaterMark(ref) >= Number(id)) return;
  replaceFile(ref.paths.highWaterMark, id, { beforeRename: () => held.assertOwned() });
}

/** After a longer watermark, the next id would have more digits than a task's file name may have, and would not be listed. */
const MAX_DIGITS = 14;

/** Reads the leading digits, even of a broken watermark: an id that is too high is harmless if it is valid. */
function highWaterMark(ref: TeamRef): number {
  const digits = /^\s*0*([0-9]+)/.exec(readText(ref.paths.highWaterMark) ?? "")?.[1] ?? "0";
  return digits.length > MAX_DIGITS ? 0 : Number(digits);
}
