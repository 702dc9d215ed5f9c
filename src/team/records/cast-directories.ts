import { basename, dirname, join } from "node:path";
import { isDirectory } from "../../os/files/fs.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { isSessionId } from "../../schema/names.ts";
import type { Home } from "../ref.ts";

/** The directory in the root with the recordings of all teams. */
const ALL_CASTS = "teams-casts";

/** Returns the directory of a team's screen recordings, by the session of its lead; it survives the team. */
export function castsDirectory(root: string, sessionId: string): string {
  return join(root, ALL_CASTS, sessionId);
}

/** Returns the existing directories of a team's screen recordings: its own, and the directories that were set for it or for a member. */
export function castDirectories({ root }: Home, config: TeamConfig): string[] {
  const sessions = [config.leadSessionId, readMetadata(config, "formerLeadSession")];
  const directories = [
    readMetadata(config, "recording"),
    ...config.members.map((member) => readMetadata(member, "recording")),
    ...sessions.map((id) => (isSessionId(id) ? castsDirectory(root, id) : undefined)),
  ];
  return [...new Set(directories)].filter((path) => path !== undefined && isDirectory(path)) as string[];
}

/**
 * Returns the directories of an ended team's screen recordings. If the root was moved, its missing directories are replaced by those in
 * the current root.
 * @param recorded as the index of ended teams names them
 */
export function endedCastDirectories({ root }: Home, recorded: readonly string[]): string[] {
  return recorded.map((path) => {
    const isOfRoot = basename(dirname(path)) === ALL_CASTS;
    return isDirectory(path) || !isOfRoot ? path : castsDirectory(root, basename(path));
  });
}
