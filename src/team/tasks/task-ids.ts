import { replaceFile } from "../../os/files/atomic-write.ts";
import { listDir, readText } from "../../os/files/fs.ts";
import type { Held } from "../../store/lock.ts";
import type { TeamRef } from "../ref.ts";

/** The ids on disk, ascending. */
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

/** Of all that were ever issued, as far as it is known: no file and no mark is higher. */
export function highestTaskId(ref: TeamRef): number {
  let highest = highWaterMark(ref);
  for (const id of idsIn(ref)) highest = Math.max(highest, id);
  return highest;
}

/** Sees to it that the number of a task that goes is never used again; for the holder of the tasks' lock. */
export function raiseWatermark(ref: TeamRef, id: string, held: Held): void {
  if (highWaterMark(ref) >= Number(id)) return;
  replaceFile(ref.paths.highWaterMark, id, { beforeRename: () => held.assertOwned() });
}

/** Of a longer mark the next number would have more digits than the name of a task's file may have, and nobody would see it. */
const MAX_DIGITS = 14;

/** What a broken one begins with counts too, since a number too high harms nobody as long as it can be one. */
function highWaterMark(ref: TeamRef): number {
  const digits = /^\s*0*([0-9]+)/.exec(readText(ref.paths.highWaterMark) ?? "")?.[1] ?? "0";
  return digits.length > MAX_DIGITS ? 0 : Number(digits);
}
