import { isAbsolute, sep } from "node:path";
import type { Env } from "../os/env.ts";
import { sameName } from "../schema/names.ts";
import type { TeamEntry } from "../team/config/config.ts";

/** The member or request that a command names, from which its team follows. */
export interface Addressed {
  readonly name?: string | undefined;
  readonly team?: string | undefined;
  /** Whether something else in a team has this name, such as a request. Called only for teams without a member of this name. */
  readonly isIn?: (entry: TeamEntry) => boolean;
}

/**
 * Chooses the team of a command from several: the only team with a member of this name, or else with a request of this name; else
 * the team of this directory, or of the nearest directory above it.
 * @returns the team; `among` instead if no team or several teams match
 */
export function nearbyTeam(
  teams: readonly TeamEntry[],
  env: Env,
  addressed: Addressed,
): { readonly team: TeamEntry } | { readonly among: readonly TeamEntry[] } {
  const named = teamsWith(teams, addressed);
  const [only, ...more] = named;
  if (only !== undefined && more.length === 0) return { team: only };
  const among = named.length === 0 ? teams : named;
  // Shells set PWD; without it, the directory selects no team.
  const here = env.PWD;
  if (here === undefined || !isAbsolute(here)) return { among };
  const nearest = Math.max(...among.map((team) => nearness(team, here)));
  const [first, second] = among.filter((team) => nearness(team, here) === nearest);
  return nearest > 0 && first !== undefined && second === undefined ? { team: first } : { among };
}

/** Returns the teams with the member or request that a command names; none if it names nothing. */
export function teamsWith(teams: readonly TeamEntry[], { name, isIn }: Addressed): readonly TeamEntry[] {
  const owners = name === undefined ? [] : teams.filter((team) => hasMember(team, name));
  return owners.length === 0 && isIn !== undefined ? teams.filter(isIn) : owners;
}

function hasMember({ config }: TeamEntry, name: string): boolean {
  return config?.members.some((member) => sameName(member.name, name)) === true;
}

/** Returns the length of the longest member directory that is or contains this one; 0 if there is none. */
function nearness({ config }: TeamEntry, here: string): number {
  const directories = config?.members.map(({ cwd }) => cwd) ?? [];
  const ancestors = directories.filter(
    (path) =>
      isAbsolute(path) && (here === path || here.startsWith(path.endsWith(sep) ? path : `${path}${sep}`)),
  );
  return Math.max(0, ...ancestors.map(({ length }) => length));
}
