import { messageOf, TeamError } from "../../errors.ts";
import { GitError, guardedGitEnv, isFetchRefused, withoutRepository } from "../../git/git.ts";
import { addWorktree, rollBackWorktree, type Worktree } from "../../git/worktree.ts";
import { homeDirectory } from "../../os/files/app-directories.ts";
import { ensureDir } from "../../os/files/fs.ts";
import { runCommandGroup } from "../../os/process/command-group.ts";
import { OutputTail } from "../../os/process/output-tail.ts";
import { agentFileName } from "../../protocol/paths.ts";
import type { TeamMember } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { changedMetadata } from "../../schema/member-metadata.ts";
import type { WorktreeRecord } from "../../schema/worktree.ts";
import { readTeam } from "../../team/config/config.ts";
import { lookUpMember, patchMember } from "../../team/members/members.ts";
import { shellWord } from "../../text/shell-quote.ts";
import type { OperationContext } from "../context.ts";

/** The worktree that a spawn requests. */
export interface WorktreeOptions {
  /** By default `teams/<team>/<agent>`, or the next free name after it. */
  readonly branch?: string | undefined;
  /** Copies the changed and untracked files of the current working tree. */
  readonly withChanges?: boolean;
  /** True if a model caused the spawn: git then runs nothing that the repository names, except filters. */
  readonly forModel?: boolean;
}

/** The user's settings for all worktrees. */
export interface WorktreeSettings {
  /** The parent directory, relative to the repository; `.worktrees` by default. */
  readonly directory?: string | undefined;
  /** A shell command that runs at the top of a new worktree before the teammate starts. */
  readonly setup?: string | undefined;
  /** Ends the setup command, which fails the start. */
  readonly signal?: AbortSignal;
}

export interface CreatedWorktree {
  /** The updated member, which works in the worktree. */
  readonly member: TeamMember;
  /** Removes the worktree after a failed start. @returns sentences about what git could not remove */
  rollback(): Promise<readonly string[]>;
}

/**
 * Creates the worktree of a member that is in the config but not started. The config records the worktree before it is created.
 * @throws TeamError SPAWN_FAILED, INTERRUPTED; then the worktree is removed, or the message names what remains
 */
export async function createWorktree(
  ctx: OperationContext,
  member: TeamMember,
  request: WorktreeOptions,
  settings: WorktreeSettings,
): Promise<CreatedWorktree> {
  const { ref } = ctx;
  const env = request.forModel ? guardedGitEnv(ctx.env) : ctx.env;
  const { name } = member;
  let started = member;
  const announce = async (worktree: Worktree): Promise<void> => {
    // Another member may have its name by now.
    if (lookUpMember(readTeam(ref), name)?.joinedAt !== member.joinedAt) throw removedMeanwhile();
    const metadata = changedMetadata(member.metadata, { worktree: recordOf(worktree) });
    started = await patchMember(ref, name, { worktreePath: worktree.path, cwd: worktree.cwd, metadata });
  };
  try {
    const worktree = await addWorktree({
      from: member.cwd,
      name: agentFileName(`${ref.team}-${name}`),
      branch: request.branch ?? `teams/${ref.team}/${agentFileName(name)}`,
      branchIsGiven: request.branch !== undefined,
      directory: settings.directory?.replace(/^~(?=\/|$)/, () => homeDirectory(ctx.env)),
      withChanges: request.withChanges ?? false,
      onPlanned: announce,
      env,
    });
    const rollback = (): Promise<readonly string[]> => rollBackWorktree(worktree, env);
    try {
      await runSetup(worktree, settings, ctx);
    } catch (error) {
      const remains = await rollback();
      throw withRemains(error, remains.length === 0 ? ["The worktree was removed."] : remains);
    }
    return { member: started, rollback };
  } catch (error) {
    throw error instanceof GitError ? gitFailure(error, request, name) : error;
  }
}

/** Makes the error for a member that was removed from the team before it was started. */
export function removedMeanwhile(): TeamError {
  return new TeamError("SPAWN_FAILED", "another command removed it from the team meanwhile.");
}

function recordOf({ cwd: _cwd, source: _source, ...record }: Worktree): WorktreeRecord {
  return defined(record);
}

/** Milliseconds: installing a large project's packages takes minutes, and a command that waits for input never ends. */
const SETUP_TIMEOUT_MS = 10 * 60_000;
/** How many of the last characters of a setup command's output its error shows. */
const MAX_OUTPUT_CHARS = 2_000;

async function runSetup(
  worktree: Worktree,
  { setup, signal }: WorktreeSettings,
  ctx: OperationContext,
): Promise<void> {
  // The directory may be missing: git checks out neither empty nor untracked directories.
  ensureDir(worktree.cwd);
  if (setup === undefined) return;
  const output = new OutputTail(MAX_OUTPUT_CHARS);
  const end = await runCommandGroup("/bin/sh", ["-c", setup], {
    cwd: worktree.path,
    env: {
      ...withoutRepository(ctx.env),
      TEAMS_WORKTREE: worktree.path,
      TEAMS_WORKTREE_SOURCE: worktree.source,
    },
    timeoutMs: SETUP_TIMEOUT_MS,
    signal: signal ?? new AbortController().signal,
    onOutput: (stream, bytes) => output.add(bytes, stream),
  });
  if (signal?.aborted) throw new TeamError("INTERRUPTED", "the setup of its worktree was interrupted.");
  if (end.code === 0 && end.failure === undefined) return;
  const how =
    end.failure === "timed-out"
      ? `did not end within ${SETUP_TIMEOUT_MS / 60_000} minutes`
      : setupFailure(end);
  throw new TeamError(
    "SPAWN_FAILED",
    `the setup command of its worktree ${how}: ${setup}\n${output.text.trim()}`.trim(),
    {
      hint: "Fix teams.worktreeSetup in your settings.",
    },
  );
}

function setupFailure({ code, signal, message }: Awaited<ReturnType<typeof runCommandGroup>>): string {
  return message ?? (signal === undefined ? `ended with exit code ${code}` : `was killed by ${signal}`);
}

/** Adds to the error of a start what became of worktrees. @param remains sentences */
export function withRemains(error: unknown, remains: readonly string[]): unknown {
  if (remains.length === 0 || !(error instanceof TeamError)) return error;
  const { code, message, hint, details, cause } = error;
  return new TeamError(code, [message, ...remains].join("\n"), defined({ hint, details, cause }));
}

/** Git cannot create a branch below another one, or in its place. The lock of another git process is no such conflict. */
const NAME_CONFLICT = /exists; cannot create|cannot lock ref(?!.*Unable to create '[^']*\.lock')/;

function gitFailure(error: GitError, { forModel }: WorktreeOptions, name: string): TeamError {
  const needsFetch = forModel === true && isFetchRefused(error);
  return new TeamError("SPAWN_FAILED", `git could not create its worktree: ${messageOf(error)}`, {
    hint: error.missing
      ? "Install git, or start it without a worktree."
      : needsFetch
        ? `git may not fetch missing objects for a model. A person can start it: teams spawn ${shellWord(name)} --worktree`
        : NAME_CONFLICT.test(error.message)
          ? `Name a branch that does not conflict with an existing one: teams spawn ${shellWord(name)} --worktree <branch>`
          : "Fix the problem that git reports, or start it without a worktree.",
    cause: error,
  });
}
