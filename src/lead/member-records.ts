import type { TeamMember } from "../schema/config.ts";
import { readTeam } from "../team/config.ts";
import type { AgentRecords } from "../team/liveness.ts";
import { readExit, readPlace, readStatus } from "../team/records.ts";
import type { TeamRef } from "../team/ref.ts";

/** A member, and what is known of it. */
export interface MemberRecords extends AgentRecords {
  readonly member: TeamMember;
}

/** Of all members. @param config the team's file, for who has read it already */
export function memberRecords(ref: TeamRef, config = readTeam(ref)): readonly MemberRecords[] {
  return config.members.map((member) => {
    const { name } = member;
    return { member, status: readStatus(ref, name), place: readPlace(ref, name), exit: readExit(ref, name) };
  });
}
