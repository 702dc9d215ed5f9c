import { pause } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { type ProgramResult, run } from "../os/process/run.ts";

/** Milliseconds; a checkout of a large repository can take minutes on a slow disk. */
const TIMEOUT_MS = 10 * 60_000;

/** git reads all worktrees of a repository, and fails while another git process creates one, which takes a few milliseconds. */
const INCOMPLETE_WORKTREE = /failed to read .*worktrees\/[^/]+\/(commondir|gitdir|HEAD)/;
const MAX_ATTEMPTS = 20;
/** Milliseconds between two attempts. */
const RETRY_MS = 25;

/** A failed or refused call of git; the message is git's own error text, or why it was refused. */
export class GitError extends Error {
  override readonly name = "GitError";
  /** The arguments of git. */
  readonly args: readonly string[];
  /** True if git is not installed or not on the PATH. */
  readonly missing: boolean;

  constructor(args: readonly string[], text: string, missing = false) {
    super(text);
    this.args = args;
    this.missing = missing;
  }
}

/** Variables that select a repository or a part of it (`git rev-parse --local-env-vars`, without those that configure git). */
const REPOSITORY_VARIABLES =
  /^GIT_(DIR|WORK_TREE|IMPLICIT_WORK_TREE|INDEX_FILE|COMMON_DIR|NAMESPACE|PREFIX|(ALTERNATE_)?OBJECT_DIRECTOR(Y|IES)|GRAFT_FILE|SHALLOW_FILE)$/;

/** Removes variables, for example of a git hook, that would select a repository other than that of the directory. Pure. */
export function withoutRepository(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !REPOSITORY_VARIABLES.test(name)));
}

/** Adds settings to those that git gets from the environment already (git-config(1), GIT_CONFIG_COUNT). Pure. */
export function withGitSettings(env: Env, settings: readonly (readonly [key: string, value: string])[]): Env {
  const given = /^\d{1,6}$/.test(env.GIT_CONFIG_COUNT ?? "") ? Number(env.GIT_CONFIG_COUNT) : 0;
  const numbered = settings.flatMap(([key, value], i) => [
    [`GIT_CONFIG_KEY_${given + i}`, key],
    [`GIT_CONFIG_VALUE_${given + i}`, value],
  ]);
  return { ...env, ...Object.fromEntries(numbered), GIT_CONFIG_COUNT: String(given + settings.length) };
}

/**
 * Returns an environment in which git runs no hook and no file system monitor of a repository, and contacts no other repository. For
 * calls that a model may have caused: fetching missing objects runs commands from the repository's config. Filters stay enabled: a
 * checkout is wrong without them. Pure.
 */
export function guardedGitEnv(env: Env): Env {
  // An empty monitor, because git before 2.36 would run a program named false.
  const guards = [
    ["core.hooksPath", "/dev/null"],
    ["core.fsmonitor", ""],
  ] as const;
  // GIT_CONFIG_PARAMETERS is left out: git reads it after the numbered variables, so it would win.
  const { GIT_CONFIG_PARAMETERS: _, ...rest } = env;
  return {
    ...withGitSettings(rest, guards),
    // git supports the first variable since 2.45. Older versions cannot fetch without an allowed protocol.
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "",
  };
}

/** Whether git failed because {@link guardedGitEnv} lets it fetch no missing object. */
export function isFetchRefused({ message }: GitError): boolean {
  return /transport '[^']*' not allowed|lazy fetching disabled/.test(message);
}

interface GitOptions {
  /** Its stdin; empty by default. */
  readonly input?: string;
  /** `latin1` gives one character for each byte. */
  readonly encoding?: "utf8" | "latin1";
  /** For a change of many files: a Ctrl-C in the terminal, or the end of this process, does not leave it half done. */
  readonly detached?: boolean;
}

/**
 * Runs git in a directory, with an argument vector. Its messages are English in any locale.
 * @param extra additional environment variables
 * @returns its stdout
 * @throws GitError
 */
export async function git(
  directory: string,
  args: readonly string[],
  env: Env,
  extra: Env = {},
  own: GitOptions = {},
): Promise<string> {
  const options = {
    ...own,
    env: {
      ...withoutRepository(env),
      LC_ALL: "C",
      GIT_TERMINAL_PROMPT: "0",
      GIT_OPTIONAL_LOCKS: "0",
      ...extra,
    },
    timeoutMs: TIMEOUT_MS,
  };
  const runOnce = (): Promise<ProgramResult> => run("git", ["-C", directory, ...args], options);
  let result = await runOnce();
  for (
    let attempt = 1;
    attempt < MAX_ATTEMPTS && INCOMPLETE_WORKTREE.test(result.stderr) && result.code !== 0;
    attempt += 1
  ) {
    await pause(RETRY_MS);
    result = await runOnce();
  }
  const { code, stdout, stderr, failure } = result;
  if (failure === "not-found") throw new GitError(args, "git is not installed, or not on the PATH", true);
  const command = `git ${subcommandIn(args)}`;
  if (failure === "timed-out")
    throw new GitError(args, `${command} did not finish within ${TIMEOUT_MS / 60_000} minutes`);
  if (failure === "output-limit") throw new GitError(args, `${command} printed more output than can be read`);
  if (code !== 0) throw new GitError(args, stderr.trim() || `${command} failed without an error message`);
  return stdout;
}

/** Returns the subcommand, which follows git's own options such as `-c name=value`. */
function subcommandIn(args: readonly string[]): string {
  return args.find((arg, i) => !arg.startsWith("-") && args[i - 1] !== "-c") ?? "";
}
