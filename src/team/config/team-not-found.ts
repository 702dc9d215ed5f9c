import { join } from "node:path";
import { TeamError } from "../../errors.ts";
import { listDir } from "../../os/files/fs.ts";
import { didYouMean } from "../../schema/did-you-mean.ts";
import type { TeamRef } from "../ref.ts";

/** That a team does not exist, with the nearest names. */
export function teamNotFound(ref: TeamRef): TeamError {
  const names = listDir(join(ref.home.root, "teams")).filter((name) => !name.startsWith("."));
  return new TeamError("TEAM_NOT_FOUND", `There is no team ${ref.team}.`, {
    hint: didYouMean(ref.team, names, "teams ls lists them; teams create makes one."),
    details: { team: ref.team },
  });
}
