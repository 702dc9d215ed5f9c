import { TeamError } from "../../errors.ts";
import { GitError } from "../../git/git.ts";
import { commitsOnNoBranch } from "../../git/worktree.ts";
import { entryOf } from "../../os/files/fs.ts";
import { defined } from "../../schema/defined.ts";
import { withMetadata, worktreeOf } from "../../schema/member-metadata.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import type { WorktreeRecord } from "../../schema/worktree.ts";
import { readTeam, updateTeam } from "../../team/config/config.ts";
import { shellWord } from "../../text/shell-quote.ts";
import type { OperationContext } from "../context.ts";
import { unmergedCommitsText } from "./remove-worktree.ts";

/**
 * Sets whether the worktrees of these members go with all that is in them; whoever sees to their end does so.
 * @param discard the process that asks for it
 * @throws TeamError WORKTREE_DIRTY for one with commits that no branch keeps; nothing was changed then
 */
export async function setDiscard(
  ctx: OperationContext,
  names: readonly string[],
  discard: ProcessIdentity | undefined,
): Promise<void> {
  const isMeant = ({ name }: { readonly name: string }): boolean => names.includes(name);
  if (discard !== undefined) {
    const worktrees = readTeam(ctx.ref)
      .members.filter(isMeant)
      .flatMap((one) => worktreeOf(one) ?? []);
    for (const worktree of worktrees) await requireCommitsOnBranch(ctx, worktree);
  }
  await updateTeam(ctx.ref, (config) => {
    const members = config.members.map((member) => {
      const worktree = isMeant(member) ? worktreeOf(member) : undefined;
      if (worktree === undefined) return member;
      return withMetadata(member, { worktree: defined({ ...worktree, discard }) });
    });
    return members.every((member, i) => member === config.members[i]) ? undefined : { ...config, members };
  });
}

async function requireCommitsOnBranch({ env }: OperationContext, { path }: WorktreeRecord): Promise<void> {
  if (entryOf(path) === undefined) return;
  let commits: number;
  try {
    commits = await commitsOnNoBranch(path, env);
  } catch (error) {
    // What git cannot tell of it is said when it comes to the removal.
    if (error instanceof GitError) return;
    throw error;
  }
  if (commits === 0) return;
  throw new TeamError(
    "WORKTREE_DIRTY",
    `${path} would take commits with it: ${unmergedCommitsText(commits)}. Nobody was ended.`,
    {
      hint: `Give them a branch first: git -C ${shellWord(path)} switch -c <name>`,
      details: { worktree: path, commits },
    },
  );
}
