import { join } from "node:path";
import { TeamError } from "../../errors.ts";
import { pause } from "../../os/clock.ts";
import { readRecordLink } from "../../os/files/symlinks.ts";
import { ownerOf, seekOwnerLock } from "../../store/owner-lock.ts";

/** Milliseconds between two attempts; a landing takes as long as its check. */
const RETRY_MS = 200;

interface LockOptions {
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Called once with the pid of the process that is landing, if this one must wait. */
  readonly onWait: (pid: number | undefined) => void;
}

/**
 * Runs `work` while no other process lands in the same repository, of any team. The lock of a dead process is taken over at once.
 * @param common git's directory that all worktrees of the repository share
 * @throws TeamError INTERRUPTED if the signal comes first
 */
export async function whileLandingAlone<T>(
  common: string,
  { signal, onWait }: LockOptions,
  work: () => Promise<T>,
): Promise<T> {
  const path = join(common, "teams-landing");
  const seek = seekOwnerLock(path);
  let lock = seek();
  if (lock === undefined) onWait(ownerOf(readRecordLink(path) ?? "")?.pid);
  while (lock === undefined) {
    if ((await pause(RETRY_MS, signal)) === "aborted") throw interrupted();
    lock = seek();
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

export function interrupted(): TeamError {
  return new TeamError("INTERRUPTED", "The landing was interrupted; the target branch was not moved.", {
    hint: "Run teams land again to continue.",
  });
}
