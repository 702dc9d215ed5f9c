import { join, relative, sep } from "node:path";
import { ifReadable } from "../../os/files/if-readable.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { foldedName } from "../../text/folded-name.ts";
import { isBareRepository } from "./commands/git-config.ts";
import type { JoinedPaths } from "./commands/joined-paths.ts";
import { literally } from "./commands/pattern-meetings.ts";
import { joinedReader, startupReader } from "./files/startup-files.ts";

/**
 * Returns why a path is protected, as the end of a sentence about it. A write to a protected path could extend an agent's
 * rights or run commands as the user: teams' directory, `.claude`, `.git`, `.mcp.json`, startup files (protocol.md section 6).
 * Case is ignored, because some file systems ignore it.
 * @param path absolute and normalized
 * @param roots directories of teams, absolute and normalized
 * @param isPattern a shell expands the path
 * @param isValue only values of variables name it
 * @returns undefined for an unprotected path
 */
export function protectedReason(
  path: string,
  roots: readonly string[],
  isPattern = false,
  isValue = false,
): string | undefined {
  if (roots.some((root) => isInside(path, root))) return "is in teams' own directory";
  const parts = foldedName(path).split(sep);
  if (parts.includes(".git")) return "belongs to git, which can run commands from it";
  if (parts.includes(".claude") || parts.at(-1) === ".mcp.json") return "can extend what agents may do";
  const reader = startupReader(isPattern ? path : literally(path), isValue);
  return reader === undefined ? undefined : `is read by ${reader}`;
}

/** Like {@link protectedReason}, for names in other directories that the line names. */
export function joinedReason(joined: JoinedPaths, roots: readonly string[]): string | undefined {
  if (roots.some((root) => joinsInside(joined, root))) return "is in teams' own directory";
  const reader = joinedReader(joined);
  return reader === undefined ? undefined : `is read by ${reader}`;
}

/** Returns whether a name in one of the directories may be the given directory or a path below it. */
export function joinsInside({ directories, names }: JoinedPaths, directory: string): boolean {
  const parts = directory.split(sep);
  const isBelow = (rest: readonly string[]): boolean =>
    names.some((name) => rest.every((part, i) => name[i] === part));
  return parts.some(
    (_, at) =>
      at > 0 && directories.includes(parts.slice(0, at).join(sep) || sep) && isBelow(parts.slice(at)),
  );
}

/** Entries of teams' directory that decide what agents may do, and that users often link to other places. */
const OFTEN_LINKED = ["settings.json", "teams-trust.json", "agents"];

/** Returns the protected directories: teams' own directory, and the targets outside it to which its entries link. */
export function protectedDirectories(root: string): readonly string[] {
  return [root, ...linkedEntries(root)];
}

/** Returns the real paths of the entries of teams' directory that are links to other places. */
export function linkedEntries(root: string): readonly string[] {
  const real = ifReadable(() => realPathOf(root)) ?? root;
  const targets = OFTEN_LINKED.flatMap((name) => ifReadable(() => realPathOf(join(root, name))) ?? []);
  return targets.filter((target) => !isInside(target, real));
}

/** Why a file in {@link ownPrograms} is protected, as the end of a sentence about it. */
export const PROGRAM_REASON = "is read by shells, which find programs in it";

/**
 * Returns `~/bin` and its real path: startup files of many systems add it to PATH. Empty if a person chose a working directory in
 * it. All paths are absolute.
 */
export function ownPrograms(
  home: string | undefined,
  workingDirs: readonly string[],
  resolve: (path: string) => string,
): readonly string[] {
  if (home === undefined || home === "/") return [];
  const own = join(home, "bin");
  const real = ifReadable(() => resolve(own)) ?? own;
  const all = real === own ? [own] : [own, real];
  return workingDirs.some((directory) => all.some((one) => isInside(directory, one))) ? [] : all;
}

/** Entries that make git treat a directory as a bare repository. */
const REPOSITORY_ENTRIES = ["head", "objects", "refs", "commondir"];
/** Files of such a directory that git obeys. */
const REPOSITORY_FILES = ["config", "config.worktree", "commondir"];

/**
 * Returns whether a new entry completes a bare repository, or configures one.
 * @param path absolute and normalized
 * @param exists whether another path exists already, or is created too
 */
export function completesRepository(path: string, exists: (path: string) => boolean): boolean {
  const parts = path.split(sep);
  return parts.some((part, at) => {
    const own = part.toLowerCase();
    const isLast = at === parts.length - 1;
    const counts = REPOSITORY_FILES.includes(own) ? isLast : REPOSITORY_ENTRIES.includes(own);
    const directory = parts.slice(0, at).join(sep);
    return (
      counts && isBareRepository((name) => name.toLowerCase() === own || exists(`${directory}${sep}${name}`))
    );
  });
}

/** Returns the paths of such entries among names in directories. */
export function joinedEntries({ directories, names }: JoinedPaths): readonly string[] {
  const all = [...REPOSITORY_ENTRIES, ...REPOSITORY_FILES];
  const entries = names.flatMap(([name = ""]) => (all.includes(name.toLowerCase()) ? [name] : []));
  return [...new Set(entries)].flatMap((name) => directories.map((directory) => join(directory, name)));
}

/** Returns whether a path is a directory or below it. Both are absolute and normalized. */
export function isInside(path: string, directory: string): boolean {
  const relativePath = relative(directory, path);
  return (
    relativePath === "" ||
    (relativePath !== ".." && !relativePath.startsWith(`..${sep}`) && !relativePath.startsWith("/"))
  );
}

/**
 * Returns whether all paths are notes of an agent: Markdown files in its notes directory, not hidden. All absolute and
 * normalized.
 */
export function areNotes(paths: readonly string[], directory: string): boolean {
  const isNote = (path: string): boolean =>
    isInside(path, directory) && path.endsWith(".md") && !relative(directory, path).split(sep).some(isHidden);
  return paths.length > 0 && paths.every(isNote);
}

function isHidden(name: string): boolean {
  return name.startsWith(".");
}
