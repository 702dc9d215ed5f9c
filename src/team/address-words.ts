import type { Env } from "../os/env.ts";
import { sameName } from "../schema/names.ts";
import { operand, optionWords } from "../text/shell-quote.ts";
import { listTeams, type TeamEntry } from "./config/config.ts";
import { teamsCalled } from "./config/find-team.ts";
import type { TeamRef } from "./ref.ts";

/**
 * Returns a member as the last argument of a command for a person to copy: `y@two` if another team has a member of that name, or if
 * `$TEAMS_TEAM` selects another team; else `y`.
 */
export function memberWord(ref: TeamRef, name: string, env: Env = {}): string {
  return operand(memberAddress(ref, name, env));
}

/** Like {@link memberWord}, but not quoted for a shell. */
function memberAddress(ref: TeamRef, name: string, env: Env = {}): string {
  const others = otherTeams(ref, env);
  const isShared = others.some(({ config }) => config?.members.some((member) => sameName(member.name, name)));
  return isShared || (others.length > 0 && selectsAnother(ref, env)) ? `${name}@${ref.team}` : name;
}

/** Returns ` --team two` for a command for a person to copy; "" if the command acts on this team anyway. */
export function teamOption(ref: TeamRef, env: Env): string {
  const isImplied = otherTeams(ref, env).length === 0 || (env.TEAMS_TEAM && !selectsAnother(ref, env));
  return isImplied ? "" : ` ${optionWords("--team", ref.team)}`;
}

/** Returns the other teams that `teams` created; none in an agent's shell, whose commands always act on its own team. */
function otherTeams({ home, team }: TeamRef, env: Env): readonly TeamEntry[] {
  return env.TEAMS_AGENT ? [] : listTeams(home).filter((entry) => entry.ours && entry.team !== team);
}

function selectsAnother({ home, team }: TeamRef, { TEAMS_TEAM: selected }: Env): boolean {
  return Boolean(selected) && !teamsCalled(listTeams(home), selected ?? "").includes(team);
}
