import type { TeamMember } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import type { Ending } from "../../schema/ending.ts";
import { worktreeOf } from "../../schema/member-metadata.ts";
import { sameName } from "../../schema/names.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import type { WorktreeRecord } from "../../schema/worktree.ts";
import { readTeam } from "../../team/config/config.ts";
import { unfinishedEndings } from "../../team/members/ending-claims.ts";
import type { OperationContext } from "../context.ts";
import { cleanUpWorktree, type WorktreeEnd, worktreeInUse } from "../worktrees/remove-worktree.ts";
import { awaitEndingDone } from "./process-ending.ts";

interface Report {
  readonly name: string;
  /** The pids of its processes that could not be ended. */
  readonly left?: readonly number[];
  readonly outcome: string;
}

/**
 * Adds to the reports of ended members whether their worktrees were removed or kept. Processing the ending has already handled
 * the worktree; if it still exists, the removal is tried again to find the reason.
 * @param discard the kill that removes worktrees with unsaved changes
 * @param members the members as they were before they ended
 */
export async function withWorktreeEnds<R extends Report>(
  ctx: OperationContext,
  members: readonly TeamMember[],
  reports: readonly R[],
  discard?: ProcessIdentity,
): Promise<readonly (R & { readonly worktree?: WorktreeEnd })[]> {
  const extended: (R & { readonly worktree?: WorktreeEnd })[] = [];
  for (const report of reports) {
    const member = members.find(({ name }) => sameName(name, report.name));
    const end = member && (await worktreeEndOf(ctx, member, report, discard));
    extended.push(end === undefined ? report : { ...report, worktree: end });
  }
  return extended;
}

async function worktreeEndOf(
  ctx: OperationContext,
  member: TeamMember,
  { outcome, left = [] }: Report,
  discard: ProcessIdentity | undefined,
): Promise<WorktreeEnd | undefined> {
  const worktree = worktreeOf(member);
  if (worktree === undefined) return undefined;
  const stays = readTeam(ctx.ref).members.some(({ worktreePath }) => worktreePath === worktree.path);
  if (stays) return undefined;
  await awaitEndingDone(ctx, member.name);
  const isItsOwn = (one: Ending): boolean => one.worktree?.path === worktree.path;
  const unfinished = unfinishedEndings(readTeam(ctx.ref)).find(isItsOwn);
  if (unfinished !== undefined && unfinished.problem === undefined) return leftTo(unfinished, worktree);
  if (outcome === "out-of-reach" || left.length > 0) return worktreeInUse(ctx, worktree);
  return cleanUpWorktree(ctx, defined({ ...worktree, discard }));
}

/** Leaves a worktree to the process that handles the end of its member: it may be removing a large worktree now. */
function leftTo({ name, by }: Ending, { path, branch }: WorktreeRecord): WorktreeEnd {
  const kept = `process ${by.pid} still handles the end of ${name}`;
  return { path, branch, kept, advice: "That process may still remove it." };
}
