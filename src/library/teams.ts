import { teamOverview } from "../operations/team-summary.ts";
import { createManualTeam } from "../runtime/commands/create-team.ts";
import { openTeam as selectTeam } from "../runtime/select-team.ts";
import { teamOfPane } from "../runtime/tmux-environment.ts";
import { defined } from "../schema/defined.ts";
import { listTeams as entriesOf } from "../team/config/config.ts";
import { teamsHome } from "../team/ref.ts";
import { TeamAccess } from "./access.ts";
import { attempt } from "./attempt.ts";
import { requireLimits, requireOpenKeys } from "./checks.ts";
import { callerOf, hostOf, recordingDirectory } from "./host.ts";
import type { CallerOptions, CreateTeamOptions, OpenTeamOptions } from "./options.ts";
import type { TeamSummary } from "./reports.ts";
import type { Team } from "./team.ts";
import { teamHandle } from "./team-handle.ts";

/**
 * Creates a team that this program leads, and returns it.
 * @throws TeamError INVALID_NAME, TEAM_EXISTS, INVALID_TYPE, INVALID_INPUT, CORRUPT_FILE for wrong settings, NESTED_TEAM and
 * ALREADY_LEADING in the shell of an agent
 * @example
 * const team = await createTeam("review", { cwd: "/src/app", unique: true });
 */
export function createTeam(name: string, options: CreateTeamOptions = {}): Promise<Team> {
  return attempt(undefined, async (signal) => {
    const host = await hostOf(options);
    requireOpenKeys(options.metadata);
    requireLimits(options.budget);
    const { description, unique, agentType, metadata, budget, recording } = options;
    const ref = await createManualTeam(callerOf(host, signal), {
      ...{ name, unique, agentType, recording: recordingDirectory(host, recording) },
      ...defined({ description, metadata, budget: budget && defined(budget) }),
    });
    return teamHandle(new TeamAccess(host, selectTeam(host.env, { team: ref.team }), false));
  });
}

/**
 * Returns an existing team. Without a name, it is the team that the command line would select: that of this pane, of `$TEAMS_TEAM`, of
 * this directory, or the only one.
 * @throws TeamError TEAM_NOT_FOUND, AGENT_NOT_FOUND for `as`, INVALID_INPUT if several teams match, NOT_LEAD if an agent would act as
 * another member
 * @example
 * const team = await openTeam("review");
 */
export function openTeam(name?: string, options: OpenTeamOptions = {}): Promise<Team> {
  return attempt(undefined, async () => {
    const host = await hostOf(options);
    const marked = name === undefined ? await teamOfPane(host.env) : undefined;
    const open = selectTeam(host.env, { team: name, as: options.as, marked });
    return teamHandle(new TeamAccess(host, open, options.force ?? false));
  });
}

/**
 * Returns all teams of this user, ordered by name. A team with unreadable files is in the list, with the reason as its `problem`.
 * @throws TeamError PERMISSION_DENIED, STORAGE_ERROR if the directory of the teams cannot be read
 * @example
 * const waiting = (await listTeams()).filter(({ waiting }) => waiting > 0);
 */
export function listTeams(options: CallerOptions = {}): Promise<readonly TeamSummary[]> {
  return attempt(undefined, async () => {
    const home = teamsHome((await hostOf(options)).env);
    return entriesOf(home).map((entry) => {
      const { requests: _, ...summary } = teamOverview(home, entry);
      return summary;
    });
  });
}
