import { TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { LEAD_NAME, sameName, splitAddress } from "../../schema/names.ts";
import { addMembers, lookUpMember } from "../../team/members/members.ts";
import { movableRef, teamRef, teamsHome } from "../../team/ref.ts";
import { agentIdentity, deciderOf, type OpenTeam, openTeam, type Selection } from "../select-team.ts";

/**
 * Finds the member that an MCP client acts as. Unlike other commands, a server does not act as the lead by default: its caller
 * is a model.
 * @throws TeamError INVALID_INPUT without an identity; as {@link openTeam}
 */
export function openClientMember(env: Env, selection: Selection): OpenTeam {
  requireIdentity(env, selection);
  return openTeam(env, selection, { team: addressedTeam(selection) });
}

/**
 * Finds the member as {@link openClientMember} does. The named team of a lead need not exist: the lead's model can create it. An agent
 * cannot create a second team this way.
 * @throws TeamError as {@link openClientMember}
 */
export function openClientLead(env: Env, selection: Selection): OpenTeam {
  try {
    return openClientMember(env, selection);
  } catch (error) {
    const name = selection.team ?? addressedTeam(selection);
    const isLead = selection.as !== undefined && sameName(splitAddress(selection.as).name, LEAD_NAME);
    const isMissing = error instanceof TeamError && error.code === "TEAM_NOT_FOUND";
    if (!isMissing || !isLead || name === undefined || deciderOf(env) === "model") throw error;
    const home = teamsHome(env);
    const ref = movableRef(teamRef(home, name));
    const config = { name: ref.team, createdAt: 0, leadAgentId: "", leadSessionId: "", members: [] };
    return { home, ref, config, actor: LEAD_NAME };
  }
}

/**
 * Finds the team that a member is to join, and the member's name.
 * @throws TeamError NESTED_TEAM in an agent's shell; as {@link openClientMember}, but not for a name that is not a member
 */
export function openTeamToJoin(env: Env, selection: Selection): OpenTeam {
  requireIdentity(env, selection);
  if (agentIdentity(env) !== undefined) {
    throw new TeamError("NESTED_TEAM", "An agent cannot add members this way. Nothing was changed.", {
      hint: "Omit --join, or run the command in your own shell.",
    });
  }
  const { team } = selection;
  const open = openTeam(env, { team }, { team: addressedTeam(selection) });
  const { name } = splitAddress(selection.as ?? "");
  return { ...open, actor: lookUpMember(open.config, name)?.name ?? name };
}

/**
 * Adds the member to its team, unless the team already has it. Idempotent: a client may start its server twice at once.
 * @throws TeamError INVALID_NAME; as {@link openTeamToJoin}
 */
export async function joinAsClient(env: Env, selection: Selection, cwd: string): Promise<OpenTeam> {
  const { ref, config, actor } = openTeamToJoin(env, selection);
  if (lookUpMember(config, actor) === undefined) await addIfMissing(ref, actor, cwd);
  return openClientMember(env, selection);
}

async function addIfMissing(ref: OpenTeam["ref"], name: string, cwd: string): Promise<void> {
  try {
    await addMembers(ref, [{ name, cwd }]);
  } catch (error) {
    if (!(error instanceof TeamError && error.code === "DUPLICATE_NAME")) throw error;
  }
}

function requireIdentity(env: Env, { as }: Selection): void {
  if (as !== undefined || agentIdentity(env) !== undefined) return;
  throw new TeamError("INVALID_INPUT", "No member was named for this server; nothing was started.", {
    hint: `Name the member: teams mcp --team <team> --as <member>, or set TEAMS_AGENT=<member>@<team>. The lead's name is ${LEAD_NAME}.`,
  });
}

function addressedTeam({ as }: Selection): string | undefined {
  return as === undefined ? undefined : splitAddress(as).team;
}
