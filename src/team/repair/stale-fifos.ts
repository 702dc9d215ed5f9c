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

/** A FIFO that no process uses any more. */
interface StaleFifo {
  readonly path: string;
  /** The member whose processes have ended; undefined if the directory belongs to no member. */
  readonly member: string | undefined;
}

/**
 * Returns the FIFOs of a team that no process has open, and whose owner is known to be dead or is not a member. A member
 * does not count as dead in another pid space, while it starts (it has no records yet), or while its launch script waits
 * for a person to restart it.
 * @throws TeamError TEAM_NOT_FOUND, CORRUPT_FILE
 */
export function staleFifos(ref: TeamRef): StaleFifo[] {
  // Before reading the config: the owner of a FIFO that exists now is already a member.
  const fifos = abandonedFifos(ref);
  const config = readTeam(ref);
  return fifos.flatMap(({ directory, path }) => {
    const member = memberOfDirectory(config, directory);
    return member === undefined || hasEnded(ref, member) ? [{ path, member }] : [];
  });
}

/**
 * Removes the stale FIFOs of a team, under the config's lock, so that no member joins meanwhile. An owner that is opening
 * its FIFO at this moment creates it again at its next slow poll.
 * @param only a member's name; default: all
 * @returns the removed FIFOs
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

/** Links are not followed: a link never leads to files of this team. */
function directoriesIn(path: string): string[] {
  const isOwn = (directory: string): boolean => entryOf(directory)?.isDirectory() ?? false;
  return isOwn(path) ? listDir(path).filter((name) => isOwn(join(path, name))) : [];
}

function memberOfDirectory(config: TeamConfig, directory: string): string | undefined {
  return config.members.find(({ name }) => agentFileName(name) === directory)?.name;
}

function hasEnded(ref: TeamRef, name: string): boolean {
  if (livenessOfAgent(ref, name) !== "dead") return false;
  // Its launch script may restart it.
  const script = launchScriptOf(readPlace(ref, name));
  return script === undefined || livenessOf(script) === "dead";
}
