import { systemClock } from "../os/clock.ts";
import type { TeamRef } from "../team/ref.ts";
import { anyBell, type Bell } from "../wakeup/bell.ts";
import { timerBell } from "../wakeup/timer-bell.ts";
import { openTreeBell } from "../wakeup/tree-bell.ts";

interface FollowOptions {
  readonly signal: AbortSignal;
  /** Milliseconds; without it only the check and the signal end it. */
  readonly timeoutMs?: number | undefined;
  /** More directories to watch, outside the team's. */
  readonly alsoWatch?: readonly string[];
}

/** Rings when a file of the team changes; a slow timer covers changes that the file watch misses. */
export function teamBell({ paths }: TeamRef, alsoWatch: readonly string[] = []): Bell {
  return anyBell([openTreeBell([paths.dir, paths.tasks, ...alsoWatch]), timerBell()]);
}

/**
 * Calls `check` at once and after each change of the team, until it returns true. An error of `check` ends it.
 */
export async function follow(
  ref: TeamRef,
  check: () => Promise<boolean> | boolean,
  { signal, timeoutMs, alsoWatch }: FollowOptions,
): Promise<"done" | "timeout" | "interrupted"> {
  const deadline = timeoutMs === undefined ? undefined : systemClock.now() + timeoutMs;
  const bell = teamBell(ref, alsoWatch);
  try {
    for (;;) {
      if (await check()) return "done";
      const rest = deadline === undefined ? undefined : deadline - systemClock.now();
      if (signal.aborted) return "interrupted";
      if (rest !== undefined && rest <= 0) return "timeout";
      await bell.wait({ signal, ...(rest === undefined ? {} : { timeoutMs: rest }) });
    }
  } finally {
    bell.close();
  }
}
