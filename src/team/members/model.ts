import { updateTeam } from "../config/config.ts";
import type { TeamRef } from "../ref.ts";
import { findMember } from "./members.ts";

/** Records the model of a member, which it keeps after a restart. @throws TeamError AGENT_NOT_FOUND, TEAM_NOT_FOUND */
export async function setModel(ref: TeamRef, name: string, model: string): Promise<void> {
  await updateTeam(ref, (config) => {
    const member = findMember(config, name);
    const members = config.members.map((one) => (one === member ? { ...member, model } : one));
    return { ...config, members };
  });
}
