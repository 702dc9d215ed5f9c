import { dirname, join, relative } from "node:path";
import { messageOf, systemCode, TeamError } from "../errors.ts";
import { makeDirBelow } from "../os/create.ts";
import { entryOf, isMissing, listDir } from "../os/fs.ts";
import { didYouMean } from "../schema/nearest.ts";
import { type Held, withLock } from "../store/lock.ts";
import type { TeamRef } from "./ref.ts";

/**
 * Runs `work` under the lock of one of the team's files, once it is sure that the team is there: a late writer never
 * brings a deleted team back (S48). Directories below the team's own are made when they are missing.
 * @throws TeamError TEAM_NOT_FOUND, LOCK_TIMEOUT
 */
export async function lockInTeam<T>(
  ref: TeamRef,
  path: string,
  work: (held: Held) => T | Promise<T>,
): Promise<T> {
  const guarded = (held: Held): T | Promise<T> => {
    assertTeam(ref);
    return work(held);
  };
  try {
    return await withLock(path, guarded);
  } catch (error) {
    if (DENIED.has(systemCode(error) ?? "")) throw denied(path, error);
    if (!isMissing(error)) throw error;
    assertTeam(ref);
    await makeParent(ref, path);
    return withLock(path, guarded);
  }
}

const DENIED: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS"]);

function denied(path: string, error: unknown): TeamError {
  return new TeamError(
    "PERMISSION_DENIED",
    `${path} cannot be written (${messageOf(error)}); nothing was changed.`,
    {
      hint: "Is the directory this user's, and its file system writable?",
      cause: error,
    },
  );
}

/** @throws TeamError TEAM_NOT_FOUND when there is no such team, or not any more */
export function assertTeam(ref: TeamRef): void {
  if (entryOf(ref.paths.config) === undefined) throw teamNotFound(ref);
}

export function teamNotFound(ref: TeamRef): TeamError {
  const names = listDir(join(ref.home.root, "teams")).filter((name) => !name.startsWith("."));
  return new TeamError("TEAM_NOT_FOUND", `There is no team ${ref.team}.`, {
    hint: didYouMean(ref.team, names, "teams ls lists them; teams create makes one."),
    details: { team: ref.team },
  });
}

/** The team's directory is never made here; that of its tasks (a foreign team may have none yet) only while the config is locked, so that its deletion waits. */
async function makeParent(ref: TeamRef, path: string): Promise<void> {
  const parent = dirname(path);
  if (!relative(ref.paths.dir, parent).startsWith("..")) return makeDirBelow(ref.paths.dir, parent);
  await withLock(ref.paths.config, () => {
    assertTeam(ref);
    makeDirBelow(ref.home.root, parent);
  });
}
