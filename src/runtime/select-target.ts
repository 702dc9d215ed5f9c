import { TeamError } from "../errors.ts";
import type { Env } from "../os/env.ts";
import type { TeamConfig, TeamMember } from "../schema/config.ts";
import { sameName } from "../schema/names.ts";
import { listTeams } from "../team/config/config.ts";
import { teamsCalled } from "../team/config/find-team.ts";
import { type Home, teamsHome } from "../team/ref.ts";
import { operand, optionWords } from "../text/shell-quote.ts";
import { type OpenTeam, openAddress, openTeam, type Selection } from "./select-team.ts";

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
      hint: `For the member, write ${operand(`${member.member.name}@${member.open.ref.team}`)}. For the team, write ${optionWords("--team", team)} and no argument.`,
    });
  }
  if (team !== undefined) return { kind: "team", open: openTeam(env, { ...selection, team: word }) };
  if (member === undefined) requireKnownMember(home, word);
  return { kind: "member", ...(member ?? splitAddressed(openAddress(env, selection, word))) };
}

/**
 * Refuses a name that no team or member has, before a user with several teams is asked to select one.
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
      hint: "List the teams with teams ls, and the members of a team with teams status <team>.",
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
