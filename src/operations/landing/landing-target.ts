import { TeamError } from "../../errors.ts";
import { requireOwnConfig } from "../../git/own-repository.ts";
import { worktreeRebasing } from "../../git/rebase.ts";
import { gitDirectoriesOf } from "../../git/repository.ts";
import { changesIn } from "../../git/status.ts";
import { worktreeOfBranch } from "../../git/worktree.ts";
import type { Env } from "../../os/env.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import type { WorktreeRecord } from "../../schema/worktree.ts";
import { shellWord } from "../../text/shell-quote.ts";
import type { OperationContext } from "../context.ts";

/** How the target branch can be moved. */
export interface TargetPlace {
  /** A directory of the repository, to run git in. */
  readonly repository: string;
  /** The caller's checkout of the branch, whose files move with it; null if no worktree has it checked out. */
  readonly checkout: string | null;
}

/**
 * Determines how a branch can be moved. Only the caller's own checkout is ever touched, and only if no tracked file in it is changed:
 * elsewhere a person or an agent may be at work.
 * @throws TeamError INVALID_INPUT, WORKTREE_DIRTY; GitError
 */
export async function placeOfTarget(
  { cwd }: Pick<OperationContext, "cwd">,
  { path }: Pick<WorktreeRecord, "path">,
  target: string,
  env: Env,
): Promise<TargetPlace> {
  const found = gitDirectoriesOf(path);
  const repository = found?.common ?? path;
  const where = await worktreeOfBranch(repository, target, env);
  if (where === undefined)
    throw new TeamError("INVALID_INPUT", `There is no branch ${target} to land on.`, {
      hint: "Name another one: --onto <branch>",
    });
  if (where === "") {
    const rebasing = await worktreeRebasing(repository, target, env);
    if (rebasing === undefined) return { repository, checkout: null };
    throw new TeamError("WORKTREE_DIRTY", `${target} is being rebased in ${rebasing}; it was not moved.`, {
      hint: `Finish or abort that rebase first: git -C ${shellWord(rebasing)} status`,
    });
  }
  const caller = gitDirectoriesOf(cwd);
  if (caller === undefined || caller.top !== realPathOf(where))
    throw new TeamError(
      "INVALID_INPUT",
      `${target} is checked out in ${where}, and teams land changes only the checkout it runs in.`,
      {
        hint: `Run teams land there: cd ${shellWord(where)}   or check out another branch there: git switch --detach`,
      },
    );
  requireOwnConfig(caller.top);
  const { changed } = await changesIn(caller.top, env);
  if (changed === 0) return { repository, checkout: caller.top };
  throw new TeamError(
    "WORKTREE_DIRTY",
    `Your checkout of ${target} has ${changed} changed ${changed === 1 ? "file" : "files"}: ${caller.top}.`,
    { hint: `Commit or stash them first: git -C ${shellWord(caller.top)} stash` },
  );
}
