import { join } from "node:path";
import { TeamError } from "../../errors.ts";
import { listDir } from "../../os/files/fs.ts";
import { didYouMean } from "../../schema/did-you-mean.ts";
import { isTeamDir } from "../../schema/names.ts";
import type { TeamRef } from "../ref.ts";

/** Returns the error for a team that does not exist, with the nearest names. */
export function teamNotFound(ref: TeamRef): TeamError {
  const names = listDir(join(ref.home.root, "teams")).filter(isTeamDir);
  return new TeamError("TEAM_NOT_FOUND", `There is no team ${ref.team}.`, {
    hint: didYouMean(ref.team, names, "List the teams with teams ls, or create one with teams create."),
    details: { team: ref.team },
  });
}
