import type { Env } from "../os/env.ts";
import { git } from "./git.ts";

/**
 * Deletes a branch whose commits are on another branch, a tag or a remote. Checks that again afterwards, and restores the branch if
 * they are not: another process may have deleted the other branch at the same time, because this one had the commits.
 * @returns false if the branch was restored
 * @throws GitError
 */
export async function deleteBranch(repository: string, branch: string, env: Env): Promise<boolean> {
  const named = ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`];
  const commit = (await git(repository, named, env)).trim();
  await git(repository, ["branch", "-D", "--quiet", "--end-of-options", branch], env);
  const only = ["rev-list", "--count", commit, "--not", "--branches", "--tags", "--remotes"];
  if (Number((await git(repository, only, env)).trim()) === 0) return true;
  await git(repository, ["branch", "--no-track", "--end-of-options", branch, commit], env);
  return false;
}
