import { basename, dirname, join, relative, resolve } from "node:path";
import type { Env } from "../os/env.ts";
import { entryOf, isDirectory, listDir, readText } from "../os/files/fs.ts";
import { realPathOf } from "../os/files/symlinks.ts";
import { isShortFile } from "../os/files/user-files.ts";
import { isUnnamed, visitEntries } from "../os/files/walk.ts";
import { commitsOnlyInBare, isTrackedRepository, looksBare } from "./bare-repositories.ts";
import { GitError, git } from "./git.ts";
import { type CheckoutPlace, variablesOf } from "./hidden-changes.ts";
import { requirePlainConfig } from "./own-repository.ts";
import { privatelyIgnored } from "./private-ignores.ts";
import { type GitDirectories, gitDirectoriesOf } from "./repository.ts";
import { changesOf, operationIn } from "./status.ts";

/** Unsaved work in a repository inside a worktree: removing the worktree would delete it. */
export interface NestedWork {
  /** Relative to the top of the worktree. */
  readonly path: string;
  readonly changed: number;
  readonly untracked: number;
  /** Untracked files and directories that only an ignore list of this repository outside its checkout ignores. */
  readonly ignored?: number;
  /** Commits that are on no remote. */
  readonly commits: number;
}

/** A submodule, or another repository inside a worktree. */
interface Nested {
  readonly path: string;
  /** Git's directory; undefined if it is outside the worktree and git's directory for it, and so is not deleted with them. */
  readonly own: string | undefined;
  /** Undefined if it is not checked out. */
  readonly top: string | undefined;
  readonly isBare?: boolean;
}

/**
 * Returns the repositories inside a worktree that have unsaved work: submodules, including nested ones and ones that are no longer
 * in the tree, and other repositories, including bare ones and ones below ignored directories.
 * @throws GitError if the work in one of them cannot be counted
 */
export async function nestedWork(place: GitDirectories, env: Env): Promise<readonly NestedWork[]> {
  const found: NestedWork[] = [];
  for (const { path, own, top, isBare } of await nestedIn(place, env)) {
    if (own === undefined)
      throw refusal(`${path} is a checkout of a repository elsewhere, so its changes are not counted`);
    const commits = await commitsIn(own, isBare, env);
    const { changed, untracked, ignored } =
      top === undefined ? NO_CHANGES : await changesInside({ top, own }, path, env);
    if (changed + untracked + ignored + commits > 0)
      found.push({ path, changed, untracked, ...(ignored === 0 ? {} : { ignored }), commits });
  }
  return found;
}

/** Returns the repositories inside a worktree that have unsaved commits; does not read their files. @throws GitError */
export async function nestedCommits(place: GitDirectories, env: Env): Promise<readonly NestedWork[]> {
  return commitsOf(await nestedIn(place, env), env);
}

/**
 * Does the same for the submodules of a worktree whose directory is gone.
 * @param own git's directory for the worktree
 * @throws GitError
 */
export async function submoduleCommits(own: string, env: Env): Promise<readonly NestedWork[]> {
  return commitsOf(submodulesOf(own), env);
}

async function commitsOf(repositories: readonly Nested[], env: Env): Promise<readonly NestedWork[]> {
  const found: NestedWork[] = [];
  for (const { path, own, isBare } of repositories) {
    const commits = own === undefined ? 0 : await commitsIn(own, isBare, env);
    if (commits > 0) found.push({ path, changed: 0, untracked: 0, commits });
  }
  return found;
}

function commitsIn(own: string, isBare: boolean | undefined, env: Env): Promise<number> {
  return (isBare ? commitsOnlyInBare : commitsOnlyIn)(own, env);
}

type Changes = Required<Pick<NestedWork, "changed" | "untracked" | "ignored">>;

const NO_CHANGES: Changes = { changed: 0, untracked: 0, ignored: 0 };

async function changesInside(place: CheckoutPlace, path: string, env: Env): Promise<Changes> {
  requirePlainConfig(place.own);
  const operation = operationIn(place);
  if (operation !== undefined)
    throw refusal(`a ${operation} is in progress in the nested repository ${path}`);
  const { changed, untracked } = await changesOf(place, env);
  const ignored = await privatelyIgnored({ ...place, common: place.own }, env);
  return { changed, untracked, ignored };
}

/** Returns the repositories inside a worktree, each once. @throws GitError if a directory cannot be read */
async function nestedIn({ top, own }: GitDirectories, env: Env): Promise<readonly Nested[]> {
  const links: string[] = [];
  const bare: string[] = [];
  const refuse = (path: string): never => {
    throw refusal(`${path} cannot be read, so its changes are not counted`);
  };
  await visitEntries(top, {
    visit: ({ path, bytes }) => {
      const parent = bytes?.subarray(0, bytes.lastIndexOf("/")) ?? dirname(path);
      if (basename(path) === "objects" && looksBare(parent)) {
        if (bytes !== undefined) refuse(path);
        bare.push(dirname(path));
        return false;
      }
      if (basename(path) !== ".git") return true;
      if (bytes !== undefined) refuse(path);
      links.push(path);
      return false;
    },
    skip: new Set(),
    limit: Number.POSITIVE_INFINITY,
    onUnreadable: refuse,
  });
  const checkedOut = links.flatMap((link) =>
    dirname(link) === top ? [] : (nestedAt(dirname(link), top) ?? []),
  );
  const seen = new Set(checkedOut.map((one) => one.own));
  const untrackedBare: Nested[] = [];
  for (const directory of bare) {
    const path = relative(top, directory);
    if (!(await isTrackedRepository(directory, env)))
      untrackedBare.push({ path, own: directory, top: undefined, isBare: true });
  }
  return [...checkedOut, ...untrackedBare, ...submodulesOf(own).filter((one) => !seen.has(one.own))];
}

/** @returns undefined if git finds no repository there */
function nestedAt(at: string, worktree: string): Nested | undefined {
  const path = relative(worktree, at);
  const link = join(at, ".git");
  const found = gitDirectoriesOf(at);
  if (found?.top === at) {
    // Removing the files of another worktree does not delete its git directory.
    if (found.own !== found.common) return { path, own: undefined, top: at };
    return isRepository(found.own) ? { path, own: found.own, top: at } : undefined;
  }
  // `.git` is a link to a directory, or a file that names one.
  const named = isShortFile(link) ? readText(link)?.match(/^gitdir: (.+)$/m)?.[1] : undefined;
  const elsewhere = named === undefined ? realPathOf(link) : resolve(at, named);
  return isRepository(elsewhere) ? { path, own: undefined, top: at } : undefined;
}

/**
 * Returns the repositories of a worktree's submodules that git keeps, even if a submodule is no longer checked out.
 * @throws GitError for a name that is not UTF-8
 */
function submodulesOf(own: string): readonly Nested[] {
  const modules = join(own, "modules");
  const search = (directory: string): string[] =>
    isRepository(directory)
      ? [directory, ...search(join(directory, "modules"))]
      : listDir(directory).flatMap((name) => {
          const path = join(directory, name);
          if (isUnnamed(path)) throw refusal(`${path} cannot be read, so its commits are not counted`);
          return entryOf(path)?.isDirectory() ? search(path) : [];
        });
  if (!entryOf(modules)?.isDirectory()) return [];
  return search(modules).map((directory) => ({
    path: relative(modules, directory).replaceAll("/modules/", "/"),
    own: directory,
    top: undefined,
  }));
}

function isRepository(directory: string): boolean {
  return entryOf(join(directory, "HEAD")) !== undefined && isDirectory(join(directory, "objects"));
}

/**
 * Counts the commits of a repository that are on no remote: those of its branches, its stash, its detached HEAD and the tags that
 * were created here. A commit that was cloned or checked out, but not created here, came from a remote too. @throws GitError
 */
async function commitsOnlyIn(own: string, env: Env): Promise<number> {
  // The checkout that the configuration names may be gone.
  const ask = (...words: readonly string[]): Promise<string> =>
    git(own, words, env, variablesOf({ top: own, own }));
  const { made, received } = readReflog(own);
  const tags = (
    await ask("for-each-ref", "--format=%(objectname) %(*objectname) %(refname:lstrip=2)", "refs/tags")
  )
    .split("\n")
    .map((line) => line.split(" "))
    .flatMap(([tag = "", target = "", name = ""]) => (made.has(target || tag) ? [name] : []));
  const counted = ["--exclude=refs/tags/*", "--exclude=refs/remotes/*", "--exclude=refs/prefetch/*", "--all"];
  const words = [
    "rev-list",
    "--count",
    "--ignore-missing",
    ...counted,
    ...tags.map((name) => `refs/tags/${name}`),
    "--not",
    "--remotes",
    ...tags.map((name) => `--exclude=${name}`),
    "--tags",
    ...received.filter((commit) => !made.has(commit)),
    "--",
  ];
  return Number((await ask(...words)).trim());
}

/** Returns the commits that HEAD has been at: those made here, and those received by a clone or checkout. */
function readReflog(own: string): {
  readonly made: ReadonlySet<string>;
  readonly received: readonly string[];
} {
  const entries = (readText(join(own, "logs/HEAD")) ?? "").split("\n").flatMap((line) => {
    const [, commit, message] = /^[0-9a-f]+ ([0-9a-f]{40,64}) .*?\t(.*)$/.exec(line) ?? [];
    return commit === undefined || message === undefined ? [] : [{ commit, message }];
  });
  const isReceived = (message: string): boolean => /^(?:clone|checkout): /.test(message);
  return {
    made: new Set(entries.flatMap(({ commit, message }) => (isReceived(message) ? [] : [commit]))),
    received: [...new Set(entries.flatMap(({ commit, message }) => (isReceived(message) ? [commit] : [])))],
  };
}

function refusal(message: string): GitError {
  return new GitError(["status"], message);
}
