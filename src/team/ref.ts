import { type TeamPaths, teamPaths } from "../protocol/paths.ts";
import { type TeamDir, teamDir } from "../schema/names.ts";
import type { Remembered } from "../store/read-cache.ts";

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
  /** Of a process that looks again and again; a command reads once and has none. */
  readonly remembered?: Remembered;
}

/** @throws TeamError INVALID_NAME */
export function teamRef(home: Home, name: string): TeamRef {
  const team = teamDir(name);
  return { home, team, paths: teamPaths(home.root, home.runtime, team) };
}

/**
 * Reads a file of a team, where this process remembers it only if it has changed.
 * @param read what gives undefined when there is no such file
 */
export function readCached<T>(
  { remembered }: TeamRef,
  path: string,
  read: () => T | undefined,
): T | undefined {
  return remembered === undefined ? read() : remembered.of(path, read);
}
