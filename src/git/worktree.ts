import { basename, dirname, join, relative, resolve } from "node:path";
import { messageOf } from "../errors.ts";
import type { Env } from "../os/env.ts";
import { createTemporaryDirectory, replaceFile } from "../os/files/atomic-write.ts";
import { ensureDir, entryOf, isDirectory, removeTree } from "../os/files/fs.ts";
import { realPathOf } from "../os/files/real-path.ts";
import { GitError, git } from "./git.ts";
import { changesIn, commitsOnlyOn, type GitChanges } from "./status.ts";

/** Where worktrees go unless a setting says otherwise: inside the repository, so that they are found and go with it. */
const DEFAULT_DIRECTORY = ".worktrees";

export interface WorktreeRequest {
  /** Any directory of the repository; HEAD is that of its own worktree. */
  readonly from: string;
  /** The new directory's name; where it is taken, the next free of name-2, … */
  readonly name: string;
  /** Made from HEAD; where it exists it is checked out if the person named it, else the next free of name-2, … is made. */
  readonly branch: string;
  readonly branchIsGiven: boolean;
  /** Where worktrees go; relative to the repository. */
  readonly directory?: string | undefined;
  /** Takes along what is changed and untracked in `from`. */
  readonly withChanges?: boolean;
  /** Told of what is about to be made while nothing of it is there, so that it is known also when this process is killed over it. */
  readonly onPlanned?: (worktree: Worktree) => Promise<void>;
  readonly env: Env;
}

export interface Worktree {
  readonly path: string;
  /** The directory inside of it that `from` is in the repository. */
  readonly cwd: string;
  /** The top of the worktree that `from` is in. */
  readonly source: string;
  /** The branch that was checked out there; undefined while its HEAD was detached. */
  readonly startedFrom: string | undefined;
  readonly branch: string;
  /** The commit that it began with. */
  readonly base: string;
  /** Whether the branch was made for it. */
  readonly madeBranch: boolean;
  /** The top of the main worktree, which stays when others go. */
  readonly repository: string;
}

/**
 * Makes a worktree with a branch of its own. It exists whole or, when git refuses, not at all.
 * @throws GitError
 */
export async function addWorktree(request: WorktreeRequest): Promise<Worktree> {
  const { env } = request;
  const { worktree, parent } = await plan(request);
  const { path, branch, base, madeBranch, source, repository } = worktree;
  await request.onPlanned?.(worktree);
  makeParent(repository, parent);
  // By itself, so that what is taken back after a failure is a branch that this call made.
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

/** What a request comes to; nothing is made. */
async function plan(
  request: WorktreeRequest,
): Promise<{ readonly worktree: Worktree; readonly parent: string }> {
  const { env } = request;
  const from = realPathOf(request.from);
  const { top, repository } = await locate(from, env);
  const head = await commitOf(top, "HEAD", env).catch(noCommit);
  const exists = (await worktreeOfBranch(top, request.branch, env)) !== undefined;
  const madeBranch = !(exists && request.branchIsGiven);
  const branch = madeBranch && exists ? await freeBranch(top, request.branch, env) : request.branch;
  const base = madeBranch ? head : await commitOf(top, `refs/heads/${branch}`, env);
  if (request.withChanges && base !== head)
    throw new GitError(["restore"], `what is uncommitted here belongs to another commit than ${branch}`);
  const parent = resolve(repository, request.directory ?? DEFAULT_DIRECTORY);
  const path = freePath(parent, request.name, await knownWorktrees(top, env));
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
  const { branch, changed, untracked } = await changesInWorktree(path, env);
  const own = new Set([branch, madeBranch].filter((name) => name !== undefined));
  const commits = await commitsOnlyOn(path, [...own], env);
  return changed + untracked + commits === 0 ? undefined : { changed, untracked, commits };
}

/** What is changed and untracked in a worktree. @throws GitError also for a directory that is none any more */
export async function changesInWorktree(path: string, env: Env): Promise<GitChanges> {
  await locateWorktree(path, env);
  return changesIn(path, env);
}

/** Commits that would be lost with a worktree although every branch stays: those of a detached HEAD. @throws GitError */
export async function commitsOnNoBranch(path: string, env: Env): Promise<number> {
  await locateWorktree(path, env);
  return commitsOnlyOn(path, [], env);
}

/**
 * Removes a worktree in which nothing is unsaved, and the branch that was made for it. git looks once more by itself and
 * refuses what was changed meanwhile.
 * @throws GitError
 */
export async function removeWorktree(path: string, madeBranch: string | undefined, env: Env): Promise<void> {
  const { common } = await locateWorktree(path, env);
  await git(common, ["worktree", "remove", "--end-of-options", path], env);
  if (madeBranch === undefined) return;
  // Its commits are on another branch or a remote, which was asked before. One that is checked out elsewhere is somebody's.
  if ((await worktreeOfBranch(common, madeBranch, env)) !== "") return;
  await git(common, ["branch", "-D", "--quiet", "--end-of-options", madeBranch], env);
}

/** Removes a worktree with all that is in it; its branch stays. @throws GitError */
export async function discardWorktree(path: string, env: Env): Promise<void> {
  const { common } = await locateWorktree(path, env);
  await git(common, ["worktree", "remove", "--force", "--end-of-options", path], env);
}

/**
 * Takes back a worktree in which nobody has worked, and its branch if it was made for it and still is where it began.
 * @returns what git would not let go
 */
export async function rollBackWorktree(
  { path, source, branch, base, madeBranch }: Omit<Worktree, "cwd" | "startedFrom" | "repository">,
  env: Env,
): Promise<readonly string[]> {
  const left: string[] = [];
  const attempt = async (what: string, words: readonly string[]): Promise<void> => {
    try {
      await git(source, words, env);
    } catch (error) {
      left.push(`${what} stays: ${messageOf(error)}`);
    }
  };
  if (isDirectory(path)) await attempt(path, ["worktree", "remove", "--force", "--end-of-options", path]);
  if (madeBranch && left.length === 0)
    await attempt(`branch ${branch}`, ["update-ref", "-d", `refs/heads/${branch}`, base]);
  return left;
}

interface Location {
  readonly top: string;
  /** The `.git` directory that all worktrees of a repository share: it stays when one of them goes. */
  readonly common: string;
  readonly repository: string;
}

async function locate(directory: string, env: Env): Promise<Location> {
  const words = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"];
  const [top = "", common = ""] = (await git(directory, words, env)).split("\n");
  // Of a linked worktree the common directory is the main one's `.git`; a bare repository has no other top than this.
  return { top, common, repository: realPathOf(basename(common) === ".git" ? dirname(common) : top) };
}

/** Inside of a repository, a directory that is no worktree any more would be taken for a part of the repository. */
async function locateWorktree(path: string, env: Env): Promise<Location> {
  const where = await locate(path, env);
  if (where.top === realPathOf(path)) return where;
  throw new GitError(["rev-parse"], "it is not a worktree any more");
}

async function commitOf(directory: string, name: string, env: Env): Promise<string> {
  return (await git(directory, ["rev-parse", "--verify", "--quiet", `${name}^{commit}`], env)).trim();
}

function noCommit(error: unknown): never {
  if (error instanceof GitError && !error.missing)
    throw new GitError(error.args, "the repository has no commit yet, so there is nothing to branch from");
  throw error;
}

/** A directory that is made inside of the repository hides itself from its status; none of the repository's own files is touched. */
function makeParent(repository: string, parent: string): void {
  const isOurs = parent === join(repository, DEFAULT_DIRECTORY) || entryOf(parent) === undefined;
  ensureDir(parent);
  // A link in somebody's repository must not lead what is written there to another place.
  if (isInside(repository, parent) && !isInside(repository, realPathOf(parent)))
    throw new GitError(["worktree", "add"], `${parent} leads out of the repository`);
  const ignore = join(parent, ".gitignore");
  if (isOurs && isInside(repository, parent) && entryOf(ignore) === undefined)
    replaceFile(ignore, "*\n", { sync: false });
}

function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way !== "" && way !== ".." && !way.startsWith("../");
}

/** @param known worktrees whose directory may be gone: git makes no other one in their place */
function freePath(parent: string, name: string, known: ReadonlyMap<string, string>): string {
  for (let n = 1; ; n += 1) {
    const path = join(parent, n === 1 ? name : `${name}-${n}`);
    if (entryOf(path) === undefined && !known.has(path)) return path;
  }
}

/** What git says of each worktree of a repository (`worktree list --porcelain`), by its path, also of those whose directory is gone. */
export async function knownWorktrees(directory: string, env: Env): Promise<ReadonlyMap<string, string>> {
  const entries = (await git(directory, ["worktree", "list", "--porcelain"], env)).split("\n\n");
  return new Map(
    entries
      .map((entry) => [/^worktree (.*)$/m.exec(entry)?.[1] ?? "", entry] as const)
      .filter(([path]) => path),
  );
}

/** The worktree that has a branch checked out, "" for one that none has; undefined when there is no such branch. */
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

async function freeBranch(top: string, branch: string, env: Env): Promise<string> {
  for (let n = 2; ; n += 1) {
    const name = `${branch}-${n}`;
    if ((await worktreeOfBranch(top, name, env)) === undefined) return name;
  }
}

/**
 * Brings what is changed and untracked into the new worktree, uncommitted there too. It goes through an index of its own,
 * so that the person's index stays as it is.
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
