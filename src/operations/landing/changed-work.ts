import { dirname, join } from "node:path";
import { messageOf } from "../../errors.ts";
import { commitNamed, emptyTree, type FileDiff } from "../../git/diff.ts";
import { GitError, guardedGitEnv } from "../../git/git.ts";
import { checkoutOf, gitDirectoriesOf } from "../../git/repository.ts";
import { aheadBehind } from "../../git/status.ts";
import { entryOf } from "../../os/files/fs.ts";
import type { OperationContext } from "../context.ts";
import { allWork } from "./agent-work.ts";
import { type AgentDiff, readDiffs } from "./read-diffs.ts";

/** The changes in one directory that a run has left. */
export interface ChangedWork {
  /** An agent that works there; of several, the first teammate. */
  readonly agent: string;
  /** The top of the worktree. */
  readonly directory: string;
  /** The agent has the worktree for itself. */
  readonly isOwn: boolean;
  /** Undefined with a detached HEAD. */
  readonly branch?: string;
  /** Commits since the base: where an agent's branch began, or the start of the run. */
  readonly commits: number;
  readonly files: readonly FileDiff[];
}

/** The state of the lead's directory when the run began. */
export interface WorkStart {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The commit of HEAD, or the empty tree before the first one, by the top of its worktree; empty outside a repository. */
  readonly heads: ReadonlyMap<string, string>;
}

/** Milliseconds by which the clock of a file system may be slow. */
const CLOCK_SKEW_MS = 1_000;

/** Reads the current commit of the lead's directory; empty outside a repository or if git fails. Then only uncommitted changes count. */
export async function readHeads({ cwd, env }: OperationContext): Promise<WorkStart["heads"]> {
  const top = gitDirectoriesOf(cwd)?.top;
  if (top === undefined) return new Map();
  try {
    const guarded = guardedGitEnv(env);
    return new Map([[top, (await commitNamed(top, "HEAD", guarded)) ?? (await emptyTree(top, guarded))]]);
  } catch (error) {
    // Without git there are no changes to list either; `readChangedWork` reports it.
    if (error instanceof GitError) return new Map();
    throw error;
  }
}

/**
 * Returns the changes of a team's agents: in their own worktrees since their branch began, elsewhere since the run
 * began. Files that a person had changed before, and that nothing has touched since, are left out.
 */
export async function readChangedWork(
  ctx: OperationContext,
  { at, heads }: WorkStart,
): Promise<{ readonly changes: readonly ChangedWork[]; readonly problems: readonly string[] }> {
  const { diffs, problems } = await readDiffs(ctx, { filesOnly: true, bases: heads });
  const owned = new Set(allWork(ctx.ref).flatMap(({ worktree }) => worktree?.path ?? []));
  const found = diffs.map((diff) => ({ diff, isOwn: owned.has(diff.directory) }));
  const texts = problems.map(({ agent, problem }) => `${agent}: ${problem}`);
  const changes: ChangedWork[] = [];
  for (const { diff, isOwn } of found) {
    const files = isOwn ? diff.files : diff.files.filter((file) => wasTouched(diff.directory, file, at));
    if (files.length === 0) continue;
    const { branch } = checkoutOf(diff.directory) ?? {};
    const { agent, directory } = diff;
    const commits = await commitsOf(ctx, diff).catch((error: unknown) => {
      if (!(error instanceof GitError)) throw error;
      texts.push(`${agent}: ${messageOf(error)}`);
      return 0;
    });
    changes.push({ agent, directory, isOwn, ...(branch === undefined ? {} : { branch }), commits, files });
  }
  return { changes, problems: texts };
}

async function commitsOf({ env }: OperationContext, { directory, base }: AgentDiff): Promise<number> {
  const guarded = guardedGitEnv(env);
  if ((await commitNamed(directory, base, guarded)) === undefined) return 0;
  return (await aheadBehind(directory, base, guarded)).ahead;
}

/**
 * Whether a file has changed since a time. A deleted file has the time of its nearest directory that still exists; a file whose name
 * is not UTF-8 always counts.
 */
function wasTouched(top: string, { path, status }: FileDiff, since: number): boolean {
  if (status !== "deleted" && entryOf(join(top, path)) === undefined) return true;
  for (let at = join(top, path); ; at = dirname(at)) {
    const entry = entryOf(at);
    if (entry !== undefined) return entry.ctimeMs >= since - CLOCK_SKEW_MS;
    if (at === dirname(at)) return true;
  }
}
