import { castsIn } from "../../casts/cast-files.ts";
import { TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { agentFileName } from "../../protocol/paths.ts";
import { openTeam } from "../../runtime/select-team.ts";
import { listTeams } from "../../team/config/config.ts";
import { castDirectories, endedCastDirectories } from "../../team/records/cast-directories.ts";
import { readEndedTeams } from "../../team/records/ended-teams.ts";
import { teamsHome } from "../../team/ref.ts";

interface RecordedTeam {
  readonly team: string;
  readonly directories: readonly string[];
}

/** An agent with recordings, by the name that `teams replay` accepts. */
export interface RecordedAgent {
  readonly word: string;
  readonly about: string;
}

/**
 * Returns the agents that have recordings: those of the selected team, else of all teams, ended ones included.
 * @param last the beginning of the word; an address (`ada@`) is completed in all teams
 */
export function recordedAgents(
  env: Env,
  { team, last }: { readonly team: string | undefined; readonly last: string },
): readonly RecordedAgent[] {
  const selected = last.includes("@") ? [] : recordedIn(selectedTeams(env, team));
  if (selected.length > 0) return selected.map(({ name, about }) => ({ word: name, about }));
  return recordedIn(allTeams(env)).map(({ name, about, team: of }) => ({ word: `${name}@${of}`, about }));
}

function recordedIn(teams: readonly RecordedTeam[]): { name: string; about: string; team: string }[] {
  return teams.flatMap(({ team, directories }) => {
    const stems = directories.flatMap(castsIn).map(({ stem }) => stem);
    // File names encode other names, which cannot always be decoded.
    const names = [...new Set(stems)].filter((stem) => agentFileName(stem) === stem);
    return names.map((name) => {
      const count = stems.filter((stem) => stem === name).length;
      return { name, team, about: `${count === 1 ? "1 recording" : `${count} recordings`} in ${team}` };
    });
  });
}

function selectedTeams(env: Env, team: string | undefined): readonly RecordedTeam[] {
  try {
    const { ref, config } = openTeam(env, { team });
    return [{ team: ref.team, directories: castDirectories(ref.home, config) }];
  } catch (error) {
    if (error instanceof TeamError) return [];
    throw error;
  }
}

function allTeams(env: Env): readonly RecordedTeam[] {
  const home = teamsHome(env);
  const existing = listTeams(home).flatMap(({ team, config }) =>
    config === undefined ? [] : [{ team, directories: castDirectories(home, config) }],
  );
  const exists = (team: string): boolean => existing.some((one) => one.team === team);
  const ended = readEndedTeams(home)
    .toReversed()
    .flatMap(({ team, casts }) => {
      if (casts === undefined || exists(team)) return [];
      return [{ team, directories: endedCastDirectories(home, casts) }];
    });
  const newest = ended.filter(({ team }, i) => ended.findIndex((one) => one.team === team) === i);
  return [...existing, ...newest];
}
