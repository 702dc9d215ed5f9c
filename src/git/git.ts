import { pause } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { type ProgramResult, run } from "../os/process/run.ts";

/** Milliseconds: a checkout of a large repository takes minutes on a slow disk, a hang never ends. */
const TIMEOUT_MS = 10 * 60_000;

/** git looks at all worktrees of a repository, and fails over one that another git is just making: a few milliseconds later it is whole. */
const INCOMPLETE_WORKTREE = /failed to read .*worktrees\/[^/]+\/(commondir|gitdir|HEAD)/;
const MAX_TRIES = 20;
/** Milliseconds between two tries. */
const RETRY_MS = 25;

/** What git refused, with its own words. */
export class GitError extends Error {
  override readonly name = "GitError";
  /** The words behind `git`. */
  readonly args: readonly string[];
  /** Not installed, or not on the PATH. */
  readonly missing: boolean;

  constructor(args: readonly string[], text: string, missing = false) {
    super(text);
    this.args = args;
    this.missing = missing;
  }
}

/** What names a repository, or a part of one (`git rev-parse --local-env-vars`, without what configures git). */
const REPOSITORY_VARIABLES =
  /^GIT_(DIR|WORK_TREE|IMPLICIT_WORK_TREE|INDEX_FILE|COMMON_DIR|NAMESPACE|PREFIX|(ALTERNATE_)?OBJECT_DIRECTOR(Y|IES)|GRAFT_FILE|SHALLOW_FILE)$/;

/** The environment in which the directory alone says which repository is meant, whatever a hook or another git left in it. Pure. */
export function withoutRepository(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !REPOSITORY_VARIABLES.test(name)));
}

/**
 * Runs git in a directory, with an argument vector; its words are English whatever the caller's locale.
 * @returns what it printed
 * @throws GitError
 */
export async function git(
  directory: string,
  args: readonly string[],
  env: Env,
  extra: Env = {},
): Promise<string> {
  const options = {
    env: {
      ...withoutRepository(env),
      LC_ALL: "C",
      GIT_TERMINAL_PROMPT: "0",
      GIT_OPTIONAL_LOCKS: "0",
      ...extra,
    },
    timeoutMs: TIMEOUT_MS,
  };
  const once = (): Promise<ProgramResult> => run("git", ["-C", directory, ...args], options);
  let ended = await once();
  for (
    let tries = 1;
    tries < MAX_TRIES && INCOMPLETE_WORKTREE.test(ended.stderr) && ended.code !== 0;
    tries += 1
  ) {
    await pause(RETRY_MS);
    ended = await once();
  }
  const { code, stdout, stderr, failure } = ended;
  if (failure === "not-found") throw new GitError(args, "git is not installed, or not on the PATH", true);
  if (failure === "timed-out")
    throw new GitError(args, `git ${args[0]} did not end within ${TIMEOUT_MS / 60_000} minutes`);
  if (code !== 0) throw new GitError(args, stderr.trim() || `git ${args[0]} failed without a word`);
  return stdout;
}
