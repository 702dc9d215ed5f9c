import type { TeamMember } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { sameName } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { judgeLiveness } from "../../team/members/judge-liveness.ts";
import { type NewMember, removeMember } from "../../team/members/members.ts";
import { claimStarts } from "../../team/members/start-claims.ts";
import { readPlace, readStatus, removeRun } from "../../team/records/read-records.ts";
import type { OperationContext } from "../context.ts";
import { endPreviousStart } from "../ending/clear-previous-start.ts";

/**
 * A member whose first start was cut off by the end of the process that had begun it, before anybody heard of it, holds its
 * name against nobody. One that has a worktree stays, for resume or kill.
 */
export async function takeBackCutOff(ctx: OperationContext, drafts: readonly NewMember[]): Promise<void> {
  const { ref } = ctx;
  const isCutOff = (member: TeamMember): boolean =>
    drafts.some(({ name }) => sameName(name, member.name)) &&
    readMetadata(member, "startClaim")?.first === true &&
    member.worktreePath === undefined &&
    readStatus(ref, member.name) === undefined &&
    judgeLiveness(member, { status: undefined, place: readPlace(ref, member.name), exit: undefined })
      .alive === false;
  if (!readTeam(ref).members.some(isCutOff)) return;
  // Claimed, so that who resumes the team meanwhile does not start it.
  const claims = await claimStarts(ref, (member) => (isCutOff(member) ? { session: undefined } : undefined));
  for (const [name, claim] of claims) {
    await endPreviousStart(ctx, name, claim);
    await rollback(ctx, name);
  }
}

/** Takes back what a failed start left in the team; the backend has taken back the rest. */
export async function rollback(ctx: OperationContext, name: string): Promise<void> {
  await removeMember(ctx.ref, name);
  removeRun(ctx.ref, name);
}
