import { dirname, join } from "node:path";
import type { Env } from "../os/env.ts";
import { entryOf, listDir, readText } from "../os/files/fs.ts";
import { deleteBranch } from "./delete-branch.ts";
import { GitError, git } from "./git.ts";
import { submoduleCommits } from "./nested-repositories.ts";
import { commitsOnlyOn, operationIn } from "./status.ts";
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
 * @throws GitError also if the worktree is locked, an operation was in progress in it, or commits of a detached HEAD or a submodule
 * would be lost
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
    if (commits > 0)
      throw new GitError(words, `its HEAD was detached at ${head}, which is on no branch, tag or remote`);
  }
  const own = await directoryOf(path, repository, env);
  const operation = own === undefined ? undefined : operationIn({ own });
  if (operation !== undefined)
    throw new GitError(words, `a ${operation} was in progress in it, and may have left changes in ${own}`);
  const [lost] = own === undefined ? [] : await submoduleCommits(own, env);
  if (lost !== undefined)
    throw new GitError(
      words,
      `its submodule ${lost.path} has ${lost.commits === 1 ? "1 commit that is" : `${lost.commits} commits that are`} on no remote; they are in ${own}/modules`,
    );
  await git(repository, words, env);
  const isFree = madeBranch !== undefined && (await worktreeOfBranch(repository, madeBranch, env)) === "";
  if (!isFree || (await commitsOnlyOn(repository, [madeBranch], env)) > 0) return { branch: false };
  return { branch: await deleteBranch(repository, madeBranch, env) };
}

/** Returns git's own directory for a worktree whose directory is gone. */
async function directoryOf(path: string, repository: string, env: Env): Promise<string | undefined> {
  const words = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
  const parent = join((await git(repository, words, env)).trim(), "worktrees");
  const link = join(path, ".git");
  return listDir(parent)
    .map((name) => join(parent, name))
    .find((own) => readText(join(own, "gitdir"))?.trim() === link);
}

function nearestExisting(path: string): string {
  const parent = dirname(path);
  return parent === path || entryOf(parent) !== undefined ? parent : nearestExisting(parent);
}
