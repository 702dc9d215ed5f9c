import { systemClock } from "../os/clock.ts";
import type { TeamRef } from "../team/ref.ts";
import type { Bell } from "../wakeup/bell.ts";
import { anyBell } from "../wakeup/merged-bell.ts";
import { timerBell } from "../wakeup/timer-bell.ts";
import { openTreeBell } from "../wakeup/tree-bell.ts";

interface FollowOptions {
  readonly signal: AbortSignal;
  /** Milliseconds; without it there is no end but the look's own and the signal's. */
  readonly timeoutMs?: number | undefined;
  /** Directories outside of the team's whose changes count, too. */
  readonly alsoWatch?: readonly string[];
}

/** Rings when anything of a team changes on disk; the slow check is the net for what no watch tells of. */
export function teamBell({ paths }: TeamRef, beside: readonly string[] = []): Bell {
  return anyBell([openTreeBell([paths.dir, paths.tasks, ...beside]), timerBell()]);
}

/**
 * Looks, waits until something of the team has changed, and looks again, until the look says that it is done. A look
 * that throws ends it.
 */
export async function follow(
  ref: TeamRef,
  look: () => Promise<boolean> | boolean,
  { signal, timeoutMs, alsoWatch }: FollowOptions,
): Promise<"done" | "timeout" | "interrupted"> {
  const deadline = timeoutMs === undefined ? undefined : systemClock.now() + timeoutMs;
  const bell = teamBell(ref, alsoWatch);
  try {
    for (;;) {
      if (await look()) return "done";
      const rest = deadline === undefined ? undefined : deadline - systemClock.now();
      if (signal.aborted) return "interrupted";
      if (rest !== undefined && rest <= 0) return "timeout";
      await bell.wait({ signal, ...(rest === undefined ? {} : { timeoutMs: rest }) });
    }
  } finally {
    bell.close();
  }
}
