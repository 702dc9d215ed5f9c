import { join } from "node:path";
import { isOwnRuntime } from "../../os/files/app-directories.ts";
import { isAbandonedFifo } from "../../os/files/fifo.ts";
import { entryOf, listDir, removeFile, removeIfEmpty } from "../../os/files/fs.ts";
import { livenessOf } from "../../os/process/identity.ts";
import { agentFileName } from "../../protocol/paths.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { readTeam } from "../config/config.ts";
import { updateTeamFile } from "../config/team-lock.ts";
import { launchScriptOf } from "../members/judge-liveness.ts";
import { livenessOfAgent, readPlace } from "../records/read-records.ts";
import type { TeamRef } from "../ref.ts";

/** A FIFO that belongs to nobody any more. */
interface StaleFifo {
  readonly path: string;
  /** The member whose processes have ended; undefined when no member has this directory. */
  readonly member: string | undefined;
}

/**
 * The FIFOs of a team that no process has open and whose owner is known to be dead, or is no member. One of another pid
 * space is never known to be, nor one that is starting (its records are gone until it speaks) or held by its launch
 * script for a person who may start it again.
 * @throws TeamError TEAM_NOT_FOUND, CORRUPT_FILE
 */
export function staleFifos(ref: TeamRef): StaleFifo[] {
  // Before the config is read: who made one of these was a member by then.
  const fifos = abandonedFifos(ref);
  const config = readTeam(ref);
  return fifos.flatMap(({ directory, path }) => {
    const member = memberOfDirectory(config, directory);
    return member === undefined || hasEnded(ref, member) ? [{ path, member }] : [];
  });
}

/**
 * Removes them, under the config's lock, so that nobody joins meanwhile. An owner that opens one at this very moment
 * makes it anew at its next slow check.
 * @param only a member's name; all without it
 * @returns what was removed
 * @throws TeamError TEAM_NOT_FOUND, CORRUPT_FILE, LOCK_TIMEOUT
 */
export async function removeStaleFifos(ref: TeamRef, only?: string): Promise<StaleFifo[]> {
  const wanted = (): StaleFifo[] =>
    staleFifos(ref).filter(({ member }) => only === undefined || member === only);
  if (wanted().length === 0) return [];
  const whileLocked = (): StaleFifo[] => {
    const stale = wanted();
    for (const { path } of stale) {
      removeFile(path);
      removeIfEmpty(join(path, ".."));
    }
    return stale;
  };
  return updateTeamFile(ref, ref.paths.config, { whileLocked });
}

function abandonedFifos({ paths }: TeamRef): { directory: string; path: string }[] {
  if (!isOwnRuntime(paths.runtime, 2)) return [];
  return directoriesIn(paths.runtime).flatMap((directory) => {
    const below = join(paths.runtime, directory);
    return listDir(below)
      .map((name) => ({ directory, path: join(below, name) }))
      .filter(({ path }) => isAbandonedFifo(path));
  });
}

/** Links are not followed: behind one is nothing of this team. */
function directoriesIn(path: string): string[] {
  const isOwn = (directory: string): boolean => entryOf(directory)?.isDirectory() ?? false;
  return isOwn(path) ? listDir(path).filter((name) => isOwn(join(path, name))) : [];
}

function memberOfDirectory(config: TeamConfig, directory: string): string | undefined {
  return config.members.find(({ name }) => agentFileName(name) === directory)?.name;
}

function hasEnded(ref: TeamRef, name: string): boolean {
  if (livenessOfAgent(ref, name) !== "dead") return false;
  // Its launch script may start it once more.
  const script = launchScriptOf(readPlace(ref, name));
  return script === undefined || livenessOf(script) === "dead";
}
