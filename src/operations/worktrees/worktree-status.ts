import { GitError, guardedGitEnv } from "../../git/git.ts";
import { aheadBehind } from "../../git/status.ts";
import { changesInWorktree } from "../../git/worktree.ts";
import type { Env } from "../../os/env.ts";
import type { TeamMember } from "../../schema/config.ts";
import { worktreeOf } from "../../schema/member-metadata.ts";
import type { WorktreeRecord } from "../../schema/worktree.ts";
import { readTeam } from "../../team/config/config.ts";
import type { OperationContext } from "../context.ts";

/** The changes in a member's worktree since it was created, for `status --git`. */
interface WorktreeChanges {
  /** null while its HEAD is detached. */
  readonly branch: string | null;
  /** Commits that only the worktree has, compared with the branch (or, if that is gone, the commit) that it was created from. */
  readonly ahead: number;
  /** Commits that only that branch or commit has. */
  readonly behind: number;
  readonly dirty: boolean;
  readonly changed: number;
  readonly untracked: number;
}

/** The changes, or why git cannot determine them. */
export type WorktreeStatus = WorktreeChanges | { readonly problem: string };

/** How many git commands run at a time: each needs a process and the disk. */
const MAX_CONCURRENT = 4;

/** Returns the worktree status of each member with a worktree, by the member's name. */
export async function readWorktreeStatuses(
  ctx: OperationContext,
): Promise<ReadonlyMap<string, WorktreeStatus>> {
  const waiting = readTeam(ctx.ref).members.flatMap((member) => withWorktree(member));
  const found = new Map<string, WorktreeStatus>();
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      found.set(next.name, await readWorktreeStatus(next.worktree, guardedGitEnv(ctx.env)));
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, work));
  return found;
}

function withWorktree(member: TeamMember): { readonly name: string; readonly worktree: WorktreeRecord }[] {
  const worktree = worktreeOf(member);
  return worktree === undefined ? [] : [{ name: member.name, worktree }];
}

async function readWorktreeStatus(
  { path, base, startedFrom, repository }: WorktreeRecord,
  env: Env,
): Promise<WorktreeStatus> {
  try {
    const { branch, changed, untracked } = await changesInWorktree(path, env, repository);
    const counts = await commitsSinceStart(path, { base, startedFrom }, env);
    return { branch: branch ?? null, ...counts, dirty: changed + untracked > 0, changed, untracked };
  } catch (error) {
    if (error instanceof GitError) return { problem: error.message };
    throw error;
  }
}

async function commitsSinceStart(
  path: string,
  { base, startedFrom }: Pick<WorktreeRecord, "base" | "startedFrom">,
  env: Env,
): ReturnType<typeof aheadBehind> {
  try {
    return await aheadBehind(path, startedFrom === undefined ? base : `refs/heads/${startedFrom}`, env);
  } catch (error) {
    if (startedFrom === undefined || !(error instanceof GitError)) throw error;
    return aheadBehind(path, base, env);
  }
}
