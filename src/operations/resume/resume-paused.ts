import { LIMIT_OVER } from "../../adapter/turns/open-turn.ts";
import { TeamError } from "../../errors.ts";
import { formatProtocol } from "../../protocol/messages.ts";
import type { TeamMember } from "../../schema/config.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import { judgeLiveness } from "../../team/members/judge-liveness.ts";
import { findMember } from "../../team/members/members.ts";
import { readExit, readPlace, readStatus } from "../../team/records/read-records.ts";
import { type OperationContext, requireLead } from "../context.ts";
import { judgeWithLimit, recordedFacts } from "../processes/foreign-facts.ts";

export interface ResumedPause {
  readonly name: string;
  /** `resumed`: it tries again now. `budget`: only a higher budget lets it continue. `not-paused`: nothing was sent. */
  readonly outcome: "resumed" | "budget" | "not-paused";
}

/**
 * Lets members that are paused at an account limit try again at once.
 * @param memberName a member; all paused members if undefined
 * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND; RECIPIENT_INACTIVE if the named member does not run
 */
export async function resumePaused(
  ctx: OperationContext,
  memberName: string | undefined,
): Promise<readonly ResumedPause[]> {
  const { ref, clock } = ctx;
  requireLead(ctx, "resume paused members");
  const config = readTeam(ref);
  const members = memberName === undefined ? config.members : [findMember(config, memberName)];
  const reports: ResumedPause[] = [];
  for (const member of members) {
    const { name } = member;
    const status = readStatus(ref, name);
    const { alive } = judgeLiveness(member, {
      status,
      place: readPlace(ref, name),
      exit: readExit(ref, name),
    });
    if (alive === false && memberName !== undefined) throw notRunning(name);
    const isPaused = alive !== false && status?.state === "paused";
    if (!isPaused || status.limited !== true) {
      const outcome = isPaused ? "budget" : await resumeForeign(ctx, member);
      if (outcome !== "not-paused" || memberName !== undefined) reports.push({ name, outcome });
      continue;
    }
    const request = formatProtocol({ type: "resume_request", from: LEAD_NAME }, new Date(clock.now()));
    // A program that reads its inbox itself does not know the request.
    await sendMessage(ref, { from: LEAD_NAME, to: name, text: status.ownInbox ? LIMIT_OVER : request });
    reports.push({ name, outcome: "resumed" });
  }
  return reports;
}

/** Resumes a foreign member by a message, if its last turn met a limit. */
async function resumeForeign(ctx: OperationContext, member: TeamMember): Promise<"resumed" | "not-paused"> {
  const facts = recordedFacts(ctx, member);
  if (facts === undefined || judgeWithLimit(facts).state !== "paused") return "not-paused";
  await sendMessage(ctx.ref, { from: LEAD_NAME, to: member.name, text: LIMIT_OVER });
  return "resumed";
}

function notRunning(name: string): TeamError {
  return new TeamError(
    "RECIPIENT_INACTIVE",
    `${name} is not running, so it is not paused; nothing was sent.`,
    {
      hint: "To start it again with its conversation: teams resume",
    },
  );
}
