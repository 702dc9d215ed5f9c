import { ownIdentity } from "../../os/process/identity.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { createTeamFiles, readTeam, updateTeam } from "../../team/config/config.ts";
import { spentBy, withSpentOf } from "../../team/members/budget.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { OperationContext } from "../context.ts";

/** What a lead that deletes its team keeps of it: itself, and what its budget has paid for. */
export interface DeletedTeam {
  readonly lead: TeamMember | undefined;
  readonly config: Pick<TeamConfig, "leadSessionId" | "leadProcess" | "metadata">;
}

/** To be asked before the team goes. @throws TeamError TEAM_NOT_FOUND */
export function deletedTeamOf(ref: TeamRef): DeletedTeam {
  const config = readTeam(ref);
  const others = config.members.filter(({ name }) => name !== LEAD_NAME);
  return {
    lead: config.members.find(({ name }) => name === LEAD_NAME),
    // What the lead has spent it goes on saying itself.
    config: others.reduce((sum, { name }) => withSpentOf(sum, spentBy(ref, name)), config),
  };
}

/**
 * Makes a team in the place of the one that its lead has deleted: the same lead in the same session and process, and no more
 * of the budget than was left.
 * @throws TeamError TEAM_EXISTS where somebody else has taken the name meanwhile
 */
export async function recreateTeam(
  { home, ref, clock, cwd }: OperationContext,
  left: DeletedTeam,
): Promise<void> {
  const { lead, config } = left;
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
  // Among it the mode from before, of one that only coordinates.
  await updateTeam(ref, (current) => ({
    ...current,
    members: current.members.map((one) =>
      one.name === LEAD_NAME ? { ...one, metadata: lead.metadata } : one,
    ),
  }));
}
