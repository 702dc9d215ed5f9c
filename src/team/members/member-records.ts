import type { TeamMember } from "../../schema/config.ts";
import { readTeam } from "../config/config.ts";
import { readExit, readPlace, readStatus } from "../records/read-records.ts";
import type { TeamRef } from "../ref.ts";
import type { AgentRecords } from "./judge-liveness.ts";

/** A member with its records. */
export interface MemberRecords extends AgentRecords {
  readonly member: TeamMember;
}

/** Reads the records of all members. @param config the team's config, if the caller has already read it */
export function memberRecords(ref: TeamRef, config = readTeam(ref)): readonly MemberRecords[] {
  return config.members.map((member) => {
    const { name } = member;
    return { member, status: readStatus(ref, name), place: readPlace(ref, name), exit: readExit(ref, name) };
  });
}
