import { basename, dirname, join, relative, resolve } from "node:path";
import { entryOf, isDirectory, readText } from "../os/files/fs.ts";
import { realPathOf } from "../os/files/symlinks.ts";
import { isShortFile } from "../os/files/user-files.ts";

/**
 * Returns one directory for all worktrees of the repository of a directory: the main worktree, or the repository itself if it is
 * bare. Outside a repository, returns the directory. Reads git's files and starts no process. A `.git` file counts only if the
 * repository that it names has this worktree, because anyone can write such a file.
 */
export function repositoryOf(directory: string): string {
  const start = realPathOf(directory);
  for (let at = start; ; at = dirname(at)) {
    const link = join(at, ".git");
    if (isDirectory(link)) return at;
    if (entryOf(link)?.isFile()) return mainWorktreeOf(at, link) ?? at;
    if (at === dirname(at)) return start;
  }
}

/** Maps a directory of a linked worktree to the main worktree; undefined for any other directory, and without a main worktree. */
export function inMainWorktree(directory: string): string | undefined {
  const start = realPathOf(directory);
  const main = repositoryOf(start);
  for (let at = start; ; at = dirname(at)) {
    if (at === main || at === dirname(at)) return undefined;
    if (entryOf(join(at, ".git")) !== undefined)
      return isDirectory(join(main, ".git")) ? join(main, relative(at, start)) : undefined;
  }
}

/** The directories of git's own data about a worktree. */
export interface GitDirectories {
  /** Top of the worktree. */
  readonly top: string;
  /** Of this worktree alone: HEAD, index. */
  readonly own: string;
  /** Of all worktrees: objects, refs, config, hooks. The same as `own` in the main worktree. */
  readonly common: string;
}

/**
 * Returns git's directories for the repository of a directory, with every link resolved; undefined outside a repository.
 * Believes a `.git` file only if git's own files confirm it: anyone can write such a file, with the path of another repository.
 */
export function gitDirectoriesOf(directory: string): GitDirectories | undefined {
  for (let top = realPathOf(directory); ; top = dirname(top)) {
    const link = join(top, ".git");
    const entry = entryOf(link);
    // A symbolic link could lead to another repository, and nothing there confirms it.
    if (entry?.isDirectory()) return { top, own: link, common: link };
    if (entry?.isFile()) return linkedDirectories(top, link) ?? submoduleDirectories(top, link);
    if (top === dirname(top)) return undefined;
  }
}

function linkedDirectories(top: string, link: string): GitDirectories | undefined {
  const named = adminOf(top, link);
  return named && { top, own: realPathOf(named.admin), common: named.shared };
}

/** Git's directory for a submodule is inside its directory for the enclosing worktree. */
function submoduleDirectories(top: string, link: string): GitDirectories | undefined {
  const named = readLine(link)?.match(/^gitdir: (.+)$/)?.[1];
  const enclosing = top === dirname(top) ? undefined : gitDirectoriesOf(dirname(top));
  if (named === undefined || enclosing === undefined) return undefined;
  const own = realPathOf(resolve(top, named));
  const modules = join(enclosing.own, "modules");
  return own.startsWith(`${modules}/`) ? { top, own, common: own } : undefined;
}

/** Returns the path of a directory below the top of its worktree, which is the same in all worktrees; empty outside a repository. */
export function placeInWorktree(directory: string): string {
  const start = realPathOf(directory);
  for (let at = start; ; at = dirname(at)) {
    const git = entryOf(join(at, ".git"));
    if (git?.isFile() || isDirectory(join(at, ".git"))) return relative(at, start);
    if (at === dirname(at)) return "";
  }
}

/** The worktree that a directory is in. */
interface Checkout {
  /** True for a linked worktree, false for the main one. */
  readonly isLinked: boolean;
  /** Undefined with a detached HEAD. */
  readonly branch: string | undefined;
}

/** Returns the worktree of a directory; undefined outside a repository. Reads git's files and starts no process. */
export function checkoutOf(directory: string): Checkout | undefined {
  const main = repositoryOf(directory);
  for (let at = realPathOf(directory); ; at = dirname(at)) {
    const link = join(at, ".git");
    if (isDirectory(link)) return { isLinked: false, branch: branchIn(link) };
    const named = entryOf(link)?.isFile() ? readLine(link)?.match(/^gitdir: (.+)$/)?.[1] : undefined;
    if (named !== undefined) return { isLinked: main !== at, branch: branchIn(resolve(at, named)) };
    if (at === dirname(at)) return undefined;
  }
}

/** Reads the branch in a HEAD file; a branch name contains no whitespace and no control character. */
function branchIn(admin: string): string | undefined {
  return readLine(join(admin, "HEAD"))?.match(/^ref: refs\/heads\/([^\s\p{Cc}]{1,200})$/u)?.[1];
}

/** Returns the main worktree of a linked one; undefined for a submodule, which is a separate repository, and for a forged link. */
function mainWorktreeOf(worktree: string, link: string): string | undefined {
  const shared = adminOf(worktree, link)?.shared;
  return shared !== undefined && basename(shared) === ".git" ? dirname(shared) : shared;
}

/** Returns git's own and shared directories for a linked worktree; undefined unless they confirm the link. */
function adminOf(
  worktree: string,
  link: string,
): { readonly admin: string; readonly shared: string } | undefined {
  const named = readLine(link)?.match(/^gitdir: (.+)$/)?.[1];
  if (named === undefined) return undefined;
  const admin = resolve(worktree, named);
  const common = readLine(join(admin, "commondir"));
  const back = readLine(join(admin, "gitdir"));
  if (common === undefined || back === undefined || resolve(admin, back) !== link) return undefined;
  const shared = realPathOf(resolve(admin, common));
  // Only git writes to this directory, so a forged link cannot inherit the trust of another repository.
  if (dirname(realPathOf(admin)) !== join(shared, "worktrees")) return undefined;
  return { admin, shared };
}

/** Reads a one-line file of git. Reading anything else could block, and the files can be from an untrusted repository. */
function readLine(path: string): string | undefined {
  return isShortFile(path) ? readText(path)?.replace(/\r?\n$/, "") : undefined;
}
