import { TeamError } from "../../errors.ts";
import { commitNamed } from "../../git/diff.ts";
import { GitError } from "../../git/git.ts";
import { fastForward, moveBranch } from "../../git/move-branch.ts";
import { abortRebase, rebaseIn, rebaseOnto } from "../../git/rebase.ts";
import { aheadBehind } from "../../git/status.ts";
import { changesInWorktree } from "../../git/worktree.ts";
import type { Env } from "../../os/env.ts";
import { COMMAND_VARIABLE } from "../../os/process/process-tree.ts";
import type { WorktreeRecord } from "../../schema/worktree.ts";
import { shellWord } from "../../text/shell-quote.ts";
import type { OperationContext } from "../context.ts";
import { filesText } from "../worktrees/worktree-work.ts";
import type { AgentWork } from "./agent-work.ts";
import { type Gate, runGate } from "./gate.ts";
import { interrupted } from "./landing-lock.ts";
import {
  beginLanding,
  finishLanding,
  type LandingRecord,
  markOfGit,
  writeLanding,
} from "./landing-record.ts";
import { placeOfTarget, type TargetPlace } from "./landing-target.ts";
import type { Rework } from "./return-work.ts";

/** Maximum number of attempts: the target may get new commits during each check. */
const MAX_ATTEMPTS = 3;
/** How many files with conflicts a report names. */
const MAX_NAMED = 10;

/** A step that takes a while. */
export type LandingStep = "waits" | "rebases" | "checks" | "rebases-again";

export interface LandWorktreeOptions {
  /** The branch that gets the commits. */
  readonly target: string;
  readonly gate: Gate | undefined;
  /** Guarded, for git. */
  readonly env: Env;
  readonly signal: AbortSignal;
  readonly onStep: (step: LandingStep) => void;
}

export type Landed =
  | {
      readonly outcome: "landed";
      /** The target's new commit. */
      readonly commit: string;
      readonly commits: number;
      /** The checkout whose files were updated; null if only the branch was moved. */
      readonly checkout: string | null;
    }
  | { readonly outcome: "nothing" }
  | { readonly outcome: "rework"; readonly rework: Rework };

/**
 * Lands the commits of a clean worktree: rebases them onto the target, runs the gate and moves the target. The caller holds the lock of
 * the repository, and has recovered an earlier landing. The target moves last, so an earlier failure leaves it unchanged.
 * @throws TeamError; GitError
 */
export async function landWorktree(
  ctx: OperationContext,
  work: AgentWork,
  worktree: WorktreeRecord,
  options: LandWorktreeOptions,
): Promise<Landed> {
  const { target, env } = options;
  const { path } = worktree;
  await requireClean(work, worktree, env);
  const from = await requireCommit(path, "HEAD", env);
  const onto = await commitNamed(path, `refs/heads/${target}`, env);
  if (onto !== undefined && (await aheadBehind(path, onto, env, from)).ahead === 0)
    return { outcome: "nothing" };
  await placeOfTarget(ctx, worktree, target, env);
  const record = beginLanding(ctx.ref, work.agent, path);
  try {
    return await attempts(ctx, work, worktree, record, options);
  } finally {
    finishLanding(ctx.ref, work.agent);
  }
}

async function attempts(
  ctx: OperationContext,
  work: AgentWork,
  worktree: WorktreeRecord,
  record: LandingRecord,
  options: LandWorktreeOptions,
): Promise<Landed> {
  const { target, env, signal, onStep } = options;
  const extra = { [COMMAND_VARIABLE]: markOfGit(record) };
  const { path } = worktree;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const onto = await requireCommit(path, `refs/heads/${target}`, env);
    const before = await requireCommit(path, "HEAD", env);
    if ((await aheadBehind(path, onto, env, before)).behind > 0) {
      onStep(attempt === 1 ? "rebases" : "rebases-again");
      writeLanding(ctx.ref, work.agent, { ...record, from: before });
      const conflict = await tryRebase(work, { path, before, onto }, extra, options);
      if (conflict !== undefined) return { outcome: "rework", rework: conflict };
      // From here on, a rebase in the worktree is the agent's own.
      writeLanding(ctx.ref, work.agent, record);
    }
    if (signal.aborted) throw interrupted();
    const commit = await requireCommit(path, "HEAD", env);
    const failed = await check(work, { commit, onto, target }, record, options);
    if (failed !== undefined) return { outcome: "rework", rework: failed };
    await requireUnchanged(work, worktree, commit, env);
    const place = await placeOfTarget(ctx, worktree, target, env);
    if ((await requireCommit(path, `refs/heads/${target}`, env)) !== onto) continue;
    const { ahead: commits } = await aheadBehind(path, onto, env, commit);
    // Every commit is already on the target, in another form.
    if (commits === 0) return { outcome: "nothing" };
    await move(place, { target, onto, commit }, env, extra);
    return { outcome: "landed", commit, commits, checkout: place.checkout };
  }
  throw new TeamError(
    "AGENT_BUSY",
    `${target} got new commits during each of ${MAX_ATTEMPTS} checks, so it was not moved. The branch of ${work.agent} was rebased.`,
    { hint: `Try again when ${target} gets no new commits: teams land ${shellWord(work.agent)}` },
  );
}

/** @returns why the agent must resolve it; undefined if it succeeded */
async function tryRebase(
  { agent }: AgentWork,
  { path, before, onto }: { readonly path: string; readonly before: string; readonly onto: string },
  extra: Env,
  { target, env, signal }: LandWorktreeOptions,
): Promise<Rework | undefined> {
  const failure = await rebaseOnto(path, onto, env, extra);
  if (failure === undefined) return undefined;
  if (rebaseIn(path) !== undefined) await abortRebase(path, env, extra);
  // Ctrl-C in a terminal ends git too.
  if (signal.aborted) throw interrupted();
  const { conflicts, output } = failure;
  if (conflicts.length === 0)
    throw new TeamError(
      "WORKTREE_DIRTY",
      `git could not rebase the branch of ${agent}; it and ${target} are unchanged: ${output}`,
      { hint: `Fix the problem that git reports, then run teams land ${shellWord(agent)} again.` },
    );
  return {
    kind: "conflict",
    reason: `The rebase onto ${target} has conflicts in ${listed(conflicts)}. The rebase was aborted; the branch is as before.`,
    todo: `Run git rebase ${shellWord(target)} in your worktree, resolve the conflicts, check the result, and commit it.`,
    output,
    commit: before,
    onto,
  };
}

function listed(paths: readonly string[]): string {
  const more = paths.length > MAX_NAMED ? [`${paths.length - MAX_NAMED} more`] : [];
  return [...paths.slice(0, MAX_NAMED), ...more].join(", ");
}

/** Runs the gate, if any. @returns why the agent must continue; undefined if the work may land */
async function check(
  work: AgentWork,
  { commit, onto, target }: { readonly commit: string; readonly onto: string; readonly target: string },
  { mark }: LandingRecord,
  { gate, signal, onStep }: LandWorktreeOptions,
): Promise<Rework | undefined> {
  if (gate === undefined) return undefined;
  onStep("checks");
  const failure = await runGate(gate, work, { mark, signal });
  if (failure === undefined) return undefined;
  if (failure === "aborted") throw interrupted();
  return {
    kind: "gate-failed",
    reason: `The check failed on top of ${target} (${failure.how}): ${gate.command}`,
    todo: `Your worktree has your commits on top of ${target}: fix the failure there, and commit the fix.`,
    output: failure.output,
    commit,
    onto,
  };
}

async function move(
  { checkout, repository }: TargetPlace,
  { target, onto, commit }: { readonly target: string; readonly onto: string; readonly commit: string },
  env: Env,
  extra: Env,
): Promise<void> {
  if (checkout === null) await moveBranch(repository, { branch: target, from: onto, to: commit }, env, extra);
  else await fastForward(checkout, commit, env, extra);
}

/** @throws TeamError WORKTREE_DIRTY */
async function requireClean(
  { agent, member }: AgentWork,
  { path, repository }: WorktreeRecord,
  env: Env,
): Promise<void> {
  const changes = await changesInWorktree(path, env, repository);
  if (rebaseIn(path) !== undefined)
    throw new TeamError("WORKTREE_DIRTY", `A rebase is in progress in ${path}.`, {
      hint: `Finish that rebase, or abort it: git -C ${shellWord(path)} rebase --abort`,
    });
  const [files] = filesText(changes);
  if (files === undefined) return;
  const { changed, untracked } = changes;
  throw new TeamError("WORKTREE_DIRTY", `${agent} has uncommitted work: ${files} in ${path}.`, {
    hint:
      member === undefined
        ? `Commit, ignore or delete it: git -C ${shellWord(path)} status`
        : `Ask for a commit: teams send ${shellWord(agent)} "Commit your work." Or commit it yourself: git -C ${shellWord(path)} status`,
    details: { changed, untracked, worktree: path },
  });
}

/** The gate must have seen the landed state. New untracked files are the gate's own. @throws TeamError WORKTREE_DIRTY */
async function requireUnchanged(
  { agent }: AgentWork,
  { path, repository }: WorktreeRecord,
  commit: string,
  env: Env,
): Promise<void> {
  const { changed } = await changesInWorktree(path, env, repository);
  const head = await requireCommit(path, "HEAD", env);
  if (changed === 0 && head === commit) return;
  const what = head === commit ? "tracked files were changed" : "its HEAD was moved";
  throw new TeamError(
    "WORKTREE_DIRTY",
    `The worktree of ${agent} changed during its landing (${what} in ${path}). The target was not moved.`,
    {
      hint: `Look at the worktree (git -C ${shellWord(path)} status), then run teams land ${shellWord(agent)} again.`,
    },
  );
}

/** @throws GitError if there is no such commit */
async function requireCommit(directory: string, name: string, env: Env): Promise<string> {
  const commit = await commitNamed(directory, name, env);
  if (commit === undefined) throw new GitError(["rev-parse"], `${name} is not a commit in ${directory}`);
  return commit;
}
