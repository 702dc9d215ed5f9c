import { dirname, relative } from "node:path";
import { fileAccessError, isSystemError, TeamError } from "../../errors.ts";
import { makeDirBelow } from "../../os/files/atomic-write.ts";
import { entryOf, isMissing, readText } from "../../os/files/fs.ts";
import { isNewerFormat, SCHEMA_VERSION } from "../../schema/migrate.ts";
import { type Held, withLock } from "../../store/lock.ts";
import { type Update, type UpdateOptions, updateFile } from "../../store/update-file.ts";
import type { TeamRef } from "../ref.ts";
import { teamNotFound } from "./team-not-found.ts";

/** Work under a file's lock, other than replacing that file. */
export interface LockedWork<T> {
  /** Runs like the work of {@link withLock}. */
  readonly whileLocked: (held: Held) => T | Promise<T>;
}

/**
 * Replaces one of the team's files, as {@link updateFile} does, or does other work while it holds the file's lock. First
 * checks that the team exists: a late writer never brings a deleted team back (S48). Creates missing directories below the
 * team's own. Replace one file with an `Update`: it keeps foreign writers out for a shorter time.
 * @throws TeamError TEAM_NOT_FOUND, LOCK_TIMEOUT; PERMISSION_DENIED with the system's reason, or if a newer version wrote the
 *   team; and what the update or the work throws
 */
export function updateTeamFile<T>(
  movable: TeamRef,
  path: string,
  update: Update<T> | LockedWork<T>,
  options: UpdateOptions<T> = {},
): Promise<T> {
  // The path belongs to the team's directory of now, even if the team is renamed meanwhile.
  const ref = { ...movable };
  if (typeof update === "function") {
    const guard = <A extends unknown[], R>(compute: (...args: A) => R) => {
      return (...args: A): R => {
        assertWritable(ref);
        return compute(...args);
      };
    };
    const { atEnd } = options;
    const guarded = atEnd && { ...atEnd, update: guard(atEnd.update) };
    return withTeam(ref, path, () => updateFile(path, guard(update), { ...options, atEnd: guarded }));
  }
  const guarded = (held: Held): T | Promise<T> => {
    assertWritable(ref);
    return update.whileLocked(held);
  };
  return withTeam(ref, path, () => withLock(path, guarded, options));
}

/** Runs `run`. If the file's directory is missing but the team exists, creates the directory and runs `run` again. */
async function withTeam<T>(ref: TeamRef, path: string, run: () => Promise<T>): Promise<T> {
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
    // The system can refuse only before the rename, so the old content is unchanged.
    throw isSystemError(error) ? fileAccessError(path, "written", error, "; it is unchanged") : error;
  }
}

/** @throws TeamError TEAM_NOT_FOUND if there is no such team, or it was deleted */
export function assertTeam(ref: TeamRef): void {
  if (entryOf(ref.paths.config) === undefined) throw teamNotFound(ref);
}

/** Keyed by a config's path: the version of the file that was last found to have a known format. */
const known = new Map<string, string>();

/** Refuses a team that a newer version of teams wrote: this one would lose fields that that version added. */
function assertWritable(ref: TeamRef): void {
  const { config } = ref.paths;
  const entry = entryOf(config);
  if (entry === undefined) throw teamNotFound(ref);
  const mark = `${entry.ino} ${entry.size} ${entry.mtimeMs}`;
  if (known.get(config) === mark) return;
  const version = versionIn(readText(config) ?? "");
  if (version !== undefined && isNewerFormat(version)) throw tooNew(ref, version);
  known.set(config, mark);
}

function versionIn(text: string): string | undefined {
  try {
    const version = (JSON.parse(text) as { schemaVersion?: unknown } | null)?.schemaVersion;
    return typeof version === "string" ? version : undefined;
  } catch {
    // Broken: the update that reads it reports that.
    return undefined;
  }
}

function tooNew({ team }: TeamRef, version: string): TeamError {
  return new TeamError(
    "PERMISSION_DENIED",
    `Team ${team} was last written by a newer version of teams (its format is ${version}, this one knows ${SCHEMA_VERSION}); nothing was changed.`,
    {
      hint: "Install the newest version and try again: npm install -g tmux-teams",
      details: { team, version },
    },
  );
}

/**
 * Creates the file's directory, but never the team's own. The tasks' directory (a foreign team may have none yet) is created
 * while the config is locked, so that a deletion of the team waits.
 */
async function makeParent(ref: TeamRef, path: string): Promise<void> {
  const parent = dirname(path);
  if (!relative(ref.paths.dir, parent).startsWith("..")) return makeDirBelow(ref.paths.dir, parent);
  await withLock(ref.paths.config, () => {
    assertTeam(ref);
    makeDirBelow(ref.home.root, parent);
  });
}
