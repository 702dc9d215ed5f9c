import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { sameName } from "../../schema/names.ts";
import { updateTeam } from "../config/config.ts";
import type { TeamRef } from "../ref.ts";
import { lookUpMember } from "./members.ts";

/** True if an agent was dropped from the config, and not removed: a member that ended is in `former`. */
function isDropped(config: TeamConfig, { name, joinedAt }: TeamMember): boolean {
  if (lookUpMember(config, name) !== undefined) return false;
  const { former = [] } = config;
  return !former.some((ended) => sameName(ended.name, name) && ended.endedAt >= joinedAt);
}

/**
 * Adds the entry of a running agent again, if another program has dropped it: some write the config from an old copy, without a
 * lock (interop.md). Idempotent.
 * @param isRunning asked again under the lock: an agent that ends must not come back
 * @returns whether the entry was added
 * @throws TeamError TEAM_NOT_FOUND, CORRUPT_FILE, LOCK_TIMEOUT
 */
export async function rejoin(ref: TeamRef, entry: TeamMember, isRunning: () => boolean): Promise<boolean> {
  let isAdded = false;
  await updateTeam(ref, (config) => {
    isAdded = isRunning() && isDropped(config, entry);
    return isAdded ? { ...config, members: [...config.members, entry] } : undefined;
  });
  return isAdded;
}
