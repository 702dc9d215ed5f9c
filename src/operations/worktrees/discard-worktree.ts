import { TeamError } from "../../errors.ts";
import { GitError, guardedGitEnv } from "../../git/git.ts";
import { type DiscardLoss, discardLoss } from "../../git/unsaved.ts";
import { entryOf } from "../../os/files/fs.ts";
import { defined } from "../../schema/defined.ts";
import { withMetadata, worktreeOf } from "../../schema/member-metadata.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import type { WorktreeRecord } from "../../schema/worktree.ts";
import { readTeam, updateTeam } from "../../team/config/config.ts";
import type { OperationContext } from "../context.ts";
import { lossText, saveText } from "./worktree-work.ts";

/**
 * Records whether the worktrees of these members are removed with unsaved changes; the process that handles a member's ending
 * removes its worktree accordingly.
 * @param discard the process that requests it; undefined to clear the record
 * @throws TeamError WORKTREE_DIRTY if commits would be lost; then nothing was changed
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
    for (const worktree of worktrees) await requireNoLoss(ctx, worktree);
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

async function requireNoLoss({ env }: OperationContext, { path, repository }: WorktreeRecord): Promise<void> {
  if (entryOf(path) === undefined) return;
  let loss: DiscardLoss | undefined;
  try {
    loss = await discardLoss(path, guardedGitEnv(env), repository);
  } catch (error) {
    // The removal itself will report this error.
    if (error instanceof GitError) return;
    throw error;
  }
  if (loss === undefined) return;
  const { commits, nested } = loss;
  throw new TeamError(
    "WORKTREE_DIRTY",
    `Discarding ${path} would lose commits: ${lossText(loss)}. No member was ended.`,
    {
      hint: `First ${saveText(path, loss)}`,
      details: { worktree: path, commits, nested },
    },
  );
}
