import { basename, dirname, join, relative, resolve } from "node:path";
import { messageOf } from "../errors.ts";
import { createTemporaryDirectory } from "../os/create.ts";
import type { Env } from "../os/env.ts";
import { ensureDir, entryOf, isDirectory, realPathOf, removeTree, replaceFile } from "../os/fs.ts";
import { GitError, git } from "./git.ts";
import { changesIn, commitsOnlyOn } from "./status.ts";

/** Where worktrees go unless a setting says otherwise: inside the repository, so that they are found and go with it. */
const DEFAULT_DIRECTORY = ".worktrees";

export interface WorktreeRequest {
  /** Any directory of the repository; HEAD is that of its own worktree. */
  readonly from: string;
  /** The new directory's name. */
  readonly name: string;
  /** Made from HEAD; where it exists it is checked out if the person named it, else the next free of name-2, … is made. */
  readonly branch: string;
  readonly branchIsGiven: boolean;
  /** Where worktrees go; relative to the repository. */
  readonly directory?: string | undefined;
  /** Takes along what is changed and untracked in `from`. */
  readonly withChanges?: boolean;
  readonly env: Env;
}

export interface Worktree {
  readonly path: string;
  /** The directory inside of it that `from` is in the repository. */
  readonly cwd: string;
  readonly branch: string;
  /** The commit that it began with. */
  readonly base: string;
  /** Whether the branch was made for it. */
  readonly madeBranch: boolean;
}

/**
 * Makes a worktree with a branch of its own. It exists whole or, when git refuses, not at all.
 * @throws GitError
 */
export async function addWorktree(request: WorktreeRequest): Promise<Worktree> {
  const { env } = request;
  const from = realPathOf(request.from);
  const { top, repository } = await whereIs(from, env);
  const base = (
    await git(top, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], env).catch(noCommit)
  ).trim();
  const parent =
    request.directory === undefined ? ownDirectory(repository) : resolve(repository, request.directory);
  ensureDir(parent);
  const path = freePath(parent, request.name);
  const exists = await branchExists(top, request.branch, env);
  const makes = !(exists && request.branchIsGiven);
  const branch = makes && exists ? await freeBranch(top, request.branch, env) : request.branch;
  // By itself, so that what is taken back after a failure is a branch that this call made.
  if (makes) await git(top, ["branch", "--no-track", "--end-of-options", branch, base], env);
  const words = ["worktree", "add", "--quiet", "--end-of-options", path, branch];
  try {
    await git(top, words, env);
    if (request.withChanges) await takeChanges(top, path, env);
  } catch (error) {
    const left = await undo(top, path, makes ? branch : undefined, env);
    throw left.length === 0 ? error : new GitError(words, [messageOf(error), ...left].join("; "));
  }
  const start = makes ? base : (await git(path, ["rev-parse", "HEAD"], env)).trim();
  return { path, cwd: join(path, relative(top, from)), branch, base: start, madeBranch: makes };
}

/** Why a worktree must stay; undefined when all of it is elsewhere too. */
export interface Unsaved {
  readonly changed: number;
  readonly untracked: number;
  /** Commits that are on no other branch, tag or remote. */
  readonly commits: number;
}

/**
 * What would be lost with a worktree and the branch that was made for it.
 * @throws GitError when it cannot be told, which is no permission to remove it
 */
export async function unsavedIn(
  path: string,
  madeBranch: string | undefined,
  env: Env,
): Promise<Unsaved | undefined> {
  const { branch, changed, untracked } = await changesIn(path, env);
  const own = new Set([branch, madeBranch].filter((name) => name !== undefined));
  const commits = await commitsOnlyOn(path, [...own], env);
  return changed + untracked + commits === 0 ? undefined : { changed, untracked, commits };
}

/**
 * Removes a worktree in which nothing is unsaved, and the branch that was made for it. git looks once more by itself and
 * refuses what was changed meanwhile.
 * @throws GitError
 */
export async function removeWorktree(path: string, madeBranch: string | undefined, env: Env): Promise<void> {
  const { repository } = await whereIs(path, env);
  await git(repository, ["worktree", "remove", "--end-of-options", path], env);
  // Its commits are on another branch or a remote, which was asked before.
  if (madeBranch !== undefined)
    await git(repository, ["branch", "-D", "--quiet", "--end-of-options", madeBranch], env);
}

/** Removes a worktree with all that is in it; its branch stays. @throws GitError */
export async function discardWorktree(path: string, env: Env): Promise<void> {
  const { repository } = await whereIs(path, env);
  await git(repository, ["worktree", "remove", "--force", "--end-of-options", path], env);
}

async function whereIs(
  directory: string,
  env: Env,
): Promise<{ readonly top: string; readonly repository: string }> {
  const words = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"];
  const [top = "", common = ""] = (await git(directory, words, env)).split("\n");
  // Of a linked worktree the common directory is the main one's `.git`; a bare repository has no other top than this.
  return { top, repository: basename(common) === ".git" ? dirname(common) : top };
}

function noCommit(error: unknown): never {
  if (error instanceof GitError && !error.missing)
    throw new GitError(error.args, "the repository has no commit yet, so there is nothing to branch from");
  throw error;
}

/** The directory hides itself from the repository's status; none of the repository's own files is touched. */
function ownDirectory(repository: string): string {
  const directory = join(repository, DEFAULT_DIRECTORY);
  ensureDir(directory);
  const ignore = join(directory, ".gitignore");
  if (entryOf(ignore) === undefined) replaceFile(ignore, "*\n", { sync: false });
  return directory;
}

function freePath(parent: string, name: string): string {
  for (let n = 1; ; n += 1) {
    const path = join(parent, n === 1 ? name : `${name}-${n}`);
    if (entryOf(path) === undefined) return path;
  }
}

async function branchExists(top: string, branch: string, env: Env): Promise<boolean> {
  const words = ["for-each-ref", "--format=%(refname)", `refs/heads/${branch}`];
  const found = (await git(top, words, env)).split("\n");
  return found.includes(`refs/heads/${branch}`);
}

async function freeBranch(top: string, branch: string, env: Env): Promise<string> {
  for (let n = 2; ; n += 1) {
    const name = `${branch}-${n}`;
    if (!(await branchExists(top, name, env))) return name;
  }
}

/**
 * Brings what is changed and untracked into the new worktree, uncommitted there too. It goes through an index of its own,
 * so that the person's index stays as it is.
 */
async function takeChanges(top: string, path: string, env: Env): Promise<void> {
  const scratch = createTemporaryDirectory("teams-index-");
  const index = { GIT_INDEX_FILE: join(scratch, "index") };
  try {
    await git(top, ["read-tree", "HEAD"], env, index);
    await git(top, ["add", "--all", "--", "."], env, index);
    const tree = (await git(top, ["write-tree"], env, index)).trim();
    await git(path, ["restore", `--source=${tree}`, "--worktree", "--", "."], env);
  } finally {
    removeTree(scratch);
  }
}

/** Takes back what a refused start has made. @returns what git would not let go, for the error that is on its way */
async function undo(top: string, path: string, branch: string | undefined, env: Env): Promise<string[]> {
  const left: string[] = [];
  const attempt = async (what: string, words: readonly string[]): Promise<void> => {
    try {
      await git(top, words, env);
    } catch (error) {
      left.push(`${what} stays: ${messageOf(error)}`);
    }
  };
  if (isDirectory(path)) await attempt(path, ["worktree", "remove", "--force", "--end-of-options", path]);
  if (branch !== undefined)
    await attempt(`branch ${branch}`, ["branch", "-D", "--quiet", "--end-of-options", branch]);
  return left;
}
