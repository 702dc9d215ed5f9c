import { dirname, join } from "node:path";
import { isSystemError, messageOf, TeamError } from "../../errors.ts";
import { isOwnRuntime } from "../../os/files/app-directories.ts";
import { makeDirBelow } from "../../os/files/atomic-write.ts";
import { entryOf, isMissing, listDir, removeIfEmpty, removeTree, rename } from "../../os/files/fs.ts";
import { ownerRecord } from "../../store/owner-lock.ts";
import { shellWord } from "../../text/shell-quote.ts";
import type { TeamRef } from "../ref.ts";

/**
 * Puts a team's directory away and then that of its tasks, under names that tell by themselves how far a killed process got:
 * the second is there if all was. To be called under the team's lock.
 * @returns what is to be removed now, in this order
 */
export function moveTeamToTrash(ref: TeamRef): readonly string[] {
  const trash = trashOf(ref, ownerRecord());
  // Made where a foreign team has none, so that the second name always comes.
  makeDirBelow(ref.home.root, ref.paths.tasks);
  // Now, since behind the lock it may be a new team's.
  if (isOwnRuntime(ref.paths.runtime, 2)) removeTree(ref.paths.runtime);
  rename(ref.paths.dir, trash.dir);
  moveTasksToTrash(ref, trash.tasks);
  return [trash.dir, trash.tasks];
}

/**
 * Removes what was put away, all that can be.
 * @throws TeamError PERMISSION_DENIED, naming what stays: the team is gone by then
 */
export function emptyTrash(ref: TeamRef, trash: readonly string[]): void {
  const stays: { readonly path: string; readonly error: unknown }[] = [];
  for (const path of trash) {
    try {
      removeTree(path);
    } catch (error) {
      // Said below: what keeps one keeps no other.
      stays.push({ path, error });
    }
  }
  const [first] = stays;
  if (first === undefined) return;
  if (!isSystemError(first.error)) throw first.error;
  const paths = stays.map(({ path }) => path);
  const message = `The team ${ref.team} is deleted, but what was put away of it stays: ${paths.join(", ")} (${messageOf(first.error)}).`;
  const words = paths.map(shellWord).join(" ");
  throw new TeamError("PERMISSION_DENIED", message, {
    hint: `Nothing reads it any more. Remove it: chmod -R u+rwX ${words} && rm -r ${words}`,
    details: { team: ref.team, stays: paths },
    cause: first.error,
  });
}

/** Sees through what {@link moveTeamToTrash} began for this name in processes that were killed over it, before the name is used again. */
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
    // Whoever makes a team of this name was quicker, and does the same.
    if (!isMissing(error)) throw error;
  }
}

/** The directories that are there under the name of a team without a config; none where the team has one. */
export function leftoversOf({ paths }: TeamRef): string[] {
  if (entryOf(paths.config) !== undefined) return [];
  // The tasks last: as long as they are there nobody makes a team of this name.
  const runtime = isOwnRuntime(paths.runtime, 2) ? [paths.runtime] : [];
  return [...runtime, ...[paths.dir, paths.tasks].filter((path) => entryOf(path) !== undefined)];
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
    const trash = join(path, "..", `.${ref.team}.leftover-${ownerRecord()}`);
    rename(path, trash);
    removeTree(trash);
  }
  if (isOwnRuntime(ref.home.runtime, 1)) removeIfEmpty(ref.home.runtime);
  return found;
}
