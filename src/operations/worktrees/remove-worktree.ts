import { GitError, guardedGitEnv } from "../../git/git.ts";
import { lockOf } from "../../git/own-repository.ts";
import { pruneWorktree } from "../../git/prune-worktree.ts";
import { discardWorktree, removeWorktree } from "../../git/remove-worktree.ts";
import { discardLoss, unsavedIn } from "../../git/unsaved.ts";
import { changesInWorktree } from "../../git/worktree.ts";
import type { Env } from "../../os/env.ts";
import { entryOf } from "../../os/files/fs.ts";
import { ifReadable } from "../../os/files/if-readable.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { livenessOf } from "../../os/process/identity.ts";
import type { TeamMember } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import type { Ending } from "../../schema/ending.ts";
import { worktreeOf } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { WorktreeRecord } from "../../schema/worktree.ts";
import { readTeam } from "../../team/config/config.ts";
import { livenessOfAgent } from "../../team/records/read-records.ts";
import type { OperationContext } from "../context.ts";
import { endStartProcesses } from "../processes/end-processes.ts";
import { lossText, removalAdvice, unsavedText } from "./worktree-work.ts";

/** Whether the worktree of a former member was removed or kept. */
export interface WorktreeEnd {
  readonly path: string;
  readonly branch: string;
  /** Why it was kept; null if it was removed. */
  readonly kept: string | null;
  /** A remark about a worktree whose directory was already deleted. */
  readonly note?: string;
  /** How a person removes it, if it was kept and the usual command would fail or lose commits. */
  readonly advice?: string;
}

/**
 * Removes a worktree without unsaved changes; for a kill that discards it and still runs, any worktree whose commits are all on
 * branches. Idempotent.
 */
export async function cleanUpWorktree(ctx: OperationContext, worktree: WorktreeRecord): Promise<WorktreeEnd> {
  return cleanUpUnlessInUse(ctx, worktree, readTeam(ctx.ref).members);
}

/** @param others members that may work in it, which keeps it */
async function cleanUpUnlessInUse(
  { env }: OperationContext,
  worktree: WorktreeRecord,
  others: readonly TeamMember[],
): Promise<WorktreeEnd> {
  const { path, branch } = worktree;
  if (entryOf(path) === undefined)
    return {
      path,
      branch,
      kept: null,
      ...defined({ note: await forgetMissingWorktree(worktree, guardedGitEnv(env)) }),
    };
  const other = memberWorkingIn(others, path);
  const kept = other === undefined ? await tryToRemove(worktree, guardedGitEnv(env)) : `${other} works in it`;
  return kept === undefined ? { path, branch, kept: null } : keptEnd(worktree, kept, env);
}

async function keptEnd(worktree: WorktreeRecord, kept: string, env: Env): Promise<WorktreeEnd> {
  const { path, branch } = worktree;
  return defined({ path, branch, kept, advice: await removalAdvice(worktree, guardedGitEnv(env)) });
}

/** Makes git forget a worktree whose directory is gone. @returns a remark; undefined if git has no record of it */
async function forgetMissingWorktree(worktree: WorktreeRecord, env: Env): Promise<string | undefined> {
  const { path, branch, madeBranch, repository } = worktree;
  const gone = "its directory had already been deleted";
  try {
    const forgotten = await pruneWorktree(
      path,
      { repository, madeBranch: madeBranch ? branch : undefined },
      env,
    );
    if (forgotten === undefined) return undefined;
    return `${gone}; git's record of it was removed${forgotten.branch ? `, and so was the branch ${branch}, which had no new commits` : `; the branch ${branch} was kept`}`;
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return `${gone}, and git could not remove its record: ${error.message}`;
  }
}

/** @returns why it was kept; undefined if it is gone */
async function tryToRemove(worktree: WorktreeRecord, env: Env): Promise<string | undefined> {
  const { path, branch, madeBranch, discard, repository } = worktree;
  try {
    const lock = lockOf(path, repository);
    if (lock !== undefined) return lock === "" ? "it is locked" : `it is locked: ${lock}`;
    // A kill that has died discards nothing: its member may have worked since then.
    if (discard !== undefined && livenessOf(discard) === "alive") {
      const loss = await discardLoss(path, env, repository);
      if (loss !== undefined) return lossText(loss);
      await discardWorktree(path, env, repository);
      return undefined;
    }
    const made = madeBranch ? branch : undefined;
    const unsaved = await unsavedIn(path, made, env, repository);
    if (unsaved !== undefined) return unsavedText(unsaved);
    await removeWorktree(path, made, env, repository);
    return undefined;
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    // Another process that handled the same ending may have removed it first.
    return entryOf(path) === undefined ? undefined : error.message;
  }
}

/** Returns a member that works in the worktree although it is not its own. */
function memberWorkingIn(members: readonly TeamMember[], path: string): string | undefined {
  const top = realPathOf(path);
  const isInside = (cwd: string): boolean => {
    // The member's directory may be closed to this process.
    const real = ifReadable(() => realPathOf(cwd)) ?? cwd;
    return real === top || real.startsWith(`${top}/`);
  };
  return members.find(({ cwd, worktreePath }) => worktreePath !== path && isInside(cwd))?.name;
}

/**
 * Removes the worktree of a member that left for good, after ending the processes that were started in it.
 * @returns a sentence for the lead if it was kept or had already been deleted
 */
export async function cleanUpAfterEnding(ctx: OperationContext, ending: Ending): Promise<string | undefined> {
  const { worktree, process, place } = ending;
  if (worktree === undefined) return undefined;
  if (entryOf(worktree.path) === undefined) {
    // A kill reports it in its own output.
    const note =
      ending.how === "killed" ? undefined : await forgetMissingWorktree(worktree, guardedGitEnv(ctx.env));
    return note && `Its worktree ${worktree.path}: ${note}.`;
  }
  const remaining = await endStartProcesses(ctx, { process, place, instance: place?.instance });
  // A teammate in the lead's process has no separate process to check.
  const agentProcess = place?.within === undefined ? process : undefined;
  const isInUse = remaining.length > 0 || (agentProcess !== undefined && livenessOf(agentProcess) !== "dead");
  const { kept, advice } = isInUse
    ? await worktreeInUse(ctx, worktree)
    : await cleanUpWorktree(ctx, worktree);
  if (kept === null) return undefined;
  const stays = `Its worktree was kept: ${worktree.path} (${kept}).`;
  return advice === undefined ? stays : `${stays} ${advice}`;
}

/** Reports a worktree as kept because its processes could not be ended, or cannot be reached by signals. */
export function worktreeInUse({ env }: OperationContext, worktree: WorktreeRecord): Promise<WorktreeEnd> {
  return keptEnd(worktree, "processes that were started in it may still run", env);
}

/**
 * Removes a team's worktrees: those of its members, and those of former members whose worktree was kept.
 * @param seen worktrees that were just handled; those of former members are not handled again
 */
export async function cleanUpTeamWorktrees(
  ctx: OperationContext,
  seen: readonly WorktreeEnd[],
): Promise<readonly WorktreeEnd[]> {
  const { members, former = [] } = readTeam(ctx.ref);
  const ends = new Map(seen.map((end) => [end.path, end]));
  // Only the lead may still run.
  const lead = members.filter(({ name }) => name === LEAD_NAME);
  for (const member of members) {
    const worktree = worktreeOf(member);
    if (worktree === undefined) continue;
    // Another process may have started the member meanwhile.
    const isInUse = livenessOfAgent(ctx.ref, member.name) === "alive";
    const end = isInUse ? worktreeInUse(ctx, worktree) : cleanUpUnlessInUse(ctx, worktree, lead);
    ends.set(worktree.path, await end);
  }
  for (const { worktree } of former.toReversed()) {
    if (worktree === undefined || ends.has(worktree.path) || entryOf(worktree.path) === undefined) continue;
    const end = (await isBranchCheckedOut(ctx, worktree))
      ? await cleanUpUnlessInUse(ctx, worktree, lead)
      : await keptEnd(worktree, `${worktree.branch} is no longer checked out in it`, ctx.env);
    ends.set(worktree.path, end);
  }
  return [...ends.values()];
}

/** Whether the worktree at a path still belongs to the former member, judged by the branch that is checked out. */
async function isBranchCheckedOut(
  { env }: OperationContext,
  { path, branch, repository }: WorktreeRecord,
): Promise<boolean> {
  try {
    return (await changesInWorktree(path, guardedGitEnv(env), repository)).branch === branch;
  } catch (error) {
    if (error instanceof GitError) return false;
    throw error;
  }
}
