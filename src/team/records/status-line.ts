import { removeFile } from "../../os/files/fs.ts";
import { livenessOf } from "../../os/process/identity.ts";
import { readTeam } from "../config/config.ts";
import type { TeamRef } from "../ref.ts";
import { readStatus } from "./read-records.ts";

/**
 * Removes the file with the status line of a team if no running process of the team updates it. Idempotent.
 * @param ending a member whose process is about to end
 */
export function removeUnkeptLine(ref: TeamRef, ending?: string): void {
  const isKept = readTeam(ref).members.some(({ name }) => {
    if (name === ending) return false;
    const status = readStatus(ref, name);
    if (status === undefined || status.shared || status.state === "exited") return false;
    return livenessOf(status.process) === "alive";
  });
  if (!isKept) removeFile(ref.paths.statusLine);
}
