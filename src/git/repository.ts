import { basename, dirname, join, relative, resolve } from "node:path";
import { entryOf, isDirectory, readText } from "../os/files/fs.ts";
import { realPathOf } from "../os/files/real-path.ts";

/**
 * The directory that stands for all worktrees of the repository that a directory is in: the main worktree, or the repository
 * itself where it has none; the directory itself outside of any. Read from git's own files, with nothing started.
 * A `.git` file counts only where the repository that it names knows this worktree: anybody can write one.
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

/** The same directory in the main worktree, for one in a linked worktree; undefined for any other, and where there is no main one. */
export function inMainWorktree(directory: string): string | undefined {
  const start = realPathOf(directory);
  const main = repositoryOf(start);
  for (let at = start; ; at = dirname(at)) {
    if (at === main || at === dirname(at)) return undefined;
    if (entryOf(join(at, ".git")) !== undefined)
      return isDirectory(join(main, ".git")) ? join(main, relative(at, start)) : undefined;
  }
}

/** Where a directory lies in a repository of git. */
interface Checkout {
  /** It is a linked worktree, beside the main one. */
  readonly isLinked: boolean;
  /** Undefined where none is checked out. */
  readonly branch: string | undefined;
}

/** Of the repository that a directory is in; undefined outside of any. Read from git's own files, with nothing started. */
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

/** No name of a branch holds a blank or a control character. */
function branchIn(admin: string): string | undefined {
  return readLine(join(admin, "HEAD"))?.match(/^ref: refs\/heads\/([^\s\p{Cc}]{1,200})$/u)?.[1];
}

/** Of a linked worktree; undefined for a submodule, which is a repository of its own, and for a forged link. */
function mainWorktreeOf(worktree: string, link: string): string | undefined {
  const named = readLine(link)?.match(/^gitdir: (.+)$/)?.[1];
  if (named === undefined) return undefined;
  const admin = resolve(worktree, named);
  const common = readLine(join(admin, "commondir"));
  const back = readLine(join(admin, "gitdir"));
  if (common === undefined || back === undefined || resolve(admin, back) !== link) return undefined;
  const shared = realPathOf(resolve(admin, common));
  // Only git itself makes one there: a directory that names another repository as its own claims no trust.
  if (dirname(realPathOf(admin)) !== join(shared, "worktrees")) return undefined;
  return basename(shared) === ".git" ? dirname(shared) : shared;
}

/** The one line of a file of git's. */
function readLine(path: string): string | undefined {
  return isDirectory(path) ? undefined : readText(path)?.replace(/\r?\n$/, "");
}
