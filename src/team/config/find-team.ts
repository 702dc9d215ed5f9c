import { dirname } from "node:path";
import { TeamError } from "../../errors.ts";
import { listDir } from "../../os/files/fs.ts";
import type { TeamConfig } from "../../schema/config.ts";
import {
  FORMER_NAMES_KEY,
  isOwnTeamDir,
  possibleTeamDir,
  sameTeamName,
  type TeamDir,
} from "../../schema/names.ts";
import { type Home, type TeamRef, teamAt, teamRef } from "../ref.ts";
import { listTeams, type TeamEntry, teamExists } from "./config.ts";

/**
 * Finds the team that a name refers to: the team with this directory, else the only team whose directory has a similar name, else the
 * only team with this display name, else the only team with this former name. If there is none, returns a team that does not exist;
 * its first use throws TEAM_NOT_FOUND.
 * @throws TeamError INVALID_NAME; INVALID_INPUT if several teams match
 */
export function findTeam(home: Home, name: string): TeamRef {
  const ref = isOwnTeamDir(name) ? teamRef(home, name) : undefined;
  if (ref !== undefined && teamExists(ref) && isSpelling(ref)) return ref;
  const [first, ...others] = teamsCalled(listTeams(home), name);
  if (first === undefined) return ref ?? teamRef(home, name);
  if (others.length === 0) return teamAt(home, first);
  const teams = [first, ...others];
  throw new TeamError("INVALID_INPUT", `${teams.length} teams are called ${name}: ${teams.join(", ")}.`, {
    hint: "Use the name of the team's directory instead: teams ls lists it first.",
  });
}

/** True if the team's directory has exactly this name. A file system that ignores case finds it by every spelling. */
function isSpelling({ team, paths }: TeamRef): boolean {
  return listDir(dirname(paths.dir)).includes(team);
}

/**
 * Returns the teams that a name refers to, by the first of these that matches any team: the name of the directory, its normal form, a
 * similar name of the directory, the display name, a former name.
 */
export function teamsCalled(teams: readonly TeamEntry[], name: string): TeamDir[] {
  const dir = possibleTeamDir(name);
  const found = [
    teams.filter(({ team }) => team === name),
    teams.filter(({ team }) => team === dir),
    teams.filter(({ team }) => sameTeamName(team, name)),
    teams.filter(({ config }) => dir !== undefined && displayDir(config) === dir),
    teams.filter(({ config }) => dir !== undefined && config !== undefined && wasCalled(config, dir)),
  ].find((matches) => matches.length > 0);
  return (found ?? []).map(({ team }) => team);
}

/** Returns whether this is a name of the team: of its directory, its display name or a former one. */
export function isCalled(
  config: Pick<TeamConfig, "name" | "displayName" | "metadata">,
  name: string,
): boolean {
  if (sameTeamName(name, config.name)) return true;
  const dir = possibleTeamDir(name);
  return dir !== undefined && (dir === displayDir(config) || wasCalled(config, dir));
}

function wasCalled({ metadata }: Pick<TeamConfig, "metadata">, dir: TeamDir): boolean {
  const former = metadata?.[FORMER_NAMES_KEY];
  return Array.isArray(former) && former.includes(dir);
}

function displayDir(config: Pick<TeamConfig, "displayName"> | undefined): TeamDir | undefined {
  return config?.displayName === undefined ? undefined : possibleTeamDir(config.displayName);
}
