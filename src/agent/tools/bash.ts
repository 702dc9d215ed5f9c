import { basename } from "node:path";
import { StringDecoder } from "node:string_decoder";
import * as z from "zod/mini";
import { messageOf } from "../../errors.ts";
import { withGitSettings } from "../../git/git.ts";
import type { Env } from "../../os/env.ts";
import { findProgram } from "../../os/files/access.ts";
import { pathStat } from "../../os/files/user-files.ts";
import { type CommandEnd, type CommandOptions, runCommandGroup } from "../../os/process/command-group.ts";
import { terminalVariables } from "../../os/process/no-terminal.ts";
import { secretsOf, withoutModelCredentials } from "../../os/redact.ts";
import { joinedLines } from "../../text/line-ends.ts";
import { revealHiddenInCommand } from "../../text/terminal-text.ts";
import { TOO_MANY_TASKS } from "../background/background-tasks.ts";
import type { Assignment } from "../hooks/assignments.ts";
import { exportLines, literalValues } from "../hooks/session-variables.ts";
import { sandboxHint } from "../sandbox/hint.ts";
import type { CommandSandbox, Tool, ToolContext, ToolResult } from "../tool.ts";
import { CommandOutput } from "./bash-output.ts";
import { failed, hasNoNul } from "./file-access.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;

/** The error code for arguments or an environment that are too long: on Linux, one argument of 128 KiB is enough. */
const TOO_LONG = "E2BIG";
const COMMAND_TOO_LONG =
  "The command is longer than the system allows; nothing was run. Write the text to a file with Write, then use that file.";

const input = z.object({
  command: z
    .string()
    .check(
      z.minLength(1),
      z.refine(hasNoNul, "contains a NUL character"),
      z.describe("The command line for the shell"),
    ),
  timeout: z
    .optional(z.number().check(z.minimum(1), z.maximum(MAX_TIMEOUT_MS)))
    .check(
      z.describe(
        `Time limit in milliseconds (default: ${DEFAULT_TIMEOUT_MS}, none in the background; maximum: ${MAX_TIMEOUT_MS})`,
      ),
    ),
  run_in_background: z
    .optional(z.boolean())
    .check(
      z.describe("Start the command and return at once: for commands that take long or run until stopped"),
    ),
  description: z.optional(z.string()).check(z.describe("Purpose of the command, in five to ten words")),
  dangerouslyDisableSandbox: z
    .optional(z.boolean())
    .check(
      z.describe("Run the command outside the sandbox, if the sandbox prevents it; the user is asked first"),
    ),
});

export const bashTool: Tool<z.infer<typeof input>> = {
  name: "Bash",
  description: `Runs a command in a shell and returns its output. Each call starts in the working directory with the user's functions and aliases; nothing else is kept between calls. There is no terminal and no input. With run_in_background the call returns an id at once: TaskOutput reads the command's output and can wait for its end, TaskStop stops it, and it is stopped when you end. Do not use & for background commands. Quote paths with spaces.`,
  input,
  access: ({ command, dangerouslyDisableSandbox }) => ({
    kind: "command",
    command,
    ...(dangerouslyDisableSandbox ? { outside: true } : {}),
  }),
  summary: ({ command }) => oneLine(command),
  async execute({ command, timeout, run_in_background = false, dangerouslyDisableSandbox }, given) {
    const context = dangerouslyDisableSandbox ? outside(given) : given;
    if (pathStat(context.cwd).kind !== "directory") {
      return failed(`The working directory ${context.cwd} no longer exists; nothing was run.`);
    }
    if (run_in_background) return runInBackground(command, context, timeout);
    const output = new CommandOutput(context.cwd, secretsOf(context.env));
    const end = await runInShell(command, context, {
      timeoutMs: timeout ?? DEFAULT_TIMEOUT_MS,
      onOutput: (stream, bytes) => {
        output.add(stream, bytes);
        context.onOutput?.(output.tail);
      },
    });
    return resultOf(end, output, timeout ?? DEFAULT_TIMEOUT_MS, context.sandbox !== undefined);
  },
};

/** Returns the context of a command that leaves the sandbox, if the agent has one. */
function outside(given: ToolContext): ToolContext {
  const { sandbox, sessionVariables } = given;
  const outer = sessionVariables && (() => sessionVariables(sandbox !== undefined));
  return { ...given, sandbox: undefined, sessionVariables: outer };
}

/**
 * Shows a command on one line. Line ends and hidden characters stay visible: a line end after a `#` separates a comment
 * from a command.
 */
function oneLine(command: string): string {
  return joinedLines(revealHiddenInCommand(command).trim(), " ⏎ ").replace(/\s+/g, " ");
}

function runInBackground(
  command: string,
  context: ToolContext,
  timeout = Number.POSITIVE_INFINITY,
): ToolResult {
  const { background } = context;
  const started = background.start("bash", oneLine(command), async (signal, file) => {
    const decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
    const onOutput: CommandOptions["onOutput"] = (stream, bytes) =>
      file.add(stream, decoders[stream].write(bytes));
    const end = await runInShell(command, { ...context, signal }, { timeoutMs: timeout, onOutput });
    return { status: end.code === 0 ? "completed" : "failed", how: endNote(end, timeout) ?? "exit code 0" };
  });
  if (started === undefined) return failed(TOO_MANY_TASKS);
  const { taskId, outputFile } = started;
  const notice = background.notifies ? " You will be notified when it ends." : "";
  return {
    content: `The command is running in the background as ${taskId}; its output goes to ${outputFile}. TaskOutput reads the output, TaskStop stops the command.${notice}`,
    data: { taskId, outputFile },
  };
}

async function runInShell(
  command: string,
  context: ToolContext,
  how: Pick<CommandOptions, "timeoutMs" | "onOutput">,
): Promise<CommandEnd> {
  const { cwd, signal, sandbox } = context;
  const kept = withoutShellSettings(withoutModelCredentials(context.env, context.passSecrets));
  const own = await withKnownRepositories(command, kept);
  const given = (await context.sessionVariables?.(false)) ?? [];
  const variables = given.filter(({ name }) => sandbox?.controls(name) !== true);
  // Passed in the environment: all users of the machine can see arguments.
  const env = variables.length === 0 ? own : { ...own, [LINES_VARIABLE]: exportLines(variables) };
  const options = { ...how, cwd, signal, env };
  const shell = shellOf(await context.snapshot?.(signal), own, variables);
  // Not every system has bash.
  const sh = plainShell("sh", { ...own, BASH_ENV: undefined }, variables);
  if (sandbox !== undefined) return runInSandbox(command, [shell, sh], sandbox, options);
  const end = await runEndable(shell.file, shell.args(command), options);
  if (end.failure !== "not-started" || end.systemCode === TOO_LONG) return end;
  return runEndable(sh.file, sh.args(command), options);
}

/** Runs a program. @throws Error if it must be ended, and cannot be */
async function runEndable(
  file: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandEnd> {
  try {
    return await runCommandGroup(file, args, options);
  } catch (error) {
    const message = `The command could not be ended, and may still run: ${messageOf(error)}`;
    throw new Error(message, { cause: error });
  }
}

/** Makes git ignore a bare repository that the command itself may create. Git before 2.38 ignores the setting. */
async function withKnownRepositories(command: string, env: Env): Promise<Env> {
  // Loaded lazily: an agent must start fast.
  const { readShellLine } = await import("../permissions/shell-line.ts");
  const { mayFindNewRepository } = await import("../permissions/other-repositories.ts");
  return mayFindNewRepository(readShellLine(command))
    ? withGitSettings(env, [["safe.bareRepository", "explicit"]])
    : env;
}

/** Never runs the command outside the sandbox: if the sandbox no longer works, the command fails. */
async function runInSandbox(
  command: string,
  [first, sh]: readonly [Shell, Shell],
  sandbox: CommandSandbox,
  options: CommandOptions,
): Promise<CommandEnd> {
  const { env, cwd } = options;
  const shell = findProgram(first.file, env) === undefined ? sh : first;
  const program = { file: shell.file, args: shell.args(command) };
  try {
    const wrapped = await sandbox.wrap({ ...program, env }, cwd).catch((error: unknown) => ({
      problem: `the sandbox does not work (${messageOf(error)})`,
    }));
    if ("problem" in wrapped)
      return { code: undefined, signal: undefined, failure: "not-started", message: wrapped.problem };
    const { file, args, env: own, startPrewarmed } = wrapped;
    return await runEndable(file, args, { ...options, env: own, startPrewarmed });
  } finally {
    // Also after a failure of the sandbox: without a new search, it would fail for the next command, too.
    sandbox.refresh();
  }
}

/**
 * Options with which a shell reads a line as the permission rules do: a pattern never matches a hidden name without a dot, a
 * word has no other special characters or quotes and runs nothing (`*(e:x:)`), a variable is only set before a command, and `cd x`
 * enters `x`.
 */
export const READS_ALIKE = {
  bash: "shopt -u dotglob cdable_vars; set +k",
  zsh: "setopt sh_word_split no_nomatch interactive_comments no_equals no_extended_glob no_glob_dots no_cdable_vars no_magic_equal_subst no_glob_assign no_bare_glob_qual no_auto_name_dirs no_brace_ccl no_rc_quotes no_csh_junkie_quotes",
};

/** Removes variables that make a shell read a line differently. */
function withoutShellSettings({ CDPATH, GLOBIGNORE, BASHOPTS, SHELLOPTS, ...env }: Env): Env {
  return env;
}

interface Shell {
  readonly file: string;
  args(command: string): string[];
}

/** Contains the lines that set the variables of hooks. */
const LINES_VARIABLE = "TEAMS_LINES";
const SETS_VARIABLES = `eval "$${LINES_VARIABLE}"; unset ${LINES_VARIABLE}`;

/**
 * Returns the shell that can read the snapshot. The command runs through `eval` after the snapshot, so that its aliases
 * apply. Options make zsh split words and expand globs like other shells. A snapshot of fish has only its PATH, in a
 * syntax for any shell.
 */
function shellOf(snapshot: string | undefined, env: Env, variables: readonly Assignment[]): Shell {
  const known = /^snapshot-(bash|zsh|fish)-/.exec(basename(snapshot ?? ""))?.[1];
  if (snapshot === undefined || known === undefined) return plainShell("bash", env, variables);
  const kind = known === "zsh" ? "zsh" : "bash";
  const before = ['. "$1" >/dev/null 2>&1', ...afterStart(env, variables, READS_ALIKE[kind])].join("; ");
  return { file: kind, args: (command) => ["-c", `${before}; eval "$2"`, kind, snapshot, command] };
}

/** Returns a shell without a snapshot. */
function plainShell(file: string, env: Env, variables: readonly Assignment[]): Shell {
  if (variables.length === 0 && env.BASH_ENV === undefined)
    return { file, args: (command) => ["-c", command] };
  const before = afterStart(env, variables).join("; ");
  return { file, args: (command) => ["-c", `${before}; eval "$1"`, file, command] };
}

/**
 * Returns commands to run after the startup files: zsh reads ~/.zshenv, and bash the file of BASH_ENV.
 * @param options commands that set options of the shell
 */
function afterStart(env: Env, variables: readonly Assignment[], ...options: readonly string[]): string[] {
  const sets = variables.length === 0 ? [] : [SETS_VARIABLES];
  return [...sets, ...options, terminalVariables({ ...env, ...literalValues(variables) })];
}

function resultOf(
  end: CommandEnd,
  output: CommandOutput,
  timeoutMs: number,
  isInSandbox: boolean,
): ToolResult {
  const printed = output.shown();
  const note = endNote(end, timeoutMs);
  const hint = isInSandbox && note !== undefined ? sandboxHint(printed) : undefined;
  const parts = [note, printed === "" ? undefined : printed, hint].filter((part) => part !== undefined);
  return {
    content: parts.length === 0 ? "(no output)" : parts.join("\n"),
    isError: note !== undefined,
    data: { ...output.kept(), exitCode: end.code ?? null },
  };
}

function endNote(end: CommandEnd, timeoutMs: number): string | undefined {
  switch (end.failure) {
    case "aborted":
      return `Interrupted; ${stopped(end)}.`;
    case "timed-out":
      return `Not done after ${timeoutMs} ms; ${stopped(end)}.`;
    case "not-started":
      if (end.systemCode === TOO_LONG) return COMMAND_TOO_LONG;
      return `The shell could not be started, so nothing was run: ${end.message ?? "no reason given"}`;
    default:
      if (end.signal !== undefined) return `Ended by ${end.signal}`;
      return end.code === 0 ? undefined : `Exit code ${end.code}`;
  }
}

function stopped({ left }: CommandEnd): string {
  if (left === undefined) return "the command and everything that it started were stopped";
  return `these processes of the command could not be stopped: ${left.join(", ")}`;
}
