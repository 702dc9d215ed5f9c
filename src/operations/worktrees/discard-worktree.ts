import { TeamError } from "../../errors.ts";
import { GitError, guardedGitEnv } from "../../git/git.ts";
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
 * Records whether the worktrees of these members are removed with unsaved changes; the process that handles a member's ending
 * removes its worktree accordingly.
 * @param discard the process that requests it; undefined to clear the record
 * @throws TeamError WORKTREE_DIRTY if a worktree has commits that are on no branch; then nothing was changed
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

async function requireCommitsOnBranch(
  { env }: OperationContext,
  { path, repository }: WorktreeRecord,
): Promise<void> {
  if (entryOf(path) === undefined) return;
  let commits: number;
  try {
    commits = await commitsOnNoBranch(path, guardedGitEnv(env), repository);
  } catch (error) {
    // The removal itself will report this error.
    if (error instanceof GitError) return;
    throw error;
  }
  if (commits === 0) return;
  throw new TeamError(
    "WORKTREE_DIRTY",
    `Discarding ${path} would lose commits: ${unmergedCommitsText(commits)}. No member was ended.`,
    {
      hint: `Create a branch for them first: git -C ${shellWord(path)} switch -c <name>`,
      details: { worktree: path, commits },
    },
  );
}
