import { GitError } from "../../git/git.ts";
import { aheadBehind } from "../../git/status.ts";
import { changesInWorktree } from "../../git/worktree.ts";
import type { Env } from "../../os/env.ts";
import type { TeamMember } from "../../schema/config.ts";
import { worktreeOf } from "../../schema/member-metadata.ts";
import type { WorktreeRecord } from "../../schema/worktree.ts";
import { readTeam } from "../../team/config/config.ts";
import type { OperationContext } from "../context.ts";

/** How far a member's worktree is from where it began; what `status --git` adds. */
interface WorktreeChanges {
  /** null while its HEAD is detached. */
  readonly branch: string | null;
  /** Commits that it has and the branch that it began from lacks (of a branch that is gone: the commit), and the other way round. */
  readonly ahead: number;
  readonly behind: number;
  readonly dirty: boolean;
  readonly changed: number;
  readonly untracked: number;
}

/** As git tells it, or why it cannot. */
export type WorktreeStatus = WorktreeChanges | { readonly problem: string };

/** Of this many worktrees git is asked at a time: each asks for a process and the disk. */
const MAX_CONCURRENT = 4;

/** Every member's worktree, by the member's name; nothing is forked for members without one. */
export async function readWorktreeStatuses(
  ctx: OperationContext,
): Promise<ReadonlyMap<string, WorktreeStatus>> {
  const waiting = readTeam(ctx.ref).members.flatMap((member) => withWorktree(member));
  const found = new Map<string, WorktreeStatus>();
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      found.set(next.name, await readWorktreeStatus(next.worktree, ctx.env));
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, work));
  return found;
}

function withWorktree(member: TeamMember): { readonly name: string; readonly worktree: WorktreeRecord }[] {
  const worktree = worktreeOf(member);
  return worktree === undefined ? [] : [{ name: member.name, worktree }];
}

async function readWorktreeStatus(
  { path, base, startedFrom }: WorktreeRecord,
  env: Env,
): Promise<WorktreeStatus> {
  try {
    const { branch, changed, untracked } = await changesInWorktree(path, env);
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
