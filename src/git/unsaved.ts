import type { Env } from "../os/env.ts";
import { GitError } from "./git.ts";
import { type NestedWork, nestedCommits, nestedWork } from "./nested-repositories.ts";
import { privatelyIgnored } from "./private-ignores.ts";
import { gitDirectoriesOf } from "./repository.ts";
import { commitsOnlyOn, type GitOperation, operationIn } from "./status.ts";
import { changesInWorktree, locateWorktree } from "./worktree.ts";

/** Work that exists only in a worktree. */
export interface Unsaved {
  readonly changed: number;
  readonly untracked: number;
  readonly hasFlags?: boolean;
  /** Untracked files and directories that only an ignore list of the repository outside the worktree ignores. */
  readonly ignored?: number;
  /** Commits that are on no other branch, tag or remote. */
  readonly commits: number;
  /** Submodules and other repositories inside the worktree that have unsaved work. */
  readonly nested: readonly NestedWork[];
  readonly operation?: GitOperation;
}

/**
 * Returns the work that removing a worktree and the branch created for it would lose, or undefined.
 * @throws GitError if git cannot tell; then do not remove the worktree
 */
export async function unsavedIn(
  path: string,
  madeBranch: string | undefined,
  env: Env,
  repository?: string,
): Promise<Unsaved | undefined> {
  const { branch, changed, untracked, hasFlags } = await changesInWorktree(path, env, repository);
  const place = requirePlace(path);
  const ignored = await privatelyIgnored(place, env);
  const operation = operationIn(place);
  const own = new Set([branch, madeBranch].filter((name) => name !== undefined));
  const commits = await commitsOnlyOn(path, [...own], env);
  const nested = await nestedWork(place, env);
  if (changed + untracked + ignored + commits + nested.length === 0 && operation === undefined)
    return undefined;
  return {
    changed,
    untracked,
    commits,
    nested,
    ...(hasFlags ? { hasFlags } : {}),
    ...(ignored === 0 ? {} : { ignored }),
    ...(operation === undefined ? {} : { operation }),
  };
}

/** Commits that removing a worktree with all its files would lose. */
export type DiscardLoss = Pick<Unsaved, "commits" | "nested">;

/**
 * Returns the commits that removing a worktree with all its files would lose although its branch stays: those of a detached HEAD,
 * and those of repositories inside it. Undefined if nothing would be lost.
 * @throws GitError
 */
export async function discardLoss(
  path: string,
  env: Env,
  repository?: string,
): Promise<DiscardLoss | undefined> {
  await locateWorktree(path, env, repository);
  const commits = await commitsOnlyOn(path, [], env);
  const nested = await nestedCommits(requirePlace(path), env);
  return commits + nested.length === 0 ? undefined : { commits, nested };
}

function requirePlace(path: string): NonNullable<ReturnType<typeof gitDirectoriesOf>> {
  const found = gitDirectoriesOf(path);
  if (found === undefined) throw new GitError(["rev-parse"], `${path} is no longer a worktree`);
  return found;
}
