import type { Env } from "../os/env.ts";
import { git } from "./git.ts";

/**
 * Moves a branch that no worktree has checked out, if it is still at the expected commit.
 * @throws GitError if the branch was not moved
 */
export async function moveBranch(
  directory: string,
  { branch, from, to }: { readonly branch: string; readonly from: string; readonly to: string },
  env: Env,
  extra: Env = {},
): Promise<void> {
  await git(directory, ["update-ref", "-m", "teams land", `refs/heads/${branch}`, to, from], env, extra);
}

/**
 * Moves the branch that a worktree has checked out, with its files, to a commit that contains it. Untracked, ignored and changed files
 * stay: git refuses to overwrite them.
 * @throws GitError; nothing was changed then
 */
export async function fastForward(top: string, commit: string, env: Env, extra: Env = {}): Promise<void> {
  // By default, git overwrites ignored files: a person's own `.env` would be lost.
  const options = ["--ff-only", "--no-overwrite-ignore", "--quiet", "--no-stat"];
  const words = ["-c", "merge.autoStash=false", "merge", ...options, commit];
  await git(top, words, env, { GIT_REFLOG_ACTION: "teams land", ...extra }, { detached: true });
}
