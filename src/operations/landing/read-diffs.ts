import { TeamError } from "../../errors.ts";
import { commitNamed, type Diff, diffSince, forkPoint } from "../../git/diff.ts";
import { GitError, guardedGitEnv } from "../../git/git.ts";
import { requireLinkedWorktree } from "../../git/own-repository.ts";
import { gitDirectoriesOf } from "../../git/repository.ts";
import { LEAD_NAME, sameName } from "../../schema/names.ts";
import { shellWord } from "../../text/shell-quote.ts";
import type { OperationContext } from "../context.ts";
import { type AgentWork, allWork, workOf } from "./agent-work.ts";

/** The changes of one agent. If agents share a directory, git cannot tell which of them made a change. */
export interface AgentDiff extends Diff {
  readonly agent: string;
  /** Other agents that have no worktree and work in the same working tree. */
  readonly sharedWith: readonly string[];
  /** The top of the worktree. */
  readonly directory: string;
  /** The commit that the files are compared with: where the agent's branch left the target, or HEAD in a shared directory. */
  readonly base: string;
}

interface DiffOptions {
  /** Lists the changed files without their patches. */
  readonly filesOnly?: boolean;
  /** The commits to compare shared directories with, instead of HEAD, by the top of the working tree. */
  readonly bases?: ReadonlyMap<string, string>;
}

/** An agent whose changes git cannot determine. */
export interface DiffProblem {
  readonly agent: string;
  readonly directory: string;
  readonly problem: string;
}

/**
 * Returns the changes of one agent, possibly empty.
 * @throws TeamError AGENT_NOT_FOUND; INVALID_INPUT if git cannot determine the changes
 */
export async function readDiff(ctx: OperationContext, agent: string): Promise<AgentDiff> {
  const work = workOf(ctx.ref, agent);
  const diff = await tryDiff(ctx, work);
  if (!("problem" in diff)) return diff;
  throw new TeamError("INVALID_INPUT", `git cannot show the changes of ${work.agent}: ${diff.problem}.`, {
    hint: `Look at its directory: git -C ${shellWord(work.directory)} status`,
    details: { agent: work.agent, directory: work.directory },
  });
}

/**
 * Returns the changes of all agents that have some; a teammate gets only its own. Each directory appears once.
 * @returns also the agents whose worktree git cannot read
 */
export async function readDiffs(
  ctx: OperationContext,
  options: DiffOptions = {},
): Promise<{ readonly diffs: readonly AgentDiff[]; readonly problems: readonly DiffProblem[] }> {
  const own = !sameName(ctx.actor, LEAD_NAME);
  const works = own ? [workOf(ctx.ref, ctx.actor)] : allWork(ctx.ref);
  const diffs: AgentDiff[] = [];
  const problems: DiffProblem[] = [];
  for (const work of onePerDirectory(works)) {
    const diff = await tryDiff(ctx, work, options);
    if ("problem" in diff) {
      // A directory outside a repository is no problem, unless it was a worktree.
      if (work.worktree !== undefined) problems.push(diff);
    } else if (diff.files.length > 0) diffs.push(diff);
  }
  return { diffs, problems };
}

interface SharedWork extends AgentWork {
  readonly sharedWith: readonly string[];
}

/** Groups agents by the worktree of git that they work in. The lead comes last: its name says the least about a change. */
function onePerDirectory(works: readonly AgentWork[]): readonly SharedWork[] {
  const groups = new Map<string, readonly AgentWork[]>();
  for (const work of works) {
    const top = work.worktree?.path ?? gitDirectoriesOf(work.directory)?.top ?? work.directory;
    groups.set(top, [...(groups.get(top) ?? []), work]);
  }
  return [...groups.values()].flatMap((group) => {
    const isLead = ({ agent }: AgentWork): boolean => agent === LEAD_NAME;
    // The owner of the worktree comes first, if there is one.
    const [first, ...rest] = group.toSorted(
      (a, b) =>
        Number(a.worktree === undefined) - Number(b.worktree === undefined) ||
        Number(isLead(a)) - Number(isLead(b)),
    );
    return first === undefined ? [] : [{ ...first, sharedWith: rest.map(({ agent }) => agent) }];
  });
}

async function tryDiff(
  ctx: OperationContext,
  work: AgentWork & { readonly sharedWith?: readonly string[] },
  { filesOnly = false, bases }: DiffOptions = {},
): Promise<AgentDiff | DiffProblem> {
  const { agent, directory, worktree, sharedWith = [] } = work;
  const env = guardedGitEnv(ctx.env);
  try {
    if (worktree !== undefined) requireLinkedWorktree(worktree.path, worktree.repository);
    const top = worktree?.path ?? gitDirectoriesOf(directory)?.top;
    if (top === undefined) return { agent, directory, problem: "its directory is not in a git repository" };
    const base = bases?.get(top) ?? (await baseOf(top, work, ctx));
    const diff = await diffSince(top, base, env, filesOnly ? "files" : "whole");
    return { agent, sharedWith, directory: top, base, ...diff };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return { agent, directory, problem: error.message };
  }
}

async function baseOf(top: string, { worktree }: AgentWork, { env }: OperationContext): Promise<string> {
  const guarded = guardedGitEnv(env);
  if (worktree === undefined) {
    const head = await commitNamed(top, "HEAD", guarded);
    if (head === undefined) throw new GitError(["diff"], "the repository has no commit yet");
    return head;
  }
  const { startedFrom, base } = worktree;
  const fork = startedFrom && (await forkPoint(top, startedFrom, guarded));
  return fork || base;
}
