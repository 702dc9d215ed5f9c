import type { TeamMember } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import type { AgentState, StatusRecord } from "../../schema/status.ts";
import type { judgeLiveness } from "../../team/members/judge-liveness.ts";
import type { TeamRef } from "../../team/ref.ts";
import { hasOpenRequest } from "../../team/requests/requests.ts";

/** `unknown` is the state of a program whose turn ends teams cannot see. */
const MAY_BE_IN_TURN: ReadonlySet<AgentState> = new Set(["running", "throttled", "unknown"]);

/** Whether an agent is between turns, as far as its records show. */
export function isBetweenTurns(
  ref: TeamRef,
  member: TeamMember,
  { state, stateFrom }: Pick<ReturnType<typeof judgeLiveness>, "state" | "stateFrom">,
  status: StatusRecord | undefined,
): boolean {
  if (MAY_BE_IN_TURN.has(state)) return false;
  if (state !== "needs-input" && state !== "paused") return true;
  // The hook's report is newer than the status record.
  if (stateFrom === "hook") return false;
  if (status?.resting !== undefined) return status.resting;
  // A member without our record is paused only after a failed turn.
  if (state === "paused") return status === undefined;
  // A typed message that has to wait is part of a turn.
  if (readMetadata(member, "typed") === true) return false;
  // An agent that waits for the answer to a question is between turns. A permission request may come from background work.
  return !hasOpenRequest(ref, member.name, "permission");
}
