import { type TeamPaths, teamPaths } from "../protocol/paths.ts";
import { type TeamDir, teamDir } from "../schema/names.ts";

/** Where this user's teams are. */
export interface Home {
  /** `<root>` of protocol.md section 1. */
  readonly root: string;
  /** The runtime directory of this very root, as `runtimeOfRoot` gives it. */
  readonly runtime: string;
}

/** One team, whether it exists or not. */
export interface TeamRef {
  readonly home: Home;
  readonly team: TeamDir;
  readonly paths: TeamPaths;
}

/** @throws TeamError INVALID_NAME */
export function teamRef(home: Home, name: string): TeamRef {
  const team = teamDir(name);
  return { home, team, paths: teamPaths(home.root, home.runtime, team) };
}
