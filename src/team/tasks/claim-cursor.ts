import { TeamError } from "../../errors.ts";
import { replaceFile } from "../../os/files/atomic-write.ts";
import { readText } from "../../os/files/fs.ts";
import type { Task } from "../../schema/task.ts";
import type { Held } from "../../store/lock.ts";
import { updateTeamFile } from "../config/team-lock.ts";
import type { TeamRef } from "../ref.ts";

/** The cursor moves in steps of this many ids, so a claim reads at most this many completed tasks needlessly. */
const STEP = 32;

/**
 * Returns the id at which a claim of the lowest free task starts: all tasks below it were completed or deleted when the
 * cursor was last moved. It only saves time: a claim that finds nothing from there reads all tasks.
 */
export function claimCursor(ref: TeamRef): number {
  const mark = Number.parseInt(readText(ref.paths.claimCursor) ?? "", 10);
  return mark > 0 ? mark : 1;
}

/**
 * Moves the cursor up to an id, as far as no task below it is open. Checks the tasks again under the cursor's lock, since
 * one may have been reopened. Does nothing if another process holds the lock.
 * @param read returns a task by its id, or undefined if it is missing
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
    // No fsync: if the machine crashes, the cursor is found again by reading the tasks.
    replaceFile(ref.paths.claimCursor, String(id), { sync: false, beforeRename: () => held.assertOwned() });
  };
  try {
    await updateTeamFile(ref, ref.paths.claimCursor, { whileLocked: raise }, { waitMs: 0 });
  } catch (error) {
    // A claim does not wait for the cursor: nothing depends on it.
    if (!(error instanceof TeamError) || error.code !== "LOCK_TIMEOUT") throw error;
  }
}

/** Moves the cursor back to a reopened task. Call it after that change. */
export async function lowerClaimCursor(ref: TeamRef, id: string): Promise<void> {
  if (claimCursor(ref) <= Number(id)) return;
  const lower = (held: Held): void => {
    if (claimCursor(ref) <= Number(id)) return;
    replaceFile(ref.paths.claimCursor, id, { sync: false, beforeRename: () => held.assertOwned() });
  };
  await updateTeamFile(ref, ref.paths.claimCursor, { whileLocked: lower });
}

function isDone(task: Task | undefined): boolean {
  return task === undefined || task.status === "completed";
}
