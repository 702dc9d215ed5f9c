import { readMetadata, withMetadata } from "../schema/member-metadata.ts";
import { updateTeam } from "../team/config/config.ts";
import { castsDirectory } from "../team/records/cast-directories.ts";
import type { TeamRef } from "../team/ref.ts";

/**
 * Records the screens of all agents of a team that start from now on.
 * @param directory `true` for the directory that the team records into already, or the default one
 * @throws TeamError TEAM_NOT_FOUND, LOCK_TIMEOUT
 */
export async function recordScreens(ref: TeamRef, directory: string | true): Promise<void> {
  await updateTeam(ref, (config) => {
    const own = readMetadata(config, "recording") ?? castsDirectory(ref.home.root, config.leadSessionId);
    return withMetadata(config, { recording: directory === true ? own : directory });
  });
}
