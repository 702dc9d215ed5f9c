import { join } from "node:path";
import type { Env } from "../os/env.ts";
import { entryOf, readText } from "../os/files/fs.ts";
import { realPathOf } from "../os/files/symlinks.ts";
import { isShortFile } from "../os/files/user-files.ts";
import { GitError, git } from "./git.ts";
import { gitDirectoriesOf } from "./repository.ts";
import { knownWorktrees } from "./worktree.ts";

/** A rebase that git could not finish. */
interface RebaseFailure {
  /** Files with conflicts; empty if it failed for another reason. */
  readonly conflicts: readonly string[];
  /** The output of git. */
  readonly output: string;
}

/** The action that the reflog names in each entry of a rebase by this program. */
const REFLOG_ACTION = "teams land";
/** No editor opens, and no setting of the user changes the rebase. */
const QUIET: Env = { GIT_EDITOR: ":", GIT_SEQUENCE_EDITOR: ":", GIT_REFLOG_ACTION: REFLOG_ACTION };
const SETTINGS = [
  "rebase.autoStash=false",
  "rebase.autoSquash=false",
  "rebase.updateRefs=false",
  "rebase.rebaseMerges=false",
  "rerere.autoUpdate=false",
].flatMap((setting) => ["-c", setting]);

/**
 * Rebases the HEAD of a clean worktree onto a commit.
 * @param extra additional environment variables of git and of the programs that it starts
 * @returns undefined if it succeeded; after a failure, the rebase is still in progress or was never started
 * @throws GitError if git is missing
 */
export async function rebaseOnto(
  top: string,
  commit: string,
  env: Env,
  extra: Env = {},
): Promise<RebaseFailure | undefined> {
  const words = [...SETTINGS, "rebase", "--quiet", "--merge", "--no-fork-point", commit];
  try {
    await git(top, words, env, { ...QUIET, ...extra });
    return undefined;
  } catch (error) {
    if (!(error instanceof GitError) || error.missing) throw error;
    const listed = await git(top, ["diff", "--name-only", "--diff-filter=U", "-z"], env);
    return {
      conflicts: listed.split("\0").filter((path) => path !== ""),
      output: withoutAdvice(error.message),
    };
  }
}

/** Drops git's advice on how to continue: the caller aborts the rebase. */
function withoutAdvice(output: string): string {
  return output.replace(/^hint: .*\n?/gm, "").trim();
}

/** A rebase in progress in a worktree. */
interface RebaseInProgress {
  /** The commit of HEAD before it. */
  readonly from: string | undefined;
  /** The branch that is rebased, for example `refs/heads/main`. */
  readonly branch: string | undefined;
}

/** Returns the rebase that is in progress in a worktree. Reads git's files and starts no process. */
export function rebaseIn(top: string): RebaseInProgress | undefined {
  const found = gitDirectoriesOf(top);
  // A bare repository, or a directory that is gone, may be below the checkout of another repository.
  if (found === undefined || found.top !== realPathOf(top)) return undefined;
  const { own } = found;
  const state = ["rebase-merge", "rebase-apply"].map((name) => join(own, name)).find((path) => entryOf(path));
  if (state === undefined) return undefined;
  const read = (name: string): string | undefined => {
    const file = join(state, name);
    return isShortFile(file) ? readText(file)?.trim() : undefined;
  };
  return { from: read("orig-head"), branch: read("head-name") };
}

/**
 * Whether commits were made, or tracked files were changed, since a rebase of this program stopped at a commit. An abort would lose
 * that work, such as resolved conflicts. False if git was killed in the middle of the rebase. @throws GitError
 */
export async function isWorkedOnSinceStop(top: string, env: Env): Promise<boolean> {
  const own = gitDirectoriesOf(top)?.own;
  // Git writes this file after the files with conflicts.
  const stop = own === undefined ? undefined : entryOf(join(own, "rebase-merge", "stopped-sha"));
  if (stop === undefined) return false;
  const newest = ["--no-show-signature", "--walk-reflogs", "--max-count=1", "--format=%gs", "HEAD", "--"];
  const action = await git(top, ["log", ...newest], env);
  if (action.trim() !== "" && !action.startsWith(REFLOG_ACTION)) return true;
  const listed = await git(top, ["diff", "--name-only", "--ignore-submodules", "-z", "HEAD", "--"], env);
  const paths = listed.split("\0").filter((path) => path !== "");
  return paths.some((path) => Number(entryOf(join(top, path))?.ctimeMs ?? 0) > Number(stop.mtimeMs));
}

/** Aborts the rebase in progress, and restores the state before it. @throws GitError */
export async function abortRebase(top: string, env: Env, extra: Env = {}): Promise<void> {
  await git(top, ["rebase", "--abort"], env, { ...QUIET, ...extra }, { detached: true });
}

/** Returns the worktree that is rebasing a branch. Its HEAD is detached meanwhile, so no worktree has the branch checked out. */
export async function worktreeRebasing(
  directory: string,
  branch: string,
  env: Env,
): Promise<string | undefined> {
  const paths = [...(await knownWorktrees(directory, env)).keys()];
  return paths.find((path) => rebaseIn(path)?.branch === `refs/heads/${branch}`);
}
