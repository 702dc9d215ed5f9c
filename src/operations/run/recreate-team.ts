import { TeamError } from "../../errors.ts";
import { ownIdentity } from "../../os/process/identity.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { changedMetadata, readMetadata } from "../../schema/member-metadata.ts";
import { isGeneratedTeamName, LEAD_NAME } from "../../schema/names.ts";
import { readTeam, updateTeam } from "../../team/config/config.ts";
import { createTeamFiles, type NewTeam } from "../../team/config/create-files.ts";
import { spentBy, withSpentOf } from "../../team/members/budget.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { OperationContext } from "../context.ts";
import { mayBeRenamed } from "./rename-team.ts";

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
 * budget. The context moves to its directory.
 * @param name the name of its directory, if the lead may choose it and no team has it; else that of the deleted team
 * @throws TeamError TEAM_EXISTS if another process has taken the name meanwhile
 */
export async function recreateTeam(
  ctx: OperationContext,
  deleted: DeletedTeam,
  name: string = ctx.ref.team,
): Promise<void> {
  const { home, ref } = ctx;
  const { lead, config } = deleted;
  const before = ref.team;
  const create = (called: string): Promise<TeamRef> => createTeamFiles(home, newTeam(ctx, deleted, called));
  const made = mayBeRenamed(ref, config)
    ? await create(name).catch((error: unknown) => {
        if (!isUnusable(error) || name === before) throw error;
        return create(before);
      })
    : await create(before);
  ref.moveTo?.(made.team);
  if (lead?.metadata === undefined) return;
  // For a lead in delegate mode, the metadata contains its mode from before.
  await updateTeam(ref, (current) => ({
    ...current,
    members: current.members.map((one) =>
      one.name === LEAD_NAME ? { ...one, metadata: lead.metadata } : one,
    ),
  }));
}

function newTeam(
  { ref, clock, cwd }: OperationContext,
  { lead, config }: DeletedTeam,
  name: string,
): NewTeam {
  const { leadSessionId, leadProcess, metadata } = config;
  // The name that the run has generated still names the run's team. A name that the lead chose is deleted with its team.
  const names = [...(readMetadata(config, "formerNames") ?? []), ref.team];
  const former = new Set(names.filter(isGeneratedTeamName));
  return defined({
    name,
    leadSessionId,
    leadProcess: leadProcess && ownIdentity(),
    metadata: changedMetadata(metadata, { formerNames: [...former] }),
    leadCwd: lead?.cwd ?? cwd,
    leadAgentType: lead?.agentType,
    leadModel: lead?.model,
    leadMode: lead?.mode,
    now: clock.now(),
  });
}

function isUnusable(error: unknown): boolean {
  return error instanceof TeamError && (error.code === "TEAM_EXISTS" || error.code === "INVALID_NAME");
}
