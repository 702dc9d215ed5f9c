import { ownIdentity } from "../../os/process/identity.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { createTeamFiles, readTeam, updateTeam } from "../../team/config/config.ts";
import { spentBy, withSpentOf } from "../../team/members/budget.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { OperationContext } from "../context.ts";

/** The data that survives when a lead deletes its team: the lead itself, and the spent budget. */
export interface DeletedTeam {
  readonly lead: TeamMember | undefined;
  readonly config: Pick<TeamConfig, "leadSessionId" | "leadProcess" | "metadata">;
}

/** Reads the surviving data; call it before the deletion. @throws TeamError TEAM_NOT_FOUND */
export function deletedTeamOf(ref: TeamRef): DeletedTeam {
  const config = readTeam(ref);
  const others = config.members.filter(({ name }) => name !== LEAD_NAME);
  return {
    lead: config.members.find(({ name }) => name === LEAD_NAME),
    // The lead's own spending continues in its status record.
    config: others.reduce((sum, { name }) => withSpentOf(sum, spentBy(ref, name)), config),
  };
}

/**
 * Creates a team in place of the deleted one, with the same lead, session and process and with the remaining
 * budget.
 * @throws TeamError TEAM_EXISTS if another process has taken the name meanwhile
 */
export async function recreateTeam(
  { home, ref, clock, cwd }: OperationContext,
  deleted: DeletedTeam,
): Promise<void> {
  const { lead, config } = deleted;
  const { leadSessionId, leadProcess, metadata } = config;
  await createTeamFiles(
    home,
    defined({
      name: ref.team,
      leadSessionId,
      leadProcess: leadProcess && ownIdentity(),
      metadata,
      leadCwd: lead?.cwd ?? cwd,
      leadAgentType: lead?.agentType,
      leadModel: lead?.model,
      leadMode: lead?.mode,
      now: clock.now(),
    }),
  );
  if (lead?.metadata === undefined) return;
  // For a lead in delegate mode, the metadata contains its mode from before.
  await updateTeam(ref, (current) => ({
    ...current,
    members: current.members.map((one) =>
      one.name === LEAD_NAME ? { ...one, metadata: lead.metadata } : one,
    ),
  }));
}
