import { resolve } from "node:path";
import { type CastFile, castsIn } from "../../casts/cast-files.ts";
import { type CastSummary, summarizeCast } from "../../casts/read-cast.ts";
import { messageOf, TeamError } from "../../errors.ts";
import { isDirectory } from "../../os/files/fs.ts";
import { agentFileName } from "../../protocol/paths.ts";
import { openTeam, type Selection } from "../../runtime/select-team.ts";
import { sameTeamName, splitAddress } from "../../schema/names.ts";
import { castDirectories, endedCastDirectories } from "../../team/records/cast-directories.ts";
import { readEndedTeams } from "../../team/records/ended-teams.ts";
import { teamsHome } from "../../team/ref.ts";
import type { Io } from "../../terminal/io.ts";

/** The recordings that a command line names. */
export interface FoundCasts {
  readonly casts: readonly CastSummary[];
  /** Why other recordings cannot be played. */
  readonly problems: readonly string[];
}

/**
 * Finds recordings: a file, those of an agent, or all of a team, ended teams included.
 * @param word an agent, `name@team`, or the path of a file
 * @throws TeamError TEAM_NOT_FOUND; AGENT_NOT_FOUND if the agent has no recording, CORRUPT_FILE if none of its recordings can be played;
 * CORRUPT_FILE, INVALID_INPUT for a file
 */
export function findCasts({ env, cwd }: Io, selection: Selection, word: string | undefined): FoundCasts {
  if (word !== undefined && (word.endsWith(".cast") || word.includes("/")))
    return { casts: [summarizeCast(requireFile(resolve(cwd, word)))], problems: [] };
  const { name, team } = word === undefined ? { name: undefined, team: undefined } : splitAddress(word);
  const { title, directories, since } = placesOf(env, selection, { name, team });
  const all = directories.flatMap(castsIn);
  const stem = name === undefined ? undefined : agentFileName(name);
  const found = summarized(all.filter((cast) => stem === undefined || isNamed(cast, stem)));
  // A directory that the user named may contain recordings of an earlier team.
  const casts = found.casts.filter(({ header }) => ((header.timestamp ?? 0) + 1) * 1000 > since);
  if (casts.length > 0 || name === undefined) return { ...found, casts };
  if (found.problems.length > 0) {
    const why = found.problems.join(" ");
    throw new TeamError("CORRUPT_FILE", `No recording of ${name} in ${title} can be played. ${why}`, {
      hint: "List the recordings: teams replay --json",
    });
  }
  const others = [...new Set(all.map((cast) => cast.stem))];
  throw new TeamError("AGENT_NOT_FOUND", `There is no recording of ${name} in ${title}.`, {
    hint:
      others.length === 0
        ? 'Record a team with: teams run --rec "…"   or a teammate with: teams spawn <name> --rec'
        : `Agents with recordings: ${others.join(", ")}`,
  });
}

/** @throws TeamError INVALID_INPUT for a directory */
function requireFile(path: string): string {
  if (!isDirectory(path)) return path;
  throw new TeamError("INVALID_INPUT", `${path} is a directory.`, {
    hint: "Name a recording in it, or an agent: teams replay <agent>",
  });
}

function isNamed({ stem }: CastFile, name: string): boolean {
  return stem.toLowerCase() === name.toLowerCase();
}

function summarized(files: readonly CastFile[]): FoundCasts {
  const casts: CastSummary[] = [];
  const problems: string[] = [];
  for (const { path } of files) {
    try {
      casts.push(summarizeCast(path));
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  return { casts, problems };
}

interface Places {
  readonly title: string;
  readonly directories: readonly string[];
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** @throws TeamError TEAM_NOT_FOUND if there is no such team, existing or ended */
function placesOf(
  env: Io["env"],
  selection: Selection,
  address: { readonly name: string | undefined; readonly team: string | undefined },
): Places {
  const home = teamsHome(env);
  try {
    const { ref, config } = openTeam(env, selection, defined(address));
    return { title: ref.team, directories: castDirectories(home, config), since: config.createdAt };
  } catch (error) {
    if (!(error instanceof TeamError && error.code === "TEAM_NOT_FOUND")) throw error;
    const wanted = selection.team ?? address.team;
    const ended = readEndedTeams(home).findLast(
      ({ team, displayName, casts }) =>
        casts !== undefined && (wanted === undefined || sameTeamName(team, wanted) || displayName === wanted),
    );
    if (ended?.casts === undefined) throw error;
    const directories = endedCastDirectories(home, ended.casts);
    return { title: ended.team, directories, since: ended.createdAt };
  }
}

function defined({ name, team }: { readonly name: string | undefined; readonly team: string | undefined }) {
  return { ...(name === undefined ? {} : { name }), ...(team === undefined ? {} : { team }) };
}
