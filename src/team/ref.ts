import type { Env } from "../os/env.ts";
import { rootDirectory, runtimeDirectory } from "../os/files/app-directories.ts";
import { entryOf } from "../os/files/fs.ts";
import { realPathOf } from "../os/files/symlinks.ts";
import { type Liveness, livenessOf, type RecordedProcess } from "../os/process/identity.ts";
import type { LivenessCache } from "../os/process/liveness-cache.ts";
import { runtimeOfRoot, type TeamPaths, teamPaths } from "../protocol/paths.ts";
import type { TeamConfig } from "../schema/config.ts";
import { isTeamDir, possibleTeamDir, type TeamDir, teamDir } from "../schema/names.ts";
import type { FileCache } from "../store/read-cache.ts";

/** Root and runtime directory of this user's teams. */
export interface Home {
  /** `<root>` of protocol.md section 1. */
  readonly root: string;
  /** The runtime directory of this root, from `runtimeOfRoot`. */
  readonly runtime: string;
}

/** One team, whether it exists or not. */
export interface TeamRef {
  readonly home: Home;
  readonly team: TeamDir;
  readonly paths: TeamPaths;
  /** Set in a process that reads the same files repeatedly; a command reads once and needs none. */
  readonly readCache?: FileCache;
  /** Set by code that judges the same processes several times and acts on none of them. */
  readonly livenessCache?: LivenessCache;
  /** Set in an agent, which continues with its last config while the file cannot be read; a command refuses instead. */
  readonly keptConfig?: KeptConfig;
  /** Set in a process that continues with its team when the team's directory gets another name, see {@link movableRef}. */
  readonly moveTo?: (team: TeamDir) => void;
}

/** The config that an agent read last. */
export interface KeptConfig {
  /** Called with each config that could be read. */
  read(config: TeamConfig): void;
  /** Returns the kept config after a failed read. @throws the error if there is none, or the team does not exist */
  insteadOf(ref: TeamRef, error: unknown): TeamConfig;
}

/** Returns the team that `teams` would create with this name. To find an existing one, use `findTeam`. @throws TeamError INVALID_NAME */
export function teamRef(home: Home, name: string): TeamRef {
  return teamAt(home, teamDir(name));
}

/** Returns the team with this directory, which another program may have named. */
export function teamAt(home: Home, team: TeamDir): TeamRef {
  return { home, team, paths: teamPaths(home.root, home.runtime, team) };
}

/** Returns the team that the flags of a process name, without a list of all teams. @throws TeamError INVALID_NAME */
export function startedIn(home: Home, name: string): TeamRef {
  const exact = isTeamDir(name) ? name : undefined;
  const candidates = [exact, possibleTeamDir(name)].flatMap((team) =>
    team === undefined ? [] : [teamAt(home, team)],
  );
  return candidates.find(({ paths }) => entryOf(paths.config) !== undefined) ?? teamRef(home, name);
}

/**
 * Returns a ref that can be moved to another directory; all its holders follow. Work that must stay with one directory uses a
 * copy: `{ ...ref }`.
 */
export function movableRef(ref: TeamRef): TeamRef & Required<Pick<TeamRef, "moveTo">> {
  const { home } = ref;
  let { team, paths } = ref;
  return {
    ...ref,
    get team() {
      return team;
    },
    get paths() {
      return paths;
    },
    moveTo: (next) => {
      team = next;
      paths = teamPaths(home.root, home.runtime, next);
    },
  };
}

/**
 * Reads a file of a team; with a read cache, only if the file has changed.
 * @param read returns undefined if there is no such file
 */
export function readCached<T>(
  { readCache }: TeamRef,
  path: string,
  read: () => T | undefined,
): T | undefined {
  return readCache === undefined ? read() : readCache.get(path, read);
}

/** Whether a file of a team exists. */
export function isThere({ readCache }: TeamRef, path: string): boolean {
  return readCache === undefined ? entryOf(path) !== undefined : readCache.has(path);
}

/** Judges a recorded process; a liveness cache may return an earlier verdict. */
export function judgeProcess({ livenessCache }: TeamRef, record: RecordedProcess): Liveness {
  return livenessCache === undefined ? livenessOf(record) : livenessCache.of(record);
}

/** Returns the root and the runtime directory that the environment names. Creates nothing. */
export function teamsHome(env: Env): Home {
  const root = realPathOf(rootDirectory(env));
  return { root, runtime: runtimeOfRoot(runtimeDirectory(env), root) };
}
