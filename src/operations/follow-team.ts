import { steadyNow } from "../os/clock.ts";
import { teamExists } from "../team/config/config.ts";
import { findTeam } from "../team/config/find-team.ts";
import type { TeamRef } from "../team/ref.ts";
import { anyBell, type Bell } from "../wakeup/bell.ts";
import { timerBell } from "../wakeup/timer-bell.ts";
import { openTreeBell } from "../wakeup/tree-bell.ts";

interface FollowOptions {
  readonly signal: AbortSignal;
  /** Milliseconds; if omitted, only the check or the signal ends the wait. */
  readonly timeoutMs?: number | undefined;
  /** Additional directories to watch, outside the team's directories. */
  readonly alsoWatch?: readonly string[];
}

/** Rings when a file of the team changes; a slow timer covers changes that the file watch misses. */
export function teamBell({ paths }: TeamRef, alsoWatch: readonly string[] = []): Bell {
  return anyBell([openTreeBell([paths.dir, paths.tasks, ...alsoWatch]), timerBell()]);
}

/**
 * Calls `check` at once and after each change of the team, until it returns true. If the team is renamed, the ref gets the new name.
 * @throws the error of `check`
 */
export async function follow(
  ref: TeamRef,
  check: () => Promise<boolean> | boolean,
  { signal, timeoutMs, alsoWatch }: FollowOptions,
): Promise<"done" | "timeout" | "interrupted"> {
  const deadline = timeoutMs === undefined ? undefined : steadyNow() + timeoutMs;
  let bell = teamBell(ref, alsoWatch);
  const isMoved = (): boolean => {
    if (!moveAfterRename(ref)) return false;
    bell.close();
    bell = teamBell(ref, alsoWatch);
    return true;
  };
  const isDone = async (): Promise<boolean> => {
    isMoved();
    try {
      return await check();
    } catch (error) {
      // A team that was renamed during the check is checked again.
      if (!isMoved()) throw error;
      return check();
    }
  };
  try {
    for (;;) {
      if (await isDone()) return "done";
      const rest = deadline === undefined ? undefined : deadline - steadyNow();
      if (signal.aborted) return "interrupted";
      if (rest !== undefined && rest <= 0) return "timeout";
      await bell.wait({ signal, ...(rest === undefined ? {} : { timeoutMs: rest }) });
    }
  } finally {
    bell.close();
  }
}

/** Moves a ref to the team that had its name before, if its own team does not exist. @returns whether there is such a team */
export function moveAfterRename(ref: TeamRef): boolean {
  if (ref.moveTo === undefined || teamExists(ref)) return false;
  const { team } = findTeam(ref.home, ref.team);
  if (team === ref.team) return false;
  ref.moveTo(team);
  return true;
}
