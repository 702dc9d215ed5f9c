import { messageOf, TeamError } from "../../errors.ts";
import { GitError, withoutRepository } from "../../git/git.ts";
import { addWorktree, rollBackWorktree, type Worktree } from "../../git/worktree.ts";
import { ensureDir } from "../../os/files/fs.ts";
import { runCommandGroup } from "../../os/process/command-group.ts";
import { agentFileName } from "../../protocol/paths.ts";
import type { TeamMember } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { changedMetadata } from "../../schema/member-metadata.ts";
import type { WorktreeRecord } from "../../schema/worktree.ts";
import { patchMember } from "../../team/members/members.ts";
import type { OperationContext } from "../context.ts";

/** What a spawn asks for. */
export interface WantedWorktree {
  /** `teams/<team>/<agent>`, or the next free of it, without one. */
  readonly branch?: string | undefined;
  /** What is changed and untracked where it is asked for comes along. */
  readonly withChanges?: boolean;
}

/** What the settings say of all of them. */
export interface WorktreeSettings {
  /** Where they go, relative to the repository; `.worktrees` in it by default. */
  readonly directory?: string | undefined;
  /** Shell command that is run at the top of a new one, before the teammate starts. */
  readonly setup?: string | undefined;
  /** Ends a set-up command, and with it the start. */
  readonly signal?: AbortSignal;
}

export interface StartedWorktree {
  /** The member as it is by now: it works in the worktree. */
  readonly member: TeamMember;
  /** Takes it back when the start fails. @returns what git would not let go */
  takeBack(): Promise<readonly string[]>;
}

/**
 * Makes the worktree of a member that has joined and is not started yet. The member says so before anything is made.
 * @throws TeamError SPAWN_FAILED, INTERRUPTED; of the worktree nothing is left then, or it is named
 */
export async function startWorktree(
  ctx: OperationContext,
  member: TeamMember,
  wanted: WantedWorktree,
  settings: WorktreeSettings,
): Promise<StartedWorktree> {
  const { env, ref } = ctx;
  const { name } = member;
  let started = member;
  const announce = async (worktree: Worktree): Promise<void> => {
    const metadata = changedMetadata(member.metadata, { worktree: recordOf(worktree) });
    started = await patchMember(ref, name, { worktreePath: worktree.path, cwd: worktree.cwd, metadata });
  };
  try {
    const worktree = await addWorktree({
      from: member.cwd,
      name: agentFileName(`${ref.team}-${name}`),
      branch: wanted.branch ?? `teams/${ref.team}/${agentFileName(name)}`,
      branchIsGiven: wanted.branch !== undefined,
      directory: settings.directory?.replace(/^~(?=\/|$)/, () => env.HOME ?? "~"),
      withChanges: wanted.withChanges ?? false,
      onPlanned: announce,
      env,
    });
    const takeBack = (): Promise<readonly string[]> => rollBackWorktree(worktree, env);
    try {
      await setUp(worktree, settings, ctx);
    } catch (error) {
      throw withLeft(error, await takeBack());
    }
    return { member: started, takeBack };
  } catch (error) {
    throw error instanceof GitError ? refusedByGit(error) : error;
  }
}

function recordOf({ cwd: _cwd, source: _source, ...record }: Worktree): WorktreeRecord {
  return defined(record);
}

/** Milliseconds: the packages of a large project take minutes to install, a command that asks something never ends. */
const SETUP_TIMEOUT_MS = 10 * 60_000;
/** Characters of what a set-up command said last that its failure shows. */
const MOST_SAID = 2_000;

async function setUp(
  worktree: Worktree,
  { setup, signal }: WorktreeSettings,
  ctx: OperationContext,
): Promise<void> {
  // git keeps no empty directory, and none that is untracked.
  ensureDir(worktree.cwd);
  if (setup === undefined) return;
  let said = "";
  const end = await runCommandGroup("/bin/sh", ["-c", setup], {
    cwd: worktree.path,
    env: {
      ...withoutRepository(ctx.env),
      TEAMS_WORKTREE: worktree.path,
      TEAMS_WORKTREE_SOURCE: worktree.source,
    },
    timeoutMs: SETUP_TIMEOUT_MS,
    signal: signal ?? new AbortController().signal,
    onOutput: (_, bytes) => {
      said = (said + bytes.toString("utf8")).slice(-MOST_SAID);
    },
  });
  if (signal?.aborted)
    throw new TeamError("INTERRUPTED", "its set-up was interrupted; its worktree was taken back.");
  if (end.code === 0 && end.failure === undefined) return;
  const how =
    end.failure === "timed-out" ? `did not end within ${SETUP_TIMEOUT_MS / 60_000} minutes` : ended(end);
  throw new TeamError(
    "SPAWN_FAILED",
    `the set-up command of its worktree ${how}: ${setup}\n${said.trim()}`.trim(),
    {
      hint: "Fix teams.worktreeSetup in your settings; the worktree was taken back.",
    },
  );
}

function ended({ code, signal, message }: Awaited<ReturnType<typeof runCommandGroup>>): string {
  return message ?? (signal === undefined ? `ended with exit code ${code}` : `was ended by ${signal}`);
}

function withLeft(error: unknown, left: readonly string[]): unknown {
  if (left.length === 0 || !(error instanceof TeamError)) return error;
  const { code, hint, cause } = error;
  return new TeamError(code, [error.message, ...left].join("\n"), { ...(hint && { hint }), cause });
}

function refusedByGit(error: GitError): TeamError {
  return new TeamError("SPAWN_FAILED", `git made no worktree for it: ${messageOf(error)}`, {
    hint: error.missing
      ? "Install git, or start it without a worktree."
      : "Fix what git says, or start it without a worktree.",
    cause: error,
  });
}
