import { dirname } from "node:path";
import type { Env } from "../os/env.ts";
import { entryOf } from "../os/files/fs.ts";
import { GitError, git } from "./git.ts";
import { commitsOnlyOn } from "./status.ts";
import { knownWorktrees, worktreeOfBranch } from "./worktree.ts";

/** The result of pruning a worktree. */
interface PruneResult {
  /** The branch that was created for it is deleted too. */
  readonly branch: boolean;
}

/**
 * Removes git's record of one worktree whose directory was deleted, and the branch that was created for it if no commit would be
 * lost. Does nothing if the directory exists.
 * @param repository any directory of the repository; by default the nearest existing one above the path
 * @returns undefined if the directory exists or git has no such worktree
 * @throws GitError also if the worktree is locked, or its detached HEAD has commits that are on no branch
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
