import { TeamError } from "../../errors.ts";
import { replaceFile } from "../../os/files/atomic-write.ts";
import { readText } from "../../os/files/fs.ts";
import type { Task } from "../../schema/task.ts";
import type { Held } from "../../store/lock.ts";
import { lockInTeam } from "../config/team-lock.ts";
import type { TeamRef } from "../ref.ts";

/** How far the mark is behind before somebody moves it: so many completed tasks are read in vain by a claim at most. */
const STEP = 32;

/**
 * The id below which every task was completed or gone when somebody looked: where a claim of the lowest free one begins.
 * A mark and no more: without it, or below it, everything is found by reading all.
 */
export function claimCursor(ref: TeamRef): number {
  const mark = Number.parseInt(readText(ref.paths.claimCursor) ?? "", 10);
  return mark > 0 ? mark : 1;
}

/**
 * Moves the mark up to an id, as far as no task below it is open: looked at once more under its lock, since one may have
 * been opened again. Where somebody else is at it, it is left to that one.
 * @param read a task by its id, undefined where there is none
 */
export async function raiseClaimCursor(
  ref: TeamRef,
  to: number,
  read: (id: number) => Task | undefined,
): Promise<void> {
  if (to - claimCursor(ref) < STEP) return;
  const raise = (held: Held): void => {
    const before = claimCursor(ref);
    let id = before;
    while (id < to && isDone(read(id))) id += 1;
    if (id === before) return;
    // Not flushed: what a crash of the machine takes is found again by reading.
    replaceFile(ref.paths.claimCursor, String(id), { sync: false, beforeRename: () => held.assertOwned() });
  };
  try {
    await lockInTeam(ref, ref.paths.claimCursor, raise, { waitMs: 0 });
  } catch (error) {
    // Who claims waits for no mark, which nothing depends on.
    if (!(error instanceof TeamError) || error.code !== "LOCK_TIMEOUT") throw error;
  }
}

/** Takes the mark back to a task that was opened again; to be called behind that change. */
export async function lowerClaimCursor(ref: TeamRef, id: string): Promise<void> {
  if (claimCursor(ref) <= Number(id)) return;
  await lockInTeam(ref, ref.paths.claimCursor, (held) => {
    if (claimCursor(ref) <= Number(id)) return;
    replaceFile(ref.paths.claimCursor, id, { sync: false, beforeRename: () => held.assertOwned() });
  });
}

function isDone(task: Task | undefined): boolean {
  return task === undefined || task.status === "completed";
}
