import { TeamError } from "../errors.ts";
import type { Env } from "../os/env.ts";
import type { TeamConfig, TeamMember } from "../schema/config.ts";
import { LEAD_NAME, sameName, splitAddress, teamDir } from "../schema/names.ts";
import { listTeams, readTeam } from "../team/config/config.ts";
import { findMember } from "../team/members/members.ts";
import { type Home, type TeamRef, teamRef, teamsHome } from "../team/ref.ts";
import { operand, optionWords } from "../text/shell-quote.ts";

/** What the options of a command say about team and actor. */
export interface Selection {
  readonly team?: string | undefined;
  readonly as?: string | undefined;
}

/**
 * The team that a command line is about: `--team`, the `@team` of an address, the team of the agent in whose shell we
 * are, `$TEAMS_TEAM`, else the one team of ours. Whether it exists is seen when it is read.
 * @throws TeamError TEAM_NOT_FOUND when there is none, INVALID_INPUT when there are several, INVALID_NAME
 */
function resolveTeam(home: Home, env: Env, selection: Selection, addressed?: string): TeamRef {
  const named = selection.team;
  if (named !== undefined && addressed !== undefined && teamDir(named) !== teamDir(addressed)) {
    throw new TeamError("INVALID_INPUT", `--team says ${named}, the address says ${addressed}.`, {
      hint: "Leave one of them out.",
    });
  }
  const name = named ?? addressed ?? agentIdentity(env)?.team ?? (env.TEAMS_TEAM || undefined);
  return teamRef(home, name === undefined ? onlyTeam(home) : teamDir(name));
}

function onlyTeam(home: Home): TeamRef["team"] {
  const all = listTeams(home);
  const ours = all.filter((entry) => entry.ours);
  const [first, second] = ours;
  const broken = all.find(({ flaw }) => flaw !== undefined);
  if (first === undefined && broken !== undefined) {
    const message = `There is no team that can be read, and it cannot be told whose ${broken.team} is: ${broken.flaw}`;
    throw new TeamError("CORRUPT_FILE", message, { hint: `teams doctor ${operand(broken.team)}` });
  }
  if (first === undefined) {
    throw new TeamError("TEAM_NOT_FOUND", "There is no team yet.", {
      hint: 'Make one: teams create <name>, or let a lead do it: teams run "<goal>"',
    });
  }
  if (second === undefined) return first.team;
  throw new TeamError("INVALID_INPUT", `There are ${ours.length} teams; which one is meant?`, {
    hint: `Say --team <name> or set TEAMS_TEAM: ${ours.map((entry) => entry.team).join(", ")}`,
  });
}

/** The agent in whose shell this runs: `$TEAMS_AGENT`, `name@team`. */
export function agentIdentity(
  env: Env,
): { readonly name: string; readonly team: string | undefined } | undefined {
  const given = env.TEAMS_AGENT;
  if (!given) return undefined;
  const { name, team } = splitAddress(given);
  return { name, team };
}

/** Whether a person decides at this shell, or the model of the agent that it belongs to. */
export function deciderOf(env: Env): "person" | "model" {
  return agentIdentity(env) === undefined ? "person" : "model";
}

/**
 * The member who acts: the agent in whose shell this runs, else `--as`, else the lead.
 * @throws TeamError NOT_LEAD when an agent would act as somebody else, AGENT_NOT_FOUND
 */
function resolveActor(ref: TeamRef, config: TeamConfig, env: Env, selection: Selection): string {
  const own = agentIdentity(env);
  const asked = selection.as === undefined ? undefined : splitAddress(selection.as);
  if (own === undefined)
    return asked === undefined ? LEAD_NAME : memberByAddress(ref, config, selection.as ?? "").name;
  const elsewhere = own.team !== undefined && teamDir(own.team) !== ref.team;
  if (elsewhere || (asked !== undefined && !sameName(asked.name, own.name))) {
    const other = elsewhere ? `in team ${ref.team}` : `as ${selection.as}`;
    throw new TeamError(
      "NOT_LEAD",
      `This shell belongs to the agent ${env.TEAMS_AGENT}; it cannot act ${other}.`,
      {
        hint: "Leave --as and --team out, or run it in a shell of your own.",
      },
    );
  }
  return memberByAddress(ref, config, own.name).name;
}

/** A team of a command line, read, and who acts in it. */
export interface OpenTeam {
  readonly home: Home;
  readonly ref: TeamRef;
  readonly config: TeamConfig;
  readonly actor: string;
}

/** @throws TeamError TEAM_NOT_FOUND, NOT_LEAD, AGENT_NOT_FOUND, INVALID_INPUT */
export function openTeam(env: Env, selection: Selection, addressed?: string): OpenTeam {
  const home = teamsHome(env);
  const ref = resolveTeam(home, env, selection, addressed);
  const config = readTeam(ref);
  return { home, ref, config, actor: resolveActor(ref, config, env, selection) };
}

/** The team of an address, and the member that it names. @throws TeamError as {@link openTeam}, AGENT_NOT_FOUND */
export function openAddress(
  env: Env,
  selection: Selection,
  address: string,
): OpenTeam & { readonly member: TeamMember } {
  const opened = openTeam(env, selection, splitAddress(address).team);
  return { ...opened, member: memberByAddress(opened.ref, opened.config, address) };
}

/** The member of this team that an address names. @throws TeamError AGENT_NOT_FOUND, INVALID_INPUT for another team's */
export function memberByAddress(ref: TeamRef, config: TeamConfig, address: string): TeamMember {
  const { name, team } = splitAddress(address);
  if (team !== undefined && teamDir(team) !== ref.team) {
    throw new TeamError("INVALID_INPUT", `${address} is not in team ${ref.team}.`, {
      hint: "One command acts in one team: name members of the same one.",
    });
  }
  return findMember(config, name);
}

/** A word that may name a team or a member (`kill`, `attach`). */
type TeamOrMember =
  | { readonly kind: "team"; readonly open: OpenTeam }
  | { readonly kind: "member"; readonly open: OpenTeam; readonly member: TeamMember };

/**
 * @param word undefined: the team of the command line
 * @throws TeamError INVALID_INPUT for a word that names both, saying how to tell them apart
 */
export function resolveTarget(env: Env, selection: Selection, word: string | undefined): TeamOrMember {
  if (word === undefined) return { kind: "team", open: openTeam(env, selection) };
  if (selection.team !== undefined || word.includes("@")) {
    return { kind: "member", ...splitOpen(openAddress(env, selection, word)) };
  }
  const home = teamsHome(env);
  const team = listTeams(home).find((entry) => entry.team === dirOf(word))?.team;
  const member = memberHere(env, selection, word);
  if (team !== undefined && member !== undefined) {
    throw new TeamError("INVALID_INPUT", `${JSON.stringify(word)} names both a team and a member.`, {
      hint: `The member: ${operand(`${member.member.name}@${member.open.ref.team}`)}. The team: ${optionWords("--team", team)} and no word.`,
    });
  }
  if (team !== undefined) return { kind: "team", open: openTeam(env, { ...selection, team }) };
  if (member === undefined) assertSomebodys(home, word);
  return { kind: "member", ...(member ?? splitOpen(openAddress(env, selection, word))) };
}

/**
 * Which team is meant is asked only where one of several has such a member.
 * @throws TeamError AGENT_NOT_FOUND
 */
function assertSomebodys(home: Home, word: string): void {
  const ours = listTeams(home).filter((entry) => entry.ours);
  const isSomebodys = ours.some(({ config }) => config === undefined || hasMember(config, word));
  if (ours.length < 2 || isSomebodys) return;
  throw new TeamError(
    "AGENT_NOT_FOUND",
    `There is no team ${JSON.stringify(word)}, and no team has a member of that name.`,
    {
      hint: "teams ls shows the teams, and teams status <team> its members.",
    },
  );
}

function hasMember({ members }: TeamConfig, word: string): boolean {
  return members.some(({ name }) => sameName(name, word));
}

function splitOpen(found: OpenTeam & { readonly member: TeamMember }): {
  readonly open: OpenTeam;
  readonly member: TeamMember;
} {
  const { member, ...open } = found;
  return { open, member };
}

/** The member of that name in the team that needs no naming; undefined where there is no such team or member. */
function memberHere(
  env: Env,
  selection: Selection,
  word: string,
): { readonly open: OpenTeam; readonly member: TeamMember } | undefined {
  try {
    return splitOpen(openAddress(env, selection, word));
  } catch (error) {
    // That there is none is an answer; the word may still name a team.
    if (error instanceof TeamError && NO_SUCH.has(error.code)) return undefined;
    throw error;
  }
}

const NO_SUCH: ReadonlySet<string> = new Set(["TEAM_NOT_FOUND", "AGENT_NOT_FOUND", "INVALID_INPUT"]);

/** The directory form of a word, if a team could have that name. */
function dirOf(word: string): string | undefined {
  try {
    return teamDir(word);
  } catch (error) {
    if (error instanceof TeamError) return undefined;
    throw error;
  }
}
