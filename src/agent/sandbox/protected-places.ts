import { basename, join } from "node:path";
import { entryOf, isDirectory, listDir } from "../../os/files/fs.ts";
import { findEntries } from "../../os/files/walk.ts";
import { protectedReason } from "../permissions/protected-paths.ts";

/** Directories of generated or foreign files: their protected names have no effect there, and there are many. */
const SKIPPED: ReadonlySet<string> = new Set([
  ...[".git", "node_modules", "target", "dist", "build", "out", "vendor", "venv", ".venv", "__pycache__"],
  ...[".cache", ".next", ".tox", "bower_components", "coverage"],
]);
/** Directories that one search reads. */
const MAX_DIRECTORIES = 2_000;

/** Returns the protected entries at the top of a directory. */
export function protectedEntries(directory: string, roots: readonly string[]): string[] {
  if (!isDirectory(directory)) return [];
  return listDir(directory)
    .map((name) => join(directory, name))
    .filter((path) => isProtected(path, entryOf(path)?.isDirectory() === true, roots));
}

/** Returns the protected entries at any depth of a directory, as far as a bounded search finds them. */
export function findProtected(directory: string, roots: readonly string[]): Promise<string[]> {
  return findEntries(directory, {
    isWanted: (path, isDirectoryThere) => isProtected(path, isDirectoryThere, roots),
    skip: SKIPPED,
    limit: MAX_DIRECTORIES,
  });
}

/** Name of an entry that no table names: only a directory that is protected as a whole protects it. */
const ANY_ENTRY = "any-entry";

/** A directory of git is no place of its own here: parts of it are writable. */
function isProtected(path: string, isDirectoryThere: boolean, roots: readonly string[]): boolean {
  if (!isDirectoryThere) return protectedReason(path, roots) !== undefined;
  return basename(path) !== ".git" && protectedReason(join(path, ANY_ENTRY), roots) !== undefined;
}
