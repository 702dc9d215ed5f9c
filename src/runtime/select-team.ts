import { TeamError } from "../errors.ts";
import type { Env } from "../os/env.ts";
import { ancestorEnv, type StartVariable } from "../os/process/ancestors.ts";
import type { TeamConfig, TeamMember } from "../schema/config.ts";
import { LEAD_NAME, sameName, splitAddress } from "../schema/names.ts";
import { listTeams, readTeam, type TeamEntry } from "../team/config/config.ts";
import { findTeam, isCalled } from "../team/config/find-team.ts";
import { adoptedAddress } from "../team/members/adopted-processes.ts";
import { findMember } from "../team/members/members.ts";
import { type Home, movableRef, type TeamRef, teamAt, teamsHome } from "../team/ref.ts";
import { operand } from "../text/shell-quote.ts";
import { type Addressed, nearbyTeam, teamsWith } from "./nearby-team.ts";

/** The options of a command that select its team and actor. */
export interface Selection {
  readonly team?: string | undefined;
  readonly as?: string | undefined;
  /** The team to which the caller's tmux pane belongs. */
  readonly marked?: string | undefined;
}

/**
 * Selects the team of a command: `--team`, the `@team` of an address, the team of the agent in whose shell it runs, that of the tmux
 * pane, `$TEAMS_TEAM`, else the only team that `teams` has created; of several, the team that has what the command names, or the team of
 * this directory. Does not check that a named team exists.
 * @throws TeamError TEAM_NOT_FOUND if there is no team, INVALID_INPUT if several match (its details name them), INVALID_NAME
 */
function resolveTeam(home: Home, env: Env, selection: Selection, words: Addressed = {}): TeamRef {
  const { team: addressed } = words;
  const given = oneTeam(home, selection.team, addressed) ?? agentIdentity(env)?.team;
  const name = given ?? markedTeam(home, selection.marked, words) ?? (env.TEAMS_TEAM || undefined);
  return name === undefined ? teamAt(home, impliedTeam(home, env, words)) : findTeam(home, name);
}

/** Returns the team of the caller's pane; if that lacks the named member or request, the only team that has it. */
function markedTeam(home: Home, marked: string | undefined, words: Addressed): string | undefined {
  if (marked === undefined || words.name === undefined) return marked;
  const owners = teamsWith(
    listTeams(home).filter(({ ours }) => ours),
    words,
  );
  const [only, ...more] = owners;
  return only !== undefined && more.length === 0 ? only.team : marked;
}

/**
 * Returns the team that a command names by an operand, by `--team`, or by both.
 * @throws TeamError INVALID_INPUT if they name two teams, INVALID_NAME
 */
export function namedTeam(env: Env, { team }: Selection, word: string | undefined): string | undefined {
  // doctor runs even if the home cannot be read.
  return word === undefined ? team : oneTeam(teamsHome(env), team, word);
}

function oneTeam(home: Home, option: string | undefined, word: string | undefined): string | undefined {
  if (option !== undefined && word !== undefined && !isSameTeam(home, option, word)) {
    throw new TeamError("INVALID_INPUT", `The command names two teams: ${word}, and --team ${option}.`, {
      hint: "Omit one of them.",
    });
  }
  return option ?? word;
}

function isSameTeam(home: Home, a: string, b: string): boolean {
  return a === b || findTeam(home, a).team === findTeam(home, b).team;
}

function impliedTeam(home: Home, env: Env, words: Addressed): TeamRef["team"] {
  const all = listTeams(home);
  const ours = all.filter((entry) => entry.ours);
  const [first, second] = ours;
  const broken = all.find(({ problem }) => problem !== undefined);
  if (first === undefined && broken !== undefined) {
    const message = `No team was selected, and it is unknown which program created ${broken.team}: ${broken.problem}`;
    throw new TeamError("CORRUPT_FILE", message, { hint: `teams doctor ${operand(broken.team)}` });
  }
  if (first === undefined) {
    throw new TeamError("TEAM_NOT_FOUND", "There is no team yet.", {
      hint: 'Create one: teams create <name>, or let a lead do it: teams run "<goal>"',
    });
  }
  if (second === undefined) return first.team;
  const nearby = nearbyTeam(ours, env, words);
  if ("team" in nearby) return nearby.team.team;
  throw undecidedError(ours.length, nearby.among, words.name);
}

/** Creates the error for a command that may mean several teams. At a terminal, the caller asks the person instead. */
function undecidedError(count: number, among: readonly TeamEntry[], name: string | undefined): TeamError {
  const teams = among.map(({ team }) => team);
  const isShared = name !== undefined && teams.length < count;
  const several = isShared ? `${teams.length} of ${count} teams have ${name}` : `There are ${count} teams`;
  return new TeamError("INVALID_INPUT", `${several}, and none was selected.`, {
    hint: `Add --team <name> or set TEAMS_TEAM: ${teams.join(", ")}`,
    details: { teams },
  });
}

/**
 * Returns the agent in whose shell this runs: `$TEAMS_AGENT`, `name@team`; else the member whose adopted program started this process;
 * else the agent of this root whose shell is an ancestor, which finds a command that clears its environment. A command that also leaves
 * the agent's process tree is not found: only the sandbox stops it.
 */
export function agentIdentity(
  env: Env,
): { readonly name: string; readonly team: string | undefined } | undefined {
  const address = env[AGENT] || adoptedAddress(teamsHome(env).root) || addressAbove(env);
  if (!address) return undefined;
  const { name, team } = splitAddress(address);
  return { name, team };
}

/** The variable that names the agent in whose shell a program runs. */
export const AGENT = "TEAMS_AGENT";

function addressAbove(env: Env): string | undefined {
  const { root } = teamsHome(env);
  const isOurs = (variable: StartVariable): boolean =>
    Boolean(variable(AGENT)) &&
    teamsHome({
      HOME: variable("HOME"),
      TEAMS_HOME: variable("TEAMS_HOME"),
      CLAUDE_CONFIG_DIR: variable("CLAUDE_CONFIG_DIR"),
    }).root === root;
  return ancestorEnv(isOurs)?.(AGENT);
}

/** Returns who decides in this shell: the model if an agent of any root started it, else the person. */
export function deciderOf(env: Env): "person" | "model" {
  const isInAgentShell =
    agentIdentity(env) !== undefined || ancestorEnv((variable) => Boolean(variable(AGENT)));
  return isInAgentShell ? "model" : "person";
}

/**
 * Returns the acting member: the agent in whose shell this runs, else `--as`, else the lead.
 * @throws TeamError NOT_LEAD if an agent would act as another member, AGENT_NOT_FOUND
 */
function resolveActor(ref: TeamRef, config: TeamConfig, env: Env, selection: Selection): string {
  const own = agentIdentity(env);
  const requested = selection.as === undefined ? undefined : splitAddress(selection.as);
  if (own === undefined)
    return requested === undefined ? LEAD_NAME : memberByAddress(ref, config, selection.as ?? "").name;
  const isOtherTeam = own.team !== undefined && !isCalled(config, own.team);
  if (isOtherTeam || (requested !== undefined && !sameName(requested.name, own.name))) {
    const target = isOtherTeam ? `in team ${ref.team}` : `as ${selection.as}`;
    throw new TeamError(
      "NOT_LEAD",
      `This shell belongs to the agent ${own.name}@${own.team ?? ref.team}; it cannot act ${target}.`,
      {
        hint: "Omit --as and --team, or run the command in another shell.",
      },
    );
  }
  return memberByAddress(ref, config, own.name).name;
}

/** The team of a command, its config, and the name of the acting member. */
export interface OpenTeam {
  readonly home: Home;
  readonly ref: TeamRef;
  readonly config: TeamConfig;
  readonly actor: string;
}

/** @throws TeamError TEAM_NOT_FOUND, NOT_LEAD, AGENT_NOT_FOUND, INVALID_INPUT */
export function openTeam(env: Env, selection: Selection, addressed?: Addressed): OpenTeam {
  const home = teamsHome(env);
  const resolve = (): TeamRef => movableRef(resolveTeam(home, env, selection, addressed));
  const { ref, config } = readNow(resolve(), resolve);
  return { home, ref, config, actor: resolveActor(ref, config, env, selection) };
}

/**
 * Opens the team of a command that can show several: the selected one, else all teams that the rules leave as candidates.
 * @param problem receives the error of each of several teams that cannot be read
 * @throws TeamError as {@link openTeam}, unless only the choice between several teams was missing
 */
export function openTeams(
  env: Env,
  selection: Selection,
  problem: (error: TeamError) => void,
): readonly [OpenTeam, ...OpenTeam[]] {
  try {
    return [openTeam(env, selection)];
  } catch (error) {
    const [first, ...rest] = undecidedTeams(error).flatMap((team) => {
      try {
        return [openTeam(env, { ...selection, team })];
      } catch (unreadable) {
        if (!(unreadable instanceof TeamError)) throw unreadable;
        problem(unreadable);
        return [];
      }
    });
    if (first === undefined) throw error;
    return [first, ...rest];
  }
}

/** Returns the teams among which a command could not decide; none for another error. */
export function undecidedTeams(error: unknown): readonly string[] {
  const teams =
    error instanceof TeamError && error.code === "INVALID_INPUT" ? error.details?.teams : undefined;
  return Array.isArray(teams) ? (teams as readonly string[]) : [];
}

/** Reads a team; searches again if the team was renamed between the search and this read. */
function readNow(ref: TeamRef, resolve: () => TeamRef): Pick<OpenTeam, "ref" | "config"> {
  try {
    return { ref, config: readTeam(ref) };
  } catch (error) {
    if (!(error instanceof TeamError && error.code === "TEAM_NOT_FOUND")) throw error;
    const again = resolve();
    if (again.team === ref.team) throw error;
    return { ref: again, config: readTeam(again) };
  }
}

/** Opens the team of an address and finds its member. @throws TeamError as {@link openTeam}, AGENT_NOT_FOUND */
export function openAddress(
  env: Env,
  selection: Selection,
  address: string,
): OpenTeam & { readonly member: TeamMember } {
  const opened = openTeam(env, selection, splitAddress(address));
  return { ...opened, member: memberByAddress(opened.ref, opened.config, address) };
}

/** Returns the member of this team with an address. @throws TeamError AGENT_NOT_FOUND, INVALID_INPUT for another team's address */
export function memberByAddress(ref: TeamRef, config: TeamConfig, address: string): TeamMember {
  const { name, team } = splitAddress(address);
  if (team !== undefined && !isCalled(config, team)) {
    throw new TeamError("INVALID_INPUT", `${address} is not in team ${ref.team}.`, {
      hint: "Name only members of one team in a command.",
    });
  }
  return findMember(config, name);
}
