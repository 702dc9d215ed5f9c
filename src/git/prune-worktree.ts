import { dirname } from "node:path";
import type { Env } from "../os/env.ts";
import { entryOf } from "../os/files/fs.ts";
import { GitError, git } from "./git.ts";
import { commitsOnlyOn } from "./status.ts";
import { knownWorktrees, worktreeOfBranch } from "./worktree.ts";

/** What was forgotten of a worktree whose directory had been deleted. */
interface PruneResult {
  /** The branch that was made for it went too. */
  readonly branch: boolean;
}

/**
 * Has git forget exactly one worktree whose directory somebody has deleted, and the branch that was made for it where nothing
 * on it would be lost. One that is locked, or whose detached HEAD had commits that are on no branch, stays known.
 * @param repository any directory of it; undefined for the nearest one above the path
 * @returns undefined when git knows of no such worktree
 * @throws GitError
 */
export async function pruneWorktree(
  path: string,
  {
    repository = nearestExisting(path),
    madeBranch,
  }: { repository?: string | undefined; madeBranch?: string | undefined },
  env: Env,
): Promise<PruneResult | undefined> {
  if (entryOf(path) !== undefined) return undefined;
  const known = (await knownWorktrees(repository, env)).get(path);
  if (known === undefined) return undefined;
  const words = ["worktree", "remove", "--force", "--end-of-options", path];
  const head = /^HEAD (\w+)\ndetached$/m.exec(known)?.[1];
  if (head !== undefined) {
    const since = ["rev-list", "--count", head, "--not", "--branches", "--tags", "--remotes"];
    const commits = Number((await git(repository, since, env)).trim());
    if (commits > 0) throw new GitError(words, `its HEAD, ${head}, was detached and is on no branch`);
  }
  await git(repository, words, env);
  const isFree = madeBranch !== undefined && (await worktreeOfBranch(repository, madeBranch, env)) === "";
  if (!isFree || (await commitsOnlyOn(repository, [madeBranch], env)) > 0) return { branch: false };
  await git(repository, ["branch", "-D", "--quiet", "--end-of-options", madeBranch], env);
  return { branch: true };
}

function nearestExisting(path: string): string {
  const parent = dirname(path);
  return parent === path || entryOf(parent) !== undefined ? parent : nearestExisting(parent);
}
