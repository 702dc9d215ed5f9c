import { GitError } from "../../git/git.ts";
import { pruneWorktree } from "../../git/prune-worktree.ts";
import {
  changesInWorktree,
  commitsOnNoBranch,
  discardWorktree,
  removeWorktree,
  type Unsaved,
  unsavedIn,
} from "../../git/worktree.ts";
import type { Env } from "../../os/env.ts";
import { entryOf } from "../../os/files/fs.ts";
import { livenessOf } from "../../os/process/identity.ts";
import type { TeamMember } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import type { Ending } from "../../schema/ending.ts";
import { worktreeOf } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { WorktreeRecord } from "../../schema/worktree.ts";
import { readTeam } from "../../team/config/config.ts";
import type { OperationContext } from "../context.ts";
import { endStarted } from "../processes/end-processes.ts";

/** What became of the worktree of one that has left. */
export interface WorktreeEnd {
  readonly path: string;
  readonly branch: string;
  /** Why it stays; null when it is gone. */
  readonly kept: string | null;
  /** What is to be said of one whose directory somebody had deleted. */
  readonly note?: string;
}

/**
 * Removes a worktree in which nothing is unsaved, and with `discard` any whose commits a branch keeps.
 * @returns also for one that is gone already
 */
export async function clearWorktree(ctx: OperationContext, worktree: WorktreeRecord): Promise<WorktreeEnd> {
  return clearedOf(ctx, worktree, readTeam(ctx.ref).members);
}

/** @param others none of whom may work in it */
async function clearedOf(
  { env }: OperationContext,
  worktree: WorktreeRecord,
  others: readonly TeamMember[],
): Promise<WorktreeEnd> {
  const { path, branch } = worktree;
  if (entryOf(path) === undefined)
    return { path, branch, kept: null, ...defined({ note: await forget(worktree, env) }) };
  const other = inhabitantOf(others, path);
  if (other !== undefined) return { path, branch, kept: `${other} works in it` };
  return { path, branch, kept: (await tryToRemove(worktree, env)) ?? null };
}

/** Of a worktree whose directory is gone. @returns what is to be said of it; undefined when git does not know it any more */
async function forget(worktree: WorktreeRecord, env: Env): Promise<string | undefined> {
  const { path, branch, madeBranch, repository } = worktree;
  const gone = "its directory had been deleted by somebody";
  try {
    const forgotten = await pruneWorktree(
      path,
      { repository, madeBranch: madeBranch ? branch : undefined },
      env,
    );
    if (forgotten === undefined) return undefined;
    return `${gone}; git has forgotten it${forgotten.branch ? `, and the branch ${branch}, on which nothing was` : `; the branch ${branch} stays`}`;
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return `${gone}, and git did not forget it: ${error.message}`;
  }
}

/** @returns why it stays */
async function tryToRemove(worktree: WorktreeRecord, env: Env): Promise<string | undefined> {
  const { path, branch, madeBranch, discard } = worktree;
  try {
    if (discard !== undefined) {
      const commits = await commitsOnNoBranch(path, env);
      if (commits > 0) return unmergedCommitsText(commits);
      await discardWorktree(path, env);
      return undefined;
    }
    const made = madeBranch ? branch : undefined;
    const unsaved = await unsavedIn(path, made, env);
    if (unsaved !== undefined) return wordsOf(unsaved);
    await removeWorktree(path, made, env);
    return undefined;
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    // Where two see to the same end, one of them comes too late.
    return entryOf(path) === undefined ? undefined : error.message;
  }
}

/** A member (of a team that shares it) that works in a worktree and has another one, or none, for its own. */
function inhabitantOf(members: readonly TeamMember[], path: string): string | undefined {
  return members.find(
    ({ cwd, worktreePath }) => worktreePath !== path && (cwd === path || cwd.startsWith(`${path}/`)),
  )?.name;
}

function wordsOf({ changed, untracked, commits }: Unsaved): string {
  const parts = [
    [changed, "changed"],
    [untracked, "untracked"],
  ] as const;
  const files = parts.flatMap(([n, word]) => (n === 0 ? [] : [`${n} ${word}`])).join(" and ");
  return [
    ...(files === "" ? [] : [`${files} ${changed + untracked === 1 ? "file" : "files"}`]),
    ...(commits === 0 ? [] : [`${counted(commits)} on no other branch or remote`]),
  ].join(", ");
}

function counted(commits: number): string {
  return commits === 1 ? "1 commit that is" : `${commits} commits that are`;
}

/** Why no discard may take it: it keeps the branches, and these commits are on none. */
export function unmergedCommitsText(commits: number): string {
  return `its HEAD is detached, with ${counted(commits)} on no branch`;
}

/**
 * The worktree's part of an end for good, once what was started in it has ended.
 * @returns the sentence that says that it stays, or that it was gone
 */
export async function settleWorktree(ctx: OperationContext, taken: Ending): Promise<string | undefined> {
  const { worktree, process, place } = taken;
  if (worktree === undefined) return undefined;
  if (entryOf(worktree.path) === undefined) {
    // A kill says it itself.
    const note = taken.how === "killed" ? undefined : await forget(worktree, ctx.env);
    return note && `Its worktree ${worktree.path}: ${note}.`;
  }
  const left = await endStarted(ctx, { process, place, instance: place?.instance });
  // One that lived in the lead's has no process that could be looked for.
  const own = place?.within === undefined ? process : undefined;
  const isInUse = left.length > 0 || (own !== undefined && livenessOf(own) !== "dead");
  const { kept } = isInUse ? worktreeInUse(worktree) : await clearWorktree(ctx, worktree);
  return kept === null ? undefined : `Its worktree stays: ${worktree.path} (${kept}).`;
}

/** What it is said of a worktree whose processes could not be ended, or live where no signal arrives. */
export function worktreeInUse({ path, branch }: WorktreeRecord): WorktreeEnd {
  return { path, branch, kept: "what was started in it may still run" };
}

/**
 * The worktrees that a team has left behind: of members that are there, and of former ones whose worktree stayed.
 * @param seen those that were seen to just now
 */
export async function clearTeamWorktrees(
  ctx: OperationContext,
  seen: readonly WorktreeEnd[],
): Promise<readonly WorktreeEnd[]> {
  const { members, former = [] } = readTeam(ctx.ref);
  const ends = new Map(seen.map((end) => [end.path, end]));
  // Nobody of the team lives any more, but for the lead.
  const lead = members.filter(({ name }) => name === LEAD_NAME);
  for (const worktree of members.flatMap((member) => worktreeOf(member) ?? []))
    ends.set(worktree.path, await clearedOf(ctx, worktree, lead));
  for (const { worktree } of former.toReversed()) {
    if (worktree === undefined || ends.has(worktree.path) || entryOf(worktree.path) === undefined) continue;
    const end = (await isStill(ctx, worktree))
      ? await clearedOf(ctx, worktree, lead)
      : somebodyElses(worktree);
    ends.set(worktree.path, end);
  }
  return [...ends.values()];
}

/** Whether the worktree at a path still is that of the former member, as far as can be told: its branch is checked out. */
async function isStill({ env }: OperationContext, { path, branch }: WorktreeRecord): Promise<boolean> {
  try {
    return (await changesInWorktree(path, env)).branch === branch;
  } catch (error) {
    if (error instanceof GitError) return false;
    throw error;
  }
}

function somebodyElses({ path, branch }: WorktreeRecord): WorktreeEnd {
  return { path, branch, kept: `${branch} is not checked out in it any more` };
}
