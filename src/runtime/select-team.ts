import { TeamError } from "../errors.ts";
import type { Env } from "../os/env.ts";
import type { TeamConfig, TeamMember } from "../schema/config.ts";
import { LEAD_NAME, sameName, splitAddress, teamDir } from "../schema/names.ts";
import { listTeams, readTeam } from "../team/config/config.ts";
import { findTeam, isCalled, teamsCalled } from "../team/config/find-team.ts";
import { findMember } from "../team/members/members.ts";
import { type Home, movableRef, type TeamRef, teamRef, teamsHome } from "../team/ref.ts";
import { operand, optionWords } from "../text/shell-quote.ts";

/** The options of a command that select its team and actor. */
export interface Selection {
  readonly team?: string | undefined;
  readonly as?: string | undefined;
}

/**
 * Selects the team of a command: `--team`, the `@team` of an address, the team of the agent in whose shell it runs,
 * `$TEAMS_TEAM`, else the only team that `teams` has created. Does not check that a named team exists.
 * @throws TeamError TEAM_NOT_FOUND if there is no team, INVALID_INPUT if there are several, INVALID_NAME
 */
function resolveTeam(home: Home, env: Env, selection: Selection, addressed?: string): TeamRef {
  const named = selection.team;
  if (named !== undefined && addressed !== undefined && !isSameTeam(home, named, addressed)) {
    throw new TeamError("INVALID_INPUT", `--team names ${named}, but the address names ${addressed}.`, {
      hint: "Omit one of them.",
    });
  }
  const name = named ?? addressed ?? agentIdentity(env)?.team ?? (env.TEAMS_TEAM || undefined);
  return name === undefined ? teamRef(home, onlyTeam(home)) : findTeam(home, name);
}

function isSameTeam(home: Home, a: string, b: string): boolean {
  return teamDir(a) === teamDir(b) || findTeam(home, a).team === findTeam(home, b).team;
}

function onlyTeam(home: Home): TeamRef["team"] {
  const all = listTeams(home);
  const ours = all.filter((entry) => entry.ours);
  const [first, second] = ours;
  const broken = all.find(({ flaw }) => flaw !== undefined);
  if (first === undefined && broken !== undefined) {
    const message = `No team was selected, and it is unknown which program created ${broken.team}: ${broken.flaw}`;
    throw new TeamError("CORRUPT_FILE", message, { hint: `teams doctor ${operand(broken.team)}` });
  }
  if (first === undefined) {
    throw new TeamError("TEAM_NOT_FOUND", "There is no team yet.", {
      hint: 'Create one: teams create <name>, or let a lead do it: teams run "<goal>"',
    });
  }
  if (second === undefined) return first.team;
  throw new TeamError("INVALID_INPUT", `There are ${ours.length} teams, and none was selected.`, {
    hint: `Add --team <name> or set TEAMS_TEAM: ${ours.map((entry) => entry.team).join(", ")}`,
  });
}

/** The agent in whose shell this runs: `$TEAMS_AGENT`, `name@team`. */
export function agentIdentity(
  env: Env,
): { readonly name: string; readonly team: string | undefined } | undefined {
  const address = env.TEAMS_AGENT;
  if (!address) return undefined;
  const { name, team } = splitAddress(address);
  return { name, team };
}

/** Who decides in this shell: the person, or the model of the agent that it belongs to. */
export function deciderOf(env: Env): "person" | "model" {
  return agentIdentity(env) === undefined ? "person" : "model";
}

/**
 * The member who acts: the agent in whose shell this runs, else `--as`, else the lead.
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
      `This shell belongs to the agent ${env.TEAMS_AGENT}; it cannot act ${target}.`,
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
export function openTeam(env: Env, selection: Selection, addressed?: string): OpenTeam {
  const home = teamsHome(env);
  const resolve = (): TeamRef => movableRef(resolveTeam(home, env, selection, addressed));
  const { ref, config } = readNow(resolve(), resolve);
  return { home, ref, config, actor: resolveActor(ref, config, env, selection) };
}

/** Reads a team; searches once more if the team got another name between its search and this read. */
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
  const opened = openTeam(env, selection, splitAddress(address).team);
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

/** An argument that may name a team or a member (`kill`, `attach`). */
type TeamOrMember =
  | { readonly kind: "team"; readonly open: OpenTeam }
  | { readonly kind: "member"; readonly open: OpenTeam; readonly member: TeamMember };

/**
 * Resolves an argument as a team or as a member.
 * @param word undefined for the selected team
 * @throws TeamError INVALID_INPUT if it names both; the hint says how to name each
 */
export function resolveTarget(env: Env, selection: Selection, word: string | undefined): TeamOrMember {
  if (word === undefined) return { kind: "team", open: openTeam(env, selection) };
  if (selection.team !== undefined || word.includes("@")) {
    return { kind: "member", ...splitAddressed(openAddress(env, selection, word)) };
  }
  const home = teamsHome(env);
  const [team] = teamsCalled(listTeams(home), word);
  const member = memberOfDefaultTeam(env, selection, word);
  if (team !== undefined && member !== undefined) {
    throw new TeamError("INVALID_INPUT", `${JSON.stringify(word)} names both a team and a member.`, {
      hint: `The member: ${operand(`${member.member.name}@${member.open.ref.team}`)}. The team: ${optionWords("--team", team)} and no argument.`,
    });
  }
  if (team !== undefined) return { kind: "team", open: openTeam(env, { ...selection, team: word }) };
  if (member === undefined) requireKnownMember(home, word);
  return { kind: "member", ...(member ?? splitAddressed(openAddress(env, selection, word))) };
}

/**
 * Refuses a name that no team has, so that a user with several teams is not asked to select one in vain.
 * @throws TeamError AGENT_NOT_FOUND
 */
function requireKnownMember(home: Home, word: string): void {
  const ours = listTeams(home).filter((entry) => entry.ours);
  const isKnown = ours.some(({ config }) => config === undefined || hasMember(config, word));
  if (ours.length < 2 || isKnown) return;
  throw new TeamError(
    "AGENT_NOT_FOUND",
    `There is no team ${JSON.stringify(word)}, and no team has a member of that name.`,
    {
      hint: "List the teams with teams ls, and the members of one with teams status <team>.",
    },
  );
}

function hasMember({ members }: TeamConfig, word: string): boolean {
  return members.some(({ name }) => sameName(name, word));
}

function splitAddressed(found: OpenTeam & { readonly member: TeamMember }): {
  readonly open: OpenTeam;
  readonly member: TeamMember;
} {
  const { member, ...open } = found;
  return { open, member };
}

/** Returns the member of that name in the default team; undefined if there is no such team or member. */
function memberOfDefaultTeam(
  env: Env,
  selection: Selection,
  word: string,
): { readonly open: OpenTeam; readonly member: TeamMember } | undefined {
  try {
    return splitAddressed(openAddress(env, selection, word));
  } catch (error) {
    // The word may still name a team.
    if (error instanceof TeamError && NOT_FOUND_CODES.has(error.code)) return undefined;
    throw error;
  }
}

const NOT_FOUND_CODES: ReadonlySet<string> = new Set(["TEAM_NOT_FOUND", "AGENT_NOT_FOUND", "INVALID_INPUT"]);
