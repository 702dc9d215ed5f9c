import { messageOf } from "../../errors.ts";
import { steadyNow } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";
import { runCommandGroup } from "../../os/process/command-group.ts";
import { redactText, secretsOf, withoutModelCredentials } from "../../os/redact.ts";
import type { Program, Sandbox } from "../../os/sandbox/sandbox.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import { wellFormed } from "../../text/characters/well-formed.ts";
import { type HookPermission, type HookResult, hookResult } from "./result.ts";
import type { SessionVariables } from "./session-variables.ts";
import { type HookCommand, type HookEvent, type HooksSetting, hookCommands } from "./settings.ts";

/** The hooks of an agent and their environment. */
export interface HookOptions {
  /** A function if the setting can change while the agent runs. */
  readonly setting: HooksSetting | (() => HooksSetting);
  readonly sessionId: string;
  readonly transcript?: string | undefined;
  readonly cwd: string;
  readonly env: Env;
  /** Names of secret variables that hooks may read. */
  readonly passSecrets?: readonly string[];
  /** The sandbox for the commands that `isOwn` does not name; without a sandbox, all commands run as their user. */
  readonly sandbox?: Sandbox | undefined;
  /** Whether a command is from the user's or the administrator's settings, not from a project's. */
  isOwn?(event: HookEvent, command: string): boolean;
  /** Keeps the variables that SessionStart hooks set for the agent's commands. */
  readonly variables?: SessionVariables | undefined;
  /** Called with one line for a person: a hook failed, or printed a message. */
  onNotice(event: HookEvent, text: string): void;
  /** Called when a command has started, with its pid. */
  onStarted?(event: HookEvent, pid: number): void;
  /** Called when a command ended, with its duration in milliseconds. */
  onRan?(event: HookEvent, result: HookResult["kind"], ms: number): void;
}

/** The combined result of all hooks of one event. */
export interface HookOutcome {
  /** Why the action must not happen, for the agent that was about to do it. */
  readonly stopped?: string;
  /** The agent must stop altogether. */
  readonly endsAgent?: true;
  /** The strictest permission decision of the hooks. */
  readonly permission?: HookPermission;
  /** Replaces the input of the tool call, from the first hook that changes it. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Outputs of the successful hooks, by command. */
  readonly outputs: ReadonlyMap<string, string>;
}

/** Maximum bytes that are kept of each output stream of a hook, enough for a linter's report. The rest is dropped. */
const MAX_OUTPUT = 1024 * 1024;

/** The variable that names the event to a hook's command. */
export const HOOK_VARIABLE = "TEAMS_HOOK";

/** Runs the commands of the user's settings at certain events (protocol.md section 7). */
export class Hooks {
  readonly #options: HookOptions;
  readonly #secrets: readonly string[];

  constructor(options: HookOptions) {
    this.#options = options;
    this.#secrets = secretsOf(options.env);
  }

  /**
   * Returns whether an event has hooks, so that callers can skip work that only hooks need.
   * @param subjects as for {@link run}; without a subject, matchers are ignored
   */
  has(event: HookEvent, ...subjects: readonly string[]): boolean {
    return this.#commands(event, subjects).length > 0;
  }

  /**
   * Runs the hooks of an event in parallel; none after an interrupt. Never rejects: a failed hook gives a notice.
   * @param input for stdin, in addition to the fields of all events
   * @param subjects texts for their matchers: the names of a tool, or an agent's type
   */
  async run(
    event: HookEvent,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    ...subjects: readonly string[]
  ): Promise<HookOutcome> {
    const commands = this.#commands(event, subjects);
    if (commands.length === 0 || signal.aborted) return { outputs: new Map() };
    const { sessionId, transcript, cwd } = this.#options;
    const fields = {
      session_id: sessionId,
      ...(transcript === undefined ? {} : { transcript_path: transcript }),
      cwd,
      hook_event_name: event,
      ...input,
    };
    const stdin = JSON.stringify(wellFormed(fields));
    const ends = await Promise.all(commands.map((command) => this.#runOne(event, command, stdin, signal)));
    const results = event === "PreToolUse" && !signal.aborted ? ends.map(asGuard) : ends;
    for (const [i, result] of results.entries()) this.#notify(event, commands[i]?.command ?? "", result);
    return outcomeOf(commands, results);
  }

  #commands(event: HookEvent, subjects: readonly string[]): readonly HookCommand[] {
    const { setting } = this.#options;
    return hookCommands(typeof setting === "function" ? setting() : setting, event, subjects);
  }

  async #runOne(
    event: HookEvent,
    { command, timeoutMs }: HookCommand,
    input: string,
    signal: AbortSignal,
  ): Promise<HookResult> {
    const { cwd, onStarted, onRan, onNotice } = this.#options;
    const startedAt = steadyNow();
    const output = { stdout: new OutputHead(), stderr: new OutputHead() };
    let given = this.#options.env;
    const end = await this.#start(event, command).then(
      ({ file, args, env }) => {
        // A sandbox passes the variables of the loader as arguments.
        given = { ...given, ...env };
        return runCommandGroup(file, args, {
          ...{ cwd, env, input, timeoutMs, signal },
          onOutput: (stream, bytes) => output[stream].add(bytes),
          onStarted: (pid) => onStarted?.(event, pid),
        }).catch((error: unknown) => failed("not-ended", error));
      },
      (error: unknown) => failed("not-started", error),
    );
    const redacted = (head: OutputHead): string => redactText(head.text, this.#secrets);
    const { isTruncated } = output.stdout;
    const [stdout, stderr] = [redacted(output.stdout), redacted(output.stderr)];
    const result = hookResult({ ...end, stdout, stderr, isTruncated });
    for (const problem of (await this.#variablesFor(event)?.keep(command, given)) ?? [])
      onNotice(event, problem);
    onRan?.(event, result.kind, Math.round(steadyNow() - startedAt));
    return result;
  }

  /** Returns the program of a hook. A project's runs in the sandbox. */
  async #start(event: HookEvent, command: string): Promise<Program> {
    const { cwd, env, passSecrets, sandbox, isOwn } = this.#options;
    const file = this.#variablesFor(event)?.prepare(command);
    const own = {
      ...withoutModelCredentials(env, passSecrets),
      CLAUDE_PROJECT_DIR: cwd,
      CLAUDE_ENV_FILE: file,
      [HOOK_VARIABLE]: event,
    };
    const writes = file === undefined ? [] : [file];
    const program = { file: "sh", args: ["-c", command], env: own, writes };
    return sandbox === undefined || isOwn?.(event, command) ? program : sandbox.wrap(program, cwd);
  }

  #variablesFor(event: HookEvent): SessionVariables | undefined {
    return event === "SessionStart" ? this.#options.variables : undefined;
  }

  #notify(event: HookEvent, command: string, result: HookResult): void {
    const { onNotice } = this.#options;
    if (result.kind === "success") {
      if (result.message !== undefined) onNotice(event, result.message);
    } else if (result.kind === "stopped continuation") {
      // A hook cannot stop a start.
      const isStart = /^(Subagent|Session)Start$/.test(event);
      onNotice(event, isStart ? result.text : `stopped the action: ${result.text}`);
    } else onNotice(event, `${result.kind} (${commandName(command)}): ${result.text}`);
  }
}

/**
 * A hook before a tool call is a guard. If the hook could not start, or a signal ended it, the call is refused: otherwise a model
 * could switch the hook off, for example by removing the working directory. A timeout stops nothing (protocol.md section 7).
 */
function asGuard(result: HookResult): HookResult {
  const isSwitchedOff =
    (result.kind === "error while running" && !result.timedOut) ||
    (result.kind === "non-blocking error" && result.notRun);
  if (!isSwitchedOff) return result;
  return { kind: "stopped continuation", text: `${result.text}, which counts as a refusal`, ends: false };
}

function failed(failure: "not-started" | "not-ended", error: unknown) {
  return { code: undefined, signal: undefined, failure, message: messageOf(error) };
}

/** Keeps the first bytes of a stream. */
class OutputHead {
  readonly #chunks: Buffer[] = [];
  #size = 0;
  isTruncated = false;

  add(bytes: Buffer): void {
    const part = bytes.subarray(0, MAX_OUTPUT - this.#size);
    this.#size += part.length;
    this.isTruncated ||= part.length < bytes.length;
    if (part.length > 0) this.#chunks.push(part);
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }
}

const STRICTEST_FIRST = ["deny", "ask", "allow"] as const;

function outcomeOf(commands: readonly HookCommand[], results: readonly HookResult[]): HookOutcome {
  const stops = results.filter((result) => result.kind === "stopped continuation");
  const successes = results.filter((result) => result.kind === "success");
  const permissions = successes.flatMap(({ permission }) => permission ?? []);
  const input = successes.find((result) => result.input !== undefined)?.input;
  const permission = STRICTEST_FIRST.flatMap((behavior) =>
    permissions.filter((one) => one.behavior === behavior),
  )[0];
  return {
    ...(stops.length === 0 ? {} : { stopped: stops.map(({ text }) => text).join("\n") }),
    ...(stops.some(({ ends }) => ends) ? { endsAgent: true } : {}),
    ...(permission === undefined ? {} : { permission }),
    ...(input === undefined ? {} : { input }),
    outputs: new Map(
      commands.flatMap(({ command }, i) => {
        const result = results[i];
        return result?.kind === "success" ? [[command, result.stdout]] : [];
      }),
    ),
  };
}

/** Returns the outputs of hooks as one text for a model. */
export function outputText(outputs: ReadonlyMap<string, string>): string {
  return [...outputs.values()].filter((text) => text !== "").join("\n");
}

function commandName(command: string): string {
  return shortened(command.replace(/\s+/g, " ").trim(), 60);
}
