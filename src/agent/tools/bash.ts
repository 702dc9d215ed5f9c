import { basename } from "node:path";
import { StringDecoder } from "node:string_decoder";
import * as z from "zod/mini";
import { lookAt } from "../../os/files/user-files.ts";
import { type CommandEnd, type CommandOptions, runCommandGroup } from "../../os/process/command-group.ts";
import { secretsOf, withoutCredentials } from "../../os/redact.ts";
import { revealHiddenInCommand } from "../../text/terminal-text.ts";
import { TOO_MANY_TASKS } from "../background/background-tasks.ts";
import type { Tool, ToolContext, ToolResult } from "../tool.ts";
import { CommandOutput } from "./bash-output.ts";
import { failed, hasNoNul } from "./file-access.ts";

/** Milliseconds. */
const DEFAULT_TIMEOUT = 120_000;
const MAX_TIMEOUT = 600_000;

/** What the system says to arguments and an environment that are longer than it takes: on Linux a word of 128 KiB. */
const TOO_LONG = "E2BIG";
const LONGER =
  "The command is longer than the system takes; nothing was run. Write the text to a file with Write, and use that.";

const input = z.object({
  command: z
    .string()
    .check(
      z.minLength(1),
      z.refine(hasNoNul, "holds a NUL character"),
      z.describe("The command line for the shell"),
    ),
  timeout: z
    .optional(z.number().check(z.minimum(1), z.maximum(MAX_TIMEOUT)))
    .check(
      z.describe(
        `Milliseconds, ${DEFAULT_TIMEOUT} if not given, at most ${MAX_TIMEOUT}; in the background no limit if not given`,
      ),
    ),
  run_in_background: z
    .optional(z.boolean())
    .check(z.describe("Start it and return at once: for what takes long, or runs until it is stopped")),
  description: z.optional(z.string()).check(z.describe("What it does, in five to ten words")),
});

export const bashTool: Tool<z.infer<typeof input>> = {
  name: "Bash",
  description: `Runs a command in a shell and returns what it prints. Each call starts in the working directory with the user's functions and aliases; nothing else is kept between calls. There is no terminal and no input. With run_in_background it returns at once with an id: TaskOutput reads what it prints and can wait for its end, TaskStop ends it, and it is ended when you end. Do not use & for that. Quote paths with spaces.`,
  input,
  access: ({ command }) => ({ kind: "command", command }),
  summary: ({ command }) => oneLine(command),
  async execute({ command, timeout, run_in_background = false }, context) {
    if (lookAt(context.cwd).kind !== "directory") {
      return failed(`The working directory ${context.cwd} is not there any more; nothing was run.`);
    }
    if (run_in_background) return runBehind(command, context, timeout);
    const output = new CommandOutput(context.cwd, context.toolUseId, secretsOf(context.env));
    const end = await runInShell(command, context, {
      timeoutMs: timeout ?? DEFAULT_TIMEOUT,
      onOutput: output.add,
    });
    return resultOf(end, output, timeout ?? DEFAULT_TIMEOUT);
  },
};

/** A line end is shown as one, and what has no shape: after a `#` it makes the difference between a comment and a command. */
function oneLine(command: string): string {
  return revealHiddenInCommand(command)
    .trim()
    .replace(/\s*\n\s*/g, " ⏎ ")
    .replace(/\s+/g, " ");
}

function runBehind(command: string, context: ToolContext, timeout = Number.POSITIVE_INFINITY): ToolResult {
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
  const told = background.tells ? " You are told when it has ended." : "";
  return {
    content: `It runs in the background as ${taskId}; what it prints goes into ${outputFile}. TaskOutput reads it, TaskStop ends it.${told}`,
    data: { taskId, outputFile },
  };
}

async function runInShell(
  command: string,
  context: ToolContext,
  how: Pick<CommandOptions, "timeoutMs" | "onOutput">,
): Promise<CommandEnd> {
  const { cwd, signal } = context;
  const options = { ...how, cwd, signal, env: withoutCredentials(context.env, context.passSecrets) };
  const shell = shellOf(context.snapshot);
  const end = await runCommandGroup(shell.file, shell.args(command), options);
  // Not every system has bash.
  if (end.failure !== "not-started" || end.systemCode === TOO_LONG) return end;
  return runCommandGroup("sh", ["-c", command], options);
}

interface Shell {
  readonly file: string;
  args(command: string): string[];
}

/**
 * The snapshot decides on the shell, since nothing else reads it; `eval` comes behind it so that its aliases count. zsh
 * is told to take words and globs as other shells do. Of fish the snapshot holds what any shell reads, its PATH.
 */
function shellOf(snapshot: string | undefined): Shell {
  const known = /^snapshot-(bash|zsh|fish)-/.exec(basename(snapshot ?? ""))?.[1];
  if (snapshot === undefined || known === undefined) {
    return { file: "bash", args: (command) => ["-c", command] };
  }
  const kind = known === "zsh" ? "zsh" : "bash";
  const like = kind === "zsh" ? "setopt sh_word_split no_nomatch interactive_comments; " : "";
  const script = `. "$1" >/dev/null 2>&1; ${like}eval "$2"`;
  return { file: kind, args: (command) => ["-c", script, kind, snapshot, command] };
}

function resultOf(end: CommandEnd, output: CommandOutput, timeoutMs: number): ToolResult {
  const printed = output.shown();
  const note = endNote(end, timeoutMs);
  const parts = [...(note === undefined ? [] : [note]), ...(printed === "" ? [] : [printed])];
  return {
    content: parts.length === 0 ? "(no output)" : parts.join("\n"),
    isError: note !== undefined,
    data: { ...output.kept(), exitCode: end.code ?? null },
  };
}

function endNote(end: CommandEnd, timeoutMs: number): string | undefined {
  switch (end.failure) {
    case "aborted":
      return "Interrupted; the command and what it started were ended.";
    case "timed-out":
      return `Not done after ${timeoutMs} ms; the command and what it started were ended.`;
    case "not-started":
      if (end.systemCode === TOO_LONG) return LONGER;
      return `The shell could not be started: ${end.message ?? "no reason given"}`;
    default:
      if (end.signal !== undefined) return `Ended by ${end.signal}`;
      return end.code === 0 ? undefined : `Exit code ${end.code}`;
  }
}
