import { TeamError } from "../../errors.ts";
import { readConfigFile } from "../../team/config/config.ts";
import type { TeamRef } from "../../team/ref.ts";
import { repairConfig } from "../../team/repair/repair-config.ts";

/**
 * Restores a config that an ended member has left empty or cut off, from the copy that teams wrote last. claude 2.1.34 writes the
 * config in place, even while it exits, so a signal can end it in the middle. Call after the end of its process.
 * @throws TeamError TEAM_NOT_FOUND, LOCK_TIMEOUT
 */
export async function mendConfig(ref: TeamRef): Promise<void> {
  try {
    // Waits for other programs that are writing it.
    readConfigFile(ref);
  } catch (error) {
    if (!(error instanceof TeamError) || error.code !== "CORRUPT_FILE") throw error;
    await repairConfig(ref);
  }
}
