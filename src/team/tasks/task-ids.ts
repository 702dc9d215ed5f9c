import { replaceFile } from "../../os/files/atomic-write.ts";
import { listDir, readText } from "../../os/files/fs.ts";
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

/** Returns the highest task id ever used, according to the files and the watermark. */
export function highestTaskId(ref: TeamRef): number {
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

/** Reads the leading digits even of a broken watermark: too high an id is harmless if it is valid. */
function highWaterMark(ref: TeamRef): number {
  const digits = /^\s*0*([0-9]+)/.exec(readText(ref.paths.highWaterMark) ?? "")?.[1] ?? "0";
  return digits.length > MAX_DIGITS ? 0 : Number(digits);
}
