import { TeamError } from "../../errors.ts";
import type { TeamConfig } from "../../schema/config.ts";
import type { EventOf } from "../../schema/event.ts";
import { readTeam } from "../config/config.ts";
import type { TeamRef } from "../ref.ts";
import { lookUpMember } from "./members.ts";

/** Whose event it is, as the team's file has it; of the team alone where it is nobody's. */
export function eventSubject(ref: TeamRef, config: TeamConfig, name: string | undefined): EventOf {
  const parentSessionId = config.leadSessionId || undefined;
  if (name === undefined) return { parentSessionId };
  return {
    agentId: `${name}@${ref.team}`,
    agentType: lookUpMember(config, name)?.agentType,
    parentSessionId,
  };
}

/** The same of the team as it is now. What cannot be read is said elsewhere: the event tells what is known without it. */
export function eventOfNow(ref: TeamRef, name: string | undefined): EventOf {
  try {
    return eventSubject(ref, readTeam(ref), name);
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    return name === undefined ? {} : { agentId: `${name}@${ref.team}` };
  }
}
