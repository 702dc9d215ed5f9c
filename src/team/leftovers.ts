import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { TeamError } from "../errors.ts";
import { entryOf, removeIfEmpty, removeTree, rename } from "../os/fs.ts";
import type { TeamRef } from "./ref.ts";

/** The directories that are there under the name of a team without a config; none where the team has one. */
export function leftoversOf({ paths }: TeamRef): string[] {
  if (entryOf(paths.config) !== undefined) return [];
  // The tasks last: as long as they are there nobody makes a team of this name.
  return [paths.runtime, paths.dir, paths.tasks].filter((path) => entryOf(path) !== undefined);
}

/**
 * Removes what is left under the name of a team that has no config. It may be another program's: only for a person who
 * typed the name and `--force`.
 * @returns what was removed
 * @throws TeamError TEAM_EXISTS where the team has a config by now
 */
export function removeLeftovers(ref: TeamRef): string[] {
  const found = leftoversOf(ref);
  for (const path of found) {
    if (entryOf(ref.paths.config) !== undefined) {
      throw new TeamError("TEAM_EXISTS", `There is a team ${ref.team} again; the rest was left as it is.`);
    }
    // In one step, so that who makes the team meets either all of it or nothing.
    const trash = join(path, "..", `.${ref.team}.deleted-${randomUUID()}`);
    rename(path, trash);
    removeTree(trash);
  }
  removeIfEmpty(ref.home.runtime);
  return found;
}
