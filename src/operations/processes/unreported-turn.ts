import type { TeamMember } from "../../schema/config.ts";
import type { AgentState, StatusRecord } from "../../schema/status.ts";
import { foreignSigns } from "../../team/mailbox/foreign-signs.ts";
import type { judgeShown } from "../../team/members/judge-shown.ts";
import type { MemberRecords } from "../../team/members/member-records.ts";
import type { TeamRef } from "../../team/ref.ts";

type Verdict = ReturnType<typeof judgeShown>;

/** The states in which a member is in no turn, as far as its process knows. */
const RESTING: ReadonlySet<AgentState> = new Set(["idle", "failed", "unknown"]);

/**
 * Whether a CLI that reads its inbox itself has taken a message since its process last checked the inbox. It marks the message before
 * its turn begins, so its status may still say that it is idle.
 */
export function hasUnreportedTurn(ref: TeamRef, member: TeamMember, status?: StatusRecord): boolean {
  if (status?.newestTaken === undefined || !RESTING.has(status.state)) return false;
  return (foreignSigns(ref, member).taken.at(-1) ?? 0) > status.newestTaken;
}

/** Adds to the verdict on a member that it is in an unreported turn. */
export function withUnreportedTurn(
  ref: TeamRef,
  { member, status }: MemberRecords,
  verdict: Verdict,
): Verdict {
  const isReported = verdict.alive === true && verdict.state === status?.state;
  if (!isReported || !hasUnreportedTurn(ref, member, status)) return verdict;
  return { ...verdict, state: "running", stateFrom: "inbox", activity: "" };
}
