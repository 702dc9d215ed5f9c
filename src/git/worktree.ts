import { basename, dirname, join, relative, resolve } from "node:path";
import { messageOf } from "../errors.ts";
import type { Env } from "../os/env.ts";
import { createTemporaryDirectory, replaceFile } from "../os/files/atomic-write.ts";
import { ensureDir, entryOf, isDirectory, removeTree } from "../os/files/fs.ts";
import { realPathOf } from "../os/files/symlinks.ts";
import { GitError, git } from "./git.ts";
import { requireLinkedWorktree, requireOwnConfig } from "./own-repository.ts";
import { changesIn, type GitChanges } from "./status.ts";

/** Default directory for worktrees: inside the repository, so that users find them and they are deleted with it. */
const DEFAULT_DIRECTORY = ".worktrees";

export interface WorktreeRequest {
  /** Any directory of the repository. The new branch starts at the HEAD of its worktree. */
  readonly from: string;
  /** Name of the new directory; if it is taken, the first free of name-2, … */
  readonly name: string;
  /** Created from HEAD. If `branchIsGiven`, an existing branch is checked out; otherwise each taken part of the name gets a number. */
  readonly branch: string;
  /** True if the user named the branch. */
  readonly branchIsGiven: boolean;
  /** Directory for worktrees, relative to the repository; `.worktrees` by default. */
  readonly directory?: string | undefined;
  /** Copy the changed and untracked files of the worktree of `from`. */
  readonly withChanges?: boolean;
  /** Receives the planned worktree before anything is created, to record it in case this process is killed meanwhile. */
  readonly onPlanned?: (worktree: Worktree) => Promise<void>;
  readonly env: Env;
}

export interface Worktree {
  readonly path: string;
  /** The directory in it that corresponds to `from`. */
  readonly cwd: string;
  /** The top of the worktree that `from` is in. */
  readonly source: string;
  /** The branch of `source` at that time; undefined with a detached HEAD. */
  readonly startedFrom: string | undefined;
  readonly branch: string;
  /** The commit that it was created from. */
  readonly base: string;
  /** True if the branch was created for it. */
  readonly madeBranch: boolean;
  /** The top of the main worktree, which outlives the others. */
  readonly repository: string;
}

/**
 * Creates a worktree with its own branch. If git refuses a step, the earlier steps are rolled back.
 * @throws GitError whose message also names what could not be rolled back
 */
export async function addWorktree(request: WorktreeRequest): Promise<Worktree> {
  const { env } = request;
  const { worktree, parent } = await plan(request);
  const { path, branch, base, madeBranch, source, repository } = worktree;
  await request.onPlanned?.(worktree);
  makeParent(repository, parent);
  // A separate command, so that a rollback only ever deletes a branch that this call has created.
  if (madeBranch) await git(source, ["branch", "--no-track", "--end-of-options", branch, base], env);
  const words = ["worktree", "add", "--quiet", "--end-of-options", path, branch];
  try {
    await git(source, words, env);
    if (request.withChanges) await copyChanges(source, path, env);
  } catch (error) {
    const left = await rollBackWorktree(worktree, env);
    throw left.length === 0 ? error : new GitError(words, [messageOf(error), ...left].join("; "));
  }
  return worktree;
}

/** Resolves a request to the worktree and its parent directory; creates nothing. */
async function plan(
  request: WorktreeRequest,
): Promise<{ readonly worktree: Worktree; readonly parent: string }> {
  const { env } = request;
  const from = realPathOf(request.from);
  requireOwnConfig(from);
  const { top, repository } = await locate(from, env);
  const head = await commitOf(top, "HEAD", env).catch(noCommit);
  const exists = (await worktreeOfBranch(top, request.branch, env)) !== undefined;
  const madeBranch = !(exists && request.branchIsGiven);
  const branch = request.branchIsGiven ? request.branch : await freeBranch(top, request.branch, env);
  const base = madeBranch ? head : await commitOf(top, `refs/heads/${branch}`, env);
  if (request.withChanges && base !== head)
    throw new GitError(
      ["restore"],
      `the uncommitted changes cannot be copied, because they are based on a different commit than ${branch}`,
    );
  const parent = resolve(repository, request.directory ?? DEFAULT_DIRECTORY);
  // Git records real paths.
  const path = freePath(realPathOf(parent), request.name, await knownWorktrees(top, env));
  const worktree = {
    path,
    cwd: join(path, relative(top, from)),
    source: top,
    startedFrom: (await git(top, ["branch", "--show-current"], env)).trim() || undefined,
    branch,
    base,
    madeBranch,
    repository,
  };
  return { worktree, parent };
}

/**
 * Counts changed and untracked files of a worktree, without those of its submodules.
 * @param repository any directory of its repository, to check that the worktree still belongs to it
 * @throws GitError also if the directory is no longer a worktree
 */
export async function changesInWorktree(path: string, env: Env, repository?: string): Promise<GitChanges> {
  await locateWorktree(path, env, repository);
  return changesIn(path, env);
}

/**
 * Removes a worktree that was never used, and its branch if it was created for it and has not moved.
 * @returns one text for each part that git did not remove
 */
export async function rollBackWorktree(
  { path, source, branch, base, madeBranch }: Omit<Worktree, "cwd" | "startedFrom" | "repository">,
  env: Env,
): Promise<readonly string[]> {
  const left: string[] = [];
  const attempt = async (what: string, step: () => Promise<unknown>): Promise<void> => {
    try {
      await step();
    } catch (error) {
      left.push(`${what} stays: ${messageOf(error)}`);
    }
  };
  const remove = async (): Promise<void> => {
    const words = ["worktree", "remove", "--force", "--end-of-options", path];
    // Another process may have created its own worktree there first.
    if ((await worktreeOfBranch(source, branch, env)) !== realPathOf(path))
      throw new GitError(words, `branch ${branch} is not checked out in it, and stays too`);
    await git(source, words, env, {}, { detached: true });
  };
  const removeBranch = async (): Promise<void> => {
    // Another process may have removed the worktree and its branch.
    if ((await worktreeOfBranch(source, branch, env)) !== undefined)
      await git(source, ["update-ref", "-d", `refs/heads/${branch}`, base], env);
  };
  if (isDirectory(path)) await attempt(path, remove);
  if (madeBranch && left.length === 0) await attempt(`branch ${branch}`, removeBranch);
  return left;
}

interface Location {
  readonly top: string;
  /** The `.git` directory that all worktrees of a repository share; it outlives each of them. */
  readonly common: string;
  readonly repository: string;
}

async function locate(directory: string, env: Env): Promise<Location> {
  const words = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"];
  const [top = "", common = ""] = (await git(directory, words, env)).split("\n");
  // The common directory is the `.git` of the main worktree; a bare repository has no main worktree, so use the top of this one.
  return { top, common, repository: realPathOf(basename(common) === ".git" ? dirname(common) : top) };
}

/** Like {@link locate}, but fails if git would treat the directory as a part of another worktree. */
export async function locateWorktree(path: string, env: Env, repository?: string): Promise<Location> {
  requireLinkedWorktree(path, repository);
  const where = await locate(path, env);
  if (where.top === realPathOf(path)) return where;
  throw new GitError(["rev-parse"], `${path} is no longer a worktree`);
}

async function commitOf(directory: string, name: string, env: Env): Promise<string> {
  return (await git(directory, ["rev-parse", "--verify", "--quiet", `${name}^{commit}`], env)).trim();
}

function noCommit(error: unknown): never {
  if (error instanceof GitError && !error.missing)
    throw new GitError(error.args, "the repository has no commit yet, so there is nothing to branch from");
  throw error;
}

/** Creates the directory for worktrees. If it is inside the repository, it gets a `.gitignore` that hides it from git status. */
function makeParent(repository: string, parent: string): void {
  const isOurs = parent === join(repository, DEFAULT_DIRECTORY) || entryOf(parent) === undefined;
  ensureDir(parent);
  // A symbolic link in the repository must not redirect writes to a place outside.
  if (isInside(repository, parent) && !isInside(repository, realPathOf(parent)))
    throw new GitError(["worktree", "add"], `${parent} leads outside the repository by a symbolic link`);
  const ignore = join(parent, ".gitignore");
  if (isOurs && isInside(repository, parent) && entryOf(ignore) === undefined)
    replaceFile(ignore, "*\n", { sync: false });
}

function isInside(directory: string, path: string): boolean {
  const relativePath = relative(directory, path);
  return relativePath !== "" && relativePath !== ".." && !relativePath.startsWith("../");
}

/** @param known git's worktrees; git reuses no path that it still lists, even if the worktree is deleted */
function freePath(parent: string, name: string, known: ReadonlyMap<string, string>): string {
  for (let n = 1; ; n += 1) {
    const path = join(parent, n === 1 ? name : `${name}-${n}`);
    if (entryOf(path) === undefined && !known.has(path)) return path;
  }
}

/** Returns the entries of `worktree list --porcelain` by path, including worktrees whose directory is gone. */
export async function knownWorktrees(directory: string, env: Env): Promise<ReadonlyMap<string, string>> {
  const entries = (await git(directory, ["worktree", "list", "--porcelain"], env)).split("\n\n");
  return new Map(
    entries
      .map((entry) => [/^worktree (.*)$/m.exec(entry)?.[1] ?? "", entry] as const)
      .filter(([path]) => path),
  );
}

/** Returns the path of the worktree that has a branch checked out, or ""; undefined if there is no such branch. */
export async function worktreeOfBranch(
  directory: string,
  branch: string,
  env: Env,
): Promise<string | undefined> {
  const ref = `refs/heads/${branch}`;
  const words = ["for-each-ref", "--format=%(refname) %(worktreepath)", ref];
  const line = (await git(directory, words, env)).split("\n").find((one) => one.startsWith(`${ref} `));
  return line?.slice(ref.length + 1);
}

/**
 * Returns a free name for a branch: each part that is taken gets a number. Git allows no branch `teams/a` next to a branch `teams`
 * or, if the file system ignores case, next to `Teams`.
 */
async function freeBranch(top: string, branch: string, env: Env): Promise<string> {
  const listed = await git(top, ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"], env);
  const taken = new Set(listed.toLowerCase().split("\n"));
  const directories = new Set([...taken].flatMap((name) => parentsOf(name)));
  const parts = branch.split("/");
  return parts.reduce((parent, part, i) => {
    const isTaken = (name: string): boolean =>
      taken.has(name.toLowerCase()) || (i === parts.length - 1 && directories.has(name.toLowerCase()));
    const first = i === 0 ? part : `${parent}/${part}`;
    let name = first;
    for (let n = 2; isTaken(name); n += 1) name = `${first}-${n}`;
    return name;
  }, "");
}

function parentsOf(name: string): readonly string[] {
  const parts = name.split("/").slice(0, -1);
  return parts.map((_, i) => parts.slice(0, i + 1).join("/"));
}

/**
 * Copies changed and untracked files to the new worktree, without a commit. It uses a temporary index, so that the user's index does
 * not change.
 */
async function copyChanges(top: string, path: string, env: Env): Promise<void> {
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
