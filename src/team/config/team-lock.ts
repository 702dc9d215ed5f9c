import { dirname, relative } from "node:path";
import { fileAccessError, isSystemError, TeamError } from "../../errors.ts";
import { makeDirBelow } from "../../os/files/atomic-write.ts";
import { entryOf, isMissing, readText } from "../../os/files/fs.ts";
import { isNewerForm, SCHEMA_VERSION } from "../../schema/migrate.ts";
import { type Held, type LockOptions, withLock } from "../../store/lock.ts";
import { changeFile, type Plan } from "../../store/update-file.ts";
import type { TeamRef } from "../ref.ts";
import { teamNotFound } from "./team-not-found.ts";

/**
 * Runs `work` under the lock of one of the team's files, once it is sure that the team is there: a late writer never
 * brings a deleted team back (S48). Directories below the team's own are made when they are missing. To change one file
 * alone, {@link changeInTeam} keeps foreign writers out for less.
 * @throws TeamError TEAM_NOT_FOUND, LOCK_TIMEOUT; PERMISSION_DENIED with what the system said, or for a team of a newer form
 */
export function lockInTeam<T>(
  ref: TeamRef,
  path: string,
  work: (held: Held) => T | Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  const guarded = (held: Held): T | Promise<T> => {
    assertWritable(ref);
    return work(held);
  };
  return inTeam(ref, path, () => withLock(path, guarded, options));
}

/**
 * Changes one of the team's files, as `changeFile` does, under the same conditions.
 * @throws TeamError as {@link lockInTeam}, and what the plan throws
 */
export function changeInTeam<T>(
  ref: TeamRef,
  path: string,
  plan: Plan<T>,
  options: LockOptions = {},
): Promise<T> {
  const guarded: Plan<T> = (text, isLocked) => {
    assertWritable(ref);
    return plan(text, isLocked);
  };
  return inTeam(ref, path, () => changeFile(path, guarded, options));
}

async function inTeam<T>(ref: TeamRef, path: string, run: () => Promise<T>): Promise<T> {
  try {
    try {
      return await run();
    } catch (error) {
      if (!isMissing(error)) throw error;
      assertTeam(ref);
      await makeParent(ref, path);
      return await run();
    }
  } catch (error) {
    if (isMissing(error)) assertTeam(ref);
    // What the system refuses on the way to the rename leaves the old content as it was.
    throw isSystemError(error) ? fileAccessError(path, "written", error, "; it is as it was") : error;
  }
}

/** @throws TeamError TEAM_NOT_FOUND when there is no such team, or not any more */
export function assertTeam(ref: TeamRef): void {
  if (entryOf(ref.paths.config) === undefined) throw teamNotFound(ref);
}

/** By a config's path: which of its contents was looked at, and found to be of a form that we know. */
const known = new Map<string, string>();

/** Of a form that only a newer program knows nothing is changed: what it added would be lost. */
function assertWritable(ref: TeamRef): void {
  const { config } = ref.paths;
  const entry = entryOf(config);
  if (entry === undefined) throw teamNotFound(ref);
  const mark = `${entry.ino} ${entry.size} ${entry.mtimeMs}`;
  if (known.get(config) === mark) return;
  const version = versionIn(readText(config) ?? "");
  if (version !== undefined && isNewerForm(version)) throw tooNew(ref, version);
  known.set(config, mark);
}

function versionIn(text: string): string | undefined {
  try {
    const version = (JSON.parse(text) as { schemaVersion?: unknown } | null)?.schemaVersion;
    return typeof version === "string" ? version : undefined;
  } catch {
    // Broken: whoever reads it to change it says so.
    return undefined;
  }
}

function tooNew({ team }: TeamRef, version: string): TeamError {
  return new TeamError(
    "PERMISSION_DENIED",
    `Team ${team} was last written by a newer version of teams (its form is ${version}, this one knows ${SCHEMA_VERSION}); nothing was changed.`,
    { hint: "Install the newest one and do it again: npm install -g tmux-teams", details: { team, version } },
  );
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
