import { accessSync, chmodSync, constants, lstatSync, type Stats, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { Env } from "../env.ts";

/** Whether this user may write there: make entries, for a directory. */
export function isWritable(path: string): boolean {
  return allows(path, constants.W_OK);
}

/** Whether this is a file that this user may execute. */
export function isExecutable(path: string): boolean {
  // First whether it can be reached at all: a directory of the PATH may be closed to us.
  return allows(path, constants.X_OK) && (statSync(path, { throwIfNoEntry: false })?.isFile() ?? false);
}

/** The file that a program's name means on the PATH; undefined when there is none. */
export function findProgram(name: string, env: Env): string | undefined {
  if (isAbsolute(name)) return isExecutable(name) ? name : undefined;
  const directories = (env.PATH ?? "").split(delimiter).filter((directory) => directory !== "");
  return directories.map((directory) => join(directory, name)).find(isExecutable);
}

/** Whether others than its user may do anything with a file or directory; a link has no rights of its own. */
export function isOpenToOthers(path: string): boolean {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  return entry !== undefined && !entry.isSymbolicLink() && (entry.mode & 0o077) !== 0;
}

/** Takes from a file or directory what others may do with it. */
export function closeToOthers(path: string): void {
  chmodSync(path, statSync(path).mode & 0o700);
}

/** What its user needs to work with a file or directory. */
function ownRights(entry: Stats): number {
  if (entry.isSymbolicLink()) return 0;
  return entry.isDirectory() ? 0o700 : 0o600;
}

/** Whether the mode of a file or directory keeps its own user from reading or writing it. */
export function isClosedToOwner(path: string): boolean {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  return entry !== undefined && (~entry.mode & ownRights(entry)) !== 0;
}

/** Gives its user all rights to a file or directory again. */
export function openToOwner(path: string): void {
  const entry = lstatSync(path);
  if (!entry.isSymbolicLink()) chmodSync(path, (entry.mode & 0o777) | ownRights(entry));
}

function allows(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    // What cannot be reached is not allowed: that is the answer.
    return false;
  }
}
