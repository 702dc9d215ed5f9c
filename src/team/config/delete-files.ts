import { dirname, join } from "node:path";
import { isSystemError, systemErrorCode, TeamError } from "../../errors.ts";
import { isOwnRuntime } from "../../os/files/app-directories.ts";
import { makeDirBelow } from "../../os/files/atomic-write.ts";
import { entryOf, isMissing, listDir, removeIfEmpty, removeTree, rename } from "../../os/files/fs.ts";
import { ownerRecord } from "../../store/owner-lock.ts";
import { shellWord } from "../../text/shell-quote.ts";
import type { TeamRef } from "../ref.ts";
import { readTeam } from "./config.ts";
import { removePlans } from "./plan-files.ts";
import { assertTeam, updateTeamFile } from "./team-lock.ts";

/**
 * Removes a team's config, inboxes, tasks, plans and runtime directory. Each directory is renamed in one step under the
 * lock, so that a late writer finds no team and creates none.
 * @throws TeamError TEAM_NOT_FOUND; PERMISSION_DENIED if files could not be removed, naming them
 */
export async function removeTeamFiles(ref: TeamRef): Promise<void> {
  const trash = await updateTeamFile(ref, ref.paths.config, {
    whileLocked: () => {
      assertTeam(ref);
      removePlans(ref, () => readTeam(ref));
      return moveTeamToTrash(ref);
    },
  });
  if (isOwnRuntime(ref.home.runtime, 1)) removeIfEmpty(ref.home.runtime);
  emptyTrash(ref, trash);
}

/**
 * Renames a team's directory, then its task directory, to trash names. If the second name exists, a killed process had
 * renamed both. Call it under the team's lock.
 * @returns the paths to remove, in this order
 */
function moveTeamToTrash(ref: TeamRef): readonly string[] {
  const trash = trashOf(ref, ownerRecord());
  // Another program's team may have no tasks; create the directory, so that the second name always exists.
  makeDirBelow(ref.home.root, ref.paths.tasks);
  // Under the lock: later it may belong to a new team.
  removeRuntime(ref);
  rename(ref.paths.dir, trash.dir);
  try {
    moveTasksToTrash(ref, trash.tasks);
  } catch (error) {
    throw isSystemError(error) ? notRemoved(ref, [trash.dir, ref.paths.tasks], error) : error;
  }
  return [trash.dir, trash.tasks];
}

/** Removes the FIFOs of a team. */
export function removeRuntime({ paths }: TeamRef): void {
  if (isOwnRuntime(paths.runtime, 2)) removeTree(paths.runtime);
}

/**
 * Removes trash paths, as far as possible.
 * @throws TeamError PERMISSION_DENIED, naming the paths that could not be removed; the team is deleted nevertheless
 */
function emptyTrash(ref: TeamRef, trash: readonly string[]): void {
  const failures: { readonly path: string; readonly error: unknown }[] = [];
  for (const path of trash) {
    try {
      removeTree(path);
    } catch (error) {
      // Reported below, after trying the others.
      failures.push({ path, error });
    }
  }
  const [first] = failures;
  if (first === undefined) return;
  if (!isSystemError(first.error)) throw first.error;
  throw notRemoved(
    ref,
    failures.map(({ path }) => path),
    first.error,
  );
}

function notRemoved({ team }: TeamRef, paths: readonly string[], error: NodeJS.ErrnoException): TeamError {
  const message = `The team ${team} is deleted, but some of its files could not be removed: ${paths.join(", ")} (${error.message}).`;
  const operands = paths.map(shellWord).join(" ");
  return new TeamError(systemErrorCode(error), message, {
    hint: `Remove them, nothing uses them any more: chmod -R u+rwX ${operands} && rm -r ${operands}`,
    details: { team, stays: paths },
    cause: error,
  });
}

/** Finishes removals of this name that killed processes left after {@link moveTeamToTrash}, before the name is used again. */
export function finishRemovals(ref: TeamRef): void {
  const mark = trashName(ref, "");
  const places = [ref.paths.dir, ref.paths.tasks].map((path) => dirname(path));
  const names = places.flatMap((place) => listDir(place)).filter((name) => name.startsWith(mark));
  for (const name of new Set(names)) {
    const trash = trashOf(ref, name.slice(mark.length));
    const isHalf = entryOf(trash.dir) !== undefined && entryOf(trash.tasks) === undefined;
    if (isHalf && entryOf(ref.paths.config) === undefined) moveTasksToTrash(ref, trash.tasks);
    emptyTrash(ref, [trash.dir, trash.tasks]);
  }
}

function trashOf(ref: TeamRef, word: string): { readonly dir: string; readonly tasks: string } {
  const name = trashName(ref, word);
  return { dir: join(dirname(ref.paths.dir), name), tasks: join(dirname(ref.paths.tasks), name) };
}

function trashName({ team }: TeamRef, word: string): string {
  return `.${team}.deleted-${word}`;
}

function moveTasksToTrash({ paths }: TeamRef, trash: string): void {
  try {
    rename(paths.tasks, trash);
  } catch (error) {
    // A process that creates a team of this name has moved them already.
    if (!isMissing(error)) throw error;
  }
}

/** Returns the directories that exist under a team's name without a config; none if the team has a config. */
export function leftoversOf({ paths }: TeamRef): string[] {
  if (entryOf(paths.config) !== undefined) return [];
  // Tasks last: while they exist, no process creates a team of this name.
  const runtime = isOwnRuntime(paths.runtime, 2) ? [paths.runtime] : [];
  return [...runtime, ...[paths.dir, paths.tasks].filter((path) => entryOf(path) !== undefined)];
}

/**
 * Removes the files under a team's name that has no config. They may belong to another program, so only a person who
 * types the name and `--force` may do this.
 * @returns the removed paths
 * @throws TeamError TEAM_EXISTS if the team has a config by now
 */
export function removeLeftovers(ref: TeamRef): string[] {
  const found = leftoversOf(ref);
  for (const path of found) {
    if (entryOf(ref.paths.config) !== undefined) {
      throw new TeamError(
        "TEAM_EXISTS",
        `A team ${ref.team} was created meanwhile; its files were not removed.`,
      );
    }
    // Renamed first, so that a process that creates the team finds either all of it or nothing.
    const trash = join(path, "..", `.${ref.team}.leftover-${ownerRecord()}`);
    rename(path, trash);
    removeTree(trash);
  }
  if (isOwnRuntime(ref.home.runtime, 1)) removeIfEmpty(ref.home.runtime);
  return found;
}
