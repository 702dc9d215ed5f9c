import { basename, dirname, join } from "node:path";
import { isSystemError, systemErrorCode, TeamError } from "../../errors.ts";
import { isOwnRuntime } from "../../os/files/app-directories.ts";
import { makeDirBelow } from "../../os/files/atomic-write.ts";
import { entryOf, isMissing, listDir, removeIfEmpty, removeTree, rename } from "../../os/files/fs.ts";
import { ownerRecord } from "../../store/owner-lock.ts";
import { operand, shellWord } from "../../text/shell-quote.ts";
import type { TeamRef } from "../ref.ts";
import { readTeam } from "./config.ts";
import { removePlans } from "./plan-files.ts";
import { assertTeam, updateTeamFile } from "./team-lock.ts";

/**
 * Removes a team's config, inboxes, tasks, plans and runtime directory. Each directory is renamed in one step under the
 * lock, so that a late writer finds no team and creates none.
 * @param first runs under the lock before anything is removed; if it throws, the files stay
 * @throws TeamError TEAM_NOT_FOUND; PERMISSION_DENIED if files could not be removed, naming them; and errors of `first`
 */
export async function removeTeamFiles(ref: TeamRef, first: () => void = () => undefined): Promise<void> {
  const trash = await updateTeamFile(ref, ref.paths.config, {
    whileLocked: () => {
      assertTeam(ref);
      first();
      removePlans(ref, () => readTeam(ref));
      return moveTeamToTrash(ref);
    },
  });
  if (isOwnRuntime(ref.home.runtime, 1)) removeIfEmpty(ref.home.runtime);
  emptyTrash(ref, trash, deletedButLeft);
}

/** Makes the error for the paths that could not be removed. */
type LeftError = (ref: TeamRef, left: readonly string[], cause: NodeJS.ErrnoException) => TeamError;

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
    throw isSystemError(error) ? deletedButLeft(ref, [trash.dir, ref.paths.tasks], error) : error;
  }
  return [trash.dir, trash.tasks];
}

/** Removes the FIFOs of a team. */
export function removeRuntime({ paths }: TeamRef): void {
  if (isOwnRuntime(paths.runtime, 2)) removeTree(paths.runtime);
}

/**
 * Removes trash paths, as far as possible.
 * @throws the error that `leftError` makes for the paths that could not be removed
 */
function emptyTrash(ref: TeamRef, trash: readonly string[], leftError: LeftError): void {
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
  throw leftError(
    ref,
    failures.map(({ path }) => path),
    first.error,
  );
}

const deletedButLeft: LeftError = (ref, left, cause) => {
  const what = `The team ${ref.team} is deleted, but some of its files could not be removed`;
  return leftFilesError(ref, left, cause, `${what}: ${left.join(", ")} (${cause.message}).`);
};

const leftByEarlierTeam: LeftError = (ref, left, cause) => {
  const what = `Files of a deleted team ${ref.team} could not be removed: ${left.join(", ")} (${cause.message}).`;
  return leftFilesError(ref, left, cause, `${what} No team was created or renamed.`);
};

/** @param removed the paths that were removed before the failure */
function leftUnderTrashName(removed: readonly string[]): LeftError {
  return (ref, left, cause) => {
    const what = `Files of the name ${ref.team} were moved to ${left.join(", ")}, but could not be removed (${cause.message}).`;
    const others = `${removedBefore(removed)} Other files of that name are unchanged.`;
    return leftFilesError(ref, left, cause, `${what} ${others}`, { removed });
  };
}

function leftFilesError(
  { team }: TeamRef,
  left: readonly string[],
  cause: NodeJS.ErrnoException,
  message: string,
  facts: Readonly<Record<string, unknown>> = {},
): TeamError {
  const operands = left.map(shellWord).join(" ");
  return new TeamError(systemErrorCode(cause), message, {
    hint: `Nothing uses them any more; remove them: chmod -R u+rwX ${operands} && rm -r ${operands}`,
    details: { team, left, ...facts },
    cause,
  });
}

/**
 * Finishes removals of this name that failed, or that killed processes left, before the name is used again.
 * @throws TeamError STORAGE_ERROR or PERMISSION_DENIED, naming the paths that could not be removed
 */
export function finishRemovals(ref: TeamRef): void {
  const prefix = trashName(ref, "");
  const places = [ref.paths.dir, ref.paths.tasks].map((path) => dirname(path));
  const names = places.flatMap((place) => listDir(place)).filter((name) => name.startsWith(prefix));
  for (const name of new Set(names)) {
    const trash = trashOf(ref, name.slice(prefix.length));
    const isHalf = entryOf(trash.dir) !== undefined && entryOf(trash.tasks) === undefined;
    if (isHalf && entryOf(ref.paths.config) === undefined) finishMove(ref, trash);
    emptyTrash(ref, [trash.dir, trash.tasks], leftByEarlierTeam);
  }
  emptyTrash(ref, leftoverTrashOf(ref), leftByEarlierTeam);
}

function finishMove(ref: TeamRef, trash: Trash): void {
  try {
    moveTasksToTrash(ref, trash.tasks);
  } catch (error) {
    throw isSystemError(error) ? leftByEarlierTeam(ref, [trash.dir, ref.paths.tasks], error) : error;
  }
}

interface Trash {
  readonly dir: string;
  readonly tasks: string;
}

function trashOf(ref: TeamRef, suffix: string): Trash {
  const name = trashName(ref, suffix);
  return { dir: join(dirname(ref.paths.dir), name), tasks: join(dirname(ref.paths.tasks), name) };
}

function trashName({ team }: TeamRef, suffix: string): string {
  return `.${team}.deleted-${suffix}`;
}

function moveTasksToTrash({ paths }: TeamRef, trash: string): void {
  try {
    rename(paths.tasks, trash);
  } catch (error) {
    // A process that creates a team of this name has moved them already.
    if (!isMissing(error)) throw error;
  }
}

/**
 * Returns the directories that exist under a team's name without a config, and what is left of an earlier removal of such directories;
 * none if the team has a config.
 */
export function leftoversOf(ref: TeamRef): string[] {
  const { paths } = ref;
  if (entryOf(paths.config) !== undefined) return [];
  // Tasks after the others: while they exist, no process creates a team of this name.
  const runtime = isOwnRuntime(paths.runtime, 2) ? [paths.runtime] : [];
  const named = [...runtime, ...[paths.dir, paths.tasks].filter((path) => entryOf(path) !== undefined)];
  // Trash that cannot be removed must not prevent the other removals.
  return [...named, ...leftoverTrashOf(ref)];
}

/** Returns the trash that {@link removeLeftovers} left for this name when it failed or was killed. */
function leftoverTrashOf(ref: TeamRef): string[] {
  const { home, paths } = ref;
  const runtime = isOwnRuntime(home.runtime, 1) ? [home.runtime] : [];
  const places = [...runtime, dirname(paths.dir), dirname(paths.tasks)];
  const prefix = leftoverName(ref, "");
  return places.flatMap((place) =>
    listDir(place).flatMap((name) => (name.startsWith(prefix) ? [join(place, name)] : [])),
  );
}

function leftoverName({ team }: TeamRef, suffix: string): string {
  return `.${team}.leftover-${suffix}`;
}

/**
 * Removes the files of a team without a config. They may belong to another program, so only a person who
 * types the name and `--force` may do this.
 * @returns the removed paths
 * @throws TeamError TEAM_EXISTS if the team has a config by now; STORAGE_ERROR or PERMISSION_DENIED, naming what could not be removed
 */
export function removeLeftovers(ref: TeamRef): string[] {
  const removed: string[] = [];
  for (const path of leftoversOf(ref)) {
    if (entryOf(ref.paths.config) !== undefined) throw createdMeanwhile(ref, removed);
    emptyTrash(ref, [leftoverToTrash(ref, path)], leftUnderTrashName(removed));
    removed.push(path);
  }
  if (isOwnRuntime(ref.home.runtime, 1)) removeIfEmpty(ref.home.runtime);
  return removed;
}

/** Renames a leftover, so that a process that creates the team finds either all of it or nothing. @returns its trash path */
function leftoverToTrash(ref: TeamRef, path: string): string {
  if (basename(path).startsWith(leftoverName(ref, ""))) return path;
  const trash = join(dirname(path), leftoverName(ref, ownerRecord()));
  rename(path, trash);
  return trash;
}

function createdMeanwhile({ team }: TeamRef, removed: readonly string[]): TeamError {
  const message = `A team ${team} was created meanwhile, so the removal stopped. ${removedBefore(removed)}`;
  return new TeamError("TEAM_EXISTS", message, {
    hint: `See whose team it is: teams status --team ${operand(team)}`,
    details: { team, removed },
  });
}

function removedBefore(removed: readonly string[]): string {
  return `Removed before that: ${removed.join(", ") || "nothing"}.`;
}
