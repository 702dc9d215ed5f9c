import type { SpawnOutcome } from "../../backend/backend.ts";
import { TeamError } from "../../errors.ts";
import { interruptedStart } from "../../launch/await-ready.ts";
import type { TeamMember } from "../../schema/config.ts";
import { removedMeanwhile } from "../worktrees/create-worktree.ts";

type FailedStart = Extract<SpawnOutcome, { ok: false }>;

/**
 * Makes the error for a batch in which starts failed.
 * @param started names of the teammates that run
 * @param remains sentences about what git could not remove
 */
export function spawnFailure(
  failed: readonly FailedStart[],
  started: readonly string[],
  remains: readonly string[],
  isInterrupted: boolean,
): TeamError {
  const [first] = failed;
  const error = first?.error;
  const running = started.length === 0 ? "" : ` Started and still running: ${started.join(", ")}.`;
  const others = failed.length > 1 ? ` (and ${failed.length - 1} more)` : "";
  return new TeamError(
    isInterrupted ? "INTERRUPTED" : error instanceof TeamError ? error.code : "SPAWN_FAILED",
    [`${first?.name}${others} could not be started: ${error?.message}${running}`, ...remains].join("\n"),
    {
      cause: error,
      ...(error instanceof TeamError && error.hint !== undefined ? { hint: error.hint } : {}),
      details: {
        failed: failed.map(({ name, error: { message } }) => ({ name, message })),
        started,
      },
    },
  );
}

/** Makes the error for a batch of which an interrupt ended all starts. */
export function interruptedStarts(
  members: readonly TeamMember[],
  cause: unknown,
  remains: readonly string[],
): TeamError {
  const failed = members.map(({ name }) => ({ ok: false as const, name, error: interruptedStart(cause) }));
  return spawnFailure(failed, [], remains, true);
}

/** The outcome for a member that was removed from the team before it was started. */
export function removedStart({ name }: TeamMember): FailedStart {
  return { ok: false, name, error: removedMeanwhile() };
}
