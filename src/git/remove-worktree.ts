import type { Env } from "../os/env.ts";
import { deleteBranch } from "./delete-branch.ts";
import { GitError, git } from "./git.ts";
import { unsavedIn } from "./unsaved.ts";
import { locateWorktree, worktreeOfBranch } from "./worktree.ts";

const HAS_SUBMODULES = /containing submodules cannot be/;

/**
 * Removes a worktree without unsaved work (see {@link unsavedIn}) and the branch that was created for it. Fails if files were changed
 * meanwhile. The branch stays if its commits are nowhere else by then.
 * @throws GitError
 */
export async function removeWorktree(
  path: string,
  madeBranch: string | undefined,
  env: Env,
  repository?: string,
): Promise<void> {
  const { common } = await locateWorktree(path, env, repository);
  const remove = (...options: readonly string[]): Promise<string> =>
    git(common, ["worktree", "remove", ...options, "--end-of-options", path], env, {}, { detached: true });
  try {
    await remove();
  } catch (error) {
    if (!(error instanceof GitError) || !HAS_SUBMODULES.test(error.message)) throw error;
    // Git checks other worktrees for changes again, but refuses one with submodules without a check.
    if ((await unsavedIn(path, madeBranch, env, repository)) !== undefined) throw error;
    await remove("--force");
  }
  if (madeBranch === undefined) return;
  // unsavedIn has checked that its commits exist elsewhere. A branch that is checked out in another worktree is in use.
  if ((await worktreeOfBranch(common, madeBranch, env)) !== "") return;
  await deleteBranch(common, madeBranch, env);
}

/** Removes a worktree with all its changes; its branch stays. Call `discardLoss` first. @throws GitError */
export async function discardWorktree(path: string, env: Env, repository?: string): Promise<void> {
  const { common } = await locateWorktree(path, env, repository);
  const words = ["worktree", "remove", "--force", "--end-of-options", path];
  await git(common, words, env, {}, { detached: true });
}
