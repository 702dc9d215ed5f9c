import { isAbsolute, sep } from "node:path";
import type { Env } from "../os/env.ts";
import { sameName } from "../schema/names.ts";
import type { TeamEntry } from "../team/config/config.ts";

/** The member or request that a command names, from which its team follows. */
export interface Addressed {
  readonly name?: string | undefined;
  readonly team?: string | undefined;
  /** Whether the name is that of something else in a team, such as a request. Called only for teams without a member of this name. */
  readonly isIn?: (entry: TeamEntry) => boolean;
}

/**
 * Chooses the team of a command from several: the only team with a member of this name, or else with a request of this name; else
 * the team of this directory, or of the nearest directory above it.
 * @returns the team; `among` instead if none or several fit
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
  // Shells set it; without one, no directory is meant.
  const here = env.PWD;
  if (here === undefined || !isAbsolute(here)) return { among };
  const nearest = Math.max(...among.map((team) => nearness(team, here)));
  const [first, second] = among.filter((team) => nearness(team, here) === nearest);
  return nearest > 0 && first !== undefined && second === undefined ? { team: first } : { among };
}

/** Returns the teams that have what a command names; none if it names nothing. */
export function teamsWith(teams: readonly TeamEntry[], { name, isIn }: Addressed): readonly TeamEntry[] {
  const owners = name === undefined ? [] : teams.filter((team) => hasMember(team, name));
  return owners.length === 0 && isIn !== undefined ? teams.filter(isIn) : owners;
}

function hasMember({ config }: TeamEntry, name: string): boolean {
  return config?.members.some((member) => sameName(member.name, name)) === true;
}

/** Returns the length of the longest directory of a member that is or holds this one; 0 without one. */
function nearness({ config }: TeamEntry, here: string): number {
  const places = config?.members.map(({ cwd }) => cwd) ?? [];
  const around = places.filter(
    (place) =>
      isAbsolute(place) &&
      (here === place || here.startsWith(place.endsWith(sep) ? place : `${place}${sep}`)),
  );
  return Math.max(0, ...around.map(({ length }) => length));
}
