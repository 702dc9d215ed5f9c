import { join } from "node:path";
import { isDirectory } from "../../os/files/fs.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { isSessionId } from "../../schema/names.ts";
import type { Home } from "../ref.ts";

/** Returns the directory of a team's screen recordings, by the session of its lead; it survives the team. */
export function castsDirectory(root: string, sessionId: string): string {
  return join(root, "teams-casts", sessionId);
}

/** Returns the existing directories of a team's screen recordings: its own, and those that were named for it or for a member. */
export function castDirectories({ root }: Home, config: TeamConfig): string[] {
  const sessions = [config.leadSessionId, readMetadata(config, "formerLeadSession")];
  const directories = [
    readMetadata(config, "recording"),
    ...config.members.map((member) => readMetadata(member, "recording")),
    ...sessions.map((id) => (isSessionId(id) ? castsDirectory(root, id) : undefined)),
  ];
  return [...new Set(directories)].filter((path) => path !== undefined && isDirectory(path)) as string[];
}
