import { accessSync, chmodSync, constants, lstatSync, type Stats, statSync } from "node:fs";
import { delimiter, isAbsolute, resolve } from "node:path";
import type { Env } from "../env.ts";

/** True if this user may write a file, or create entries in a directory. */
export function isWritable(path: string): boolean {
  return allows(path, constants.W_OK);
}

/** True if this user may read a file, or read or enter a directory. */
export function isReachable(path: string): boolean {
  return allows(path, constants.R_OK) || allows(path, constants.X_OK);
}

/** True if this is a file that this user may execute. */
export function isExecutable(path: string): boolean {
  // Access first: a directory of the PATH may be inaccessible, and stat would throw.
  return allows(path, constants.X_OK) && (statSync(path, { throwIfNoEntry: false })?.isFile() ?? false);
}

/** Returns the absolute path of a program on the PATH, which may have relative directories; undefined if it is not found. */
export function findProgram(name: string, env: Env): string | undefined {
  if (isAbsolute(name)) return isExecutable(name) ? name : undefined;
  const directories = (env.PATH ?? "").split(delimiter).filter((directory) => directory !== "");
  return directories.map((directory) => resolve(directory, name)).find(isExecutable);
}

/** True if other users have any rights to a file or directory; false for a link, whose own rights are meaningless. */
export function isOpenToOthers(path: string): boolean {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  return entry !== undefined && !entry.isSymbolicLink() && (entry.mode & 0o077) !== 0;
}

/** Removes all rights of other users to a file or directory. */
export function closeToOthers(path: string): void {
  chmodSync(path, statSync(path).mode & 0o700);
}

/** Returns the rights that the owner of a file or directory needs to work with it. */
function ownRights(entry: Stats): number {
  if (entry.isSymbolicLink()) return 0;
  return entry.isDirectory() ? 0o700 : 0o600;
}

/** True if the mode of a file or directory prevents its own user from reading or writing it. */
export function isClosedToOwner(path: string): boolean {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  return entry !== undefined && (~entry.mode & ownRights(entry)) !== 0;
}

/** Restores the owner's rights to a file or directory. */
export function openToOwner(path: string): void {
  const entry = lstatSync(path);
  if (!entry.isSymbolicLink()) chmodSync(path, (entry.mode & 0o777) | ownRights(entry));
}

function allows(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    // An inaccessible path counts as not allowed.
    return false;
  }
}
