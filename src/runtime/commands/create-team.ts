import { type CreateTeamInput, createTeam } from "../../operations/create-team.ts";
import { systemClock } from "../../os/clock.ts";
import { defined } from "../../schema/defined.ts";
import { loadSettings } from "../../settings/settings.ts";
import { type TeamRef, teamsHome } from "../../team/ref.ts";
import type { Caller } from "../caller.ts";
import { refuseSecondTeam } from "../operation-context.ts";

/** A team that a person or a program leads: without a process, a model and a session. */
export interface ManualTeamInput
  extends Pick<CreateTeamInput, "name" | "recording" | "metadata" | "budget" | "description"> {
  readonly unique?: boolean | undefined;
  readonly agentType?: string | undefined;
}

/**
 * Creates a team that the caller leads, with the permission mode of its settings.
 * @throws TeamError INVALID_NAME, TEAM_EXISTS, INVALID_TYPE, NESTED_TEAM and ALREADY_LEADING in the shell of an agent
 */
export async function createManualTeam(call: Caller, input: ManualTeamInput): Promise<TeamRef> {
  const { env, cwd } = call.io;
  refuseSecondTeam(call, "create a team");
  const home = teamsHome(env);
  const mode = loadSettings(home.root, cwd).permissions.defaultMode;
  const agentType = input.agentType && (await canonicalType(home.root, cwd, input.agentType));
  const { ref } = await createTeam(home, systemClock, {
    ...defined({ ...input, agentType: agentType || undefined, mode }),
    cwd,
  });
  return ref;
}

/** Returns the agent type's name as its definition spells it. @throws TeamError INVALID_TYPE */
async function canonicalType(root: string, cwd: string, name: string): Promise<string> {
  const [{ agentTypesIn }, { spawnType }] = await Promise.all([
    import("../agent/load-agent-types.ts"),
    import("../../operations/spawn/draft-member.ts"),
  ]);
  return spawnType(name, await agentTypesIn(root, cwd)).name;
}
