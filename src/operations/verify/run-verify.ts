import { decidePermission } from "../../agent/permissions/decide.ts";
import { isFileAccessError, isSystemError, messageOf } from "../../errors.ts";
import { GitError, git, guardedGitEnv } from "../../git/git.ts";
import { changesIn } from "../../git/status.ts";
import { type Clock, steadyNow } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";
import { homeDirectory } from "../../os/files/app-directories.ts";
import { type CommandEnd, type CommandOptions, runCommandGroup } from "../../os/process/command-group.ts";
import { OutputTail } from "../../os/process/output-tail.ts";
import { redactText, secretsOf, withoutModelCredentials } from "../../os/redact.ts";
import type { Sandbox } from "../../os/sandbox/sandbox.ts";
import type { VerifyOutcome, VerifyRun } from "../../schema/guards/verify-record.ts";
import { textEnd } from "../../text/characters/cut-text.ts";
import { stripControls } from "../../text/terminal-text.ts";

/** Where and with which rights a verify command runs: those of its task's owner. */
export interface VerifyPlace {
  readonly cwd: string;
  readonly env: Env;
  /** Names of secret variables that its commands may read. */
  readonly passSecrets: readonly string[];
  /** The owner's deny rules. */
  readonly deny: readonly string[];
  /** The owner's sandbox; undefined if its commands run without one. */
  readonly sandbox?: Sandbox | undefined;
}

interface RunLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** The facts of one run, without the task that it belongs to. */
export type RanCommand = Omit<VerifyRun, "by" | "completion">;

/** Maximum characters and lines of the output that are kept: enough for a test runner's summary, and for a message to a model. */
const MAX_TAIL = 4_000;
const MAX_LINES = 40;
/** Characters that are kept while it runs: without secrets and control characters, fewer remain. */
const MAX_READ = 4 * MAX_TAIL;

/**
 * Runs a verify command in its owner's directory, with its sandbox and deny rules. A time limit ends it with all processes that
 * it started.
 * @returns undefined if the signal interrupted it: the result is then unknown
 */
export async function runVerify(
  command: string,
  place: VerifyPlace,
  { timeoutMs, signal, clock }: RunLimits,
): Promise<RanCommand | undefined> {
  const { cwd, env } = place;
  const at = clock.now();
  const startedAt = steadyNow();
  const commit = await commitOf(cwd, env);
  const ended = (outcome: VerifyOutcome, rest: Partial<RanCommand> = {}): RanCommand => ({
    ...{ outcome, tail: "", directory: cwd, at, ms: Math.round(steadyNow() - startedAt) },
    ...commit,
    ...rest,
  });
  const refusal = await refusalOf(command, place);
  if (refusal !== undefined) return ended("refused", { tail: refusal });
  const output = new OutputTail(MAX_READ);
  const onOutput: CommandOptions["onOutput"] = (stream, bytes) => output.add(bytes, stream);
  const end = await runIn(place, command, { timeoutMs, signal, onOutput });
  const { failure, code, signal: by, message } = end;
  if (failure === "aborted") return undefined;
  if (failure === "not-started") return ended("not-started", { tail: message ?? "" });
  const tail = { tail: tailOf(output.text, secretsOf(env)) };
  if (failure === "timed-out") return ended("timed-out", tail);
  const how = {
    ...(code === undefined ? {} : { exitCode: code }),
    ...(by === undefined ? {} : { signal: by }),
  };
  return ended(code === 0 ? "passed" : "failed", { ...tail, ...how });
}

async function runIn(
  { cwd, env, passSecrets, sandbox }: VerifyPlace,
  command: string,
  options: Pick<CommandOptions, "timeoutMs" | "signal" | "onOutput">,
): Promise<CommandEnd> {
  const own = withoutModelCredentials(env, passSecrets);
  const program = { file: "sh", args: ["-c", command], env: own };
  try {
    const { file, args, env: inside } = (await sandbox?.wrap(program, cwd)) ?? program;
    return await runCommandGroup(file, args, { cwd, env: inside, ...options });
  } catch (error) {
    return { code: undefined, signal: undefined, failure: "not-started", message: messageOf(error) };
  }
}

/** Returns why the owner's deny rules refuse the command; undefined if they do not. */
async function refusalOf(command: string, { cwd, deny, env }: VerifyPlace): Promise<string | undefined> {
  if (deny.length === 0) return undefined;
  const { readShellLine } = await import("../../agent/permissions/shell-line.ts");
  const { behavior, reason } = decidePermission({
    mode: "bypassPermissions",
    tool: "Bash",
    access: { kind: "command", command },
    line: readShellLine(command),
    rules: { allow: [], ask: [], deny },
    workingDirs: [cwd],
    home: homeDirectory(env),
  });
  return behavior === "deny" ? reason : undefined;
}

/** Returns the commit of a directory and its number of uncommitted files; nothing outside a repository. */
async function commitOf(cwd: string, env: Env): Promise<Pick<VerifyRun, "commit" | "uncommitted">> {
  const guarded = guardedGitEnv(env);
  try {
    const commit = (await git(cwd, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], guarded)).trim();
    const { changed, untracked } = await changesIn(cwd, guarded);
    return { commit, uncommitted: changed + untracked };
  } catch (error) {
    if (!(error instanceof GitError || isSystemError(error) || isFileAccessError(error))) throw error;
    // No repository, no commit yet, no git, or no room for a copy of the index: the command's result counts without it.
    return {};
  }
}

function tailOf(output: string, secrets: readonly string[]): string {
  const text = stripControls(redactText(output, secrets)).trimEnd();
  return textEnd(text.split("\n").slice(-MAX_LINES).join("\n"), MAX_TAIL);
}
