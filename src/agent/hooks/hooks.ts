import { steadyNow } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";
import { runCommandGroup } from "../../os/process/command-group.ts";
import { redactText, secretsOf, withoutModelCredentials } from "../../os/redact.ts";
import { type HookPermission, type HookResult, hookResult } from "./result.ts";
import { type HookCommand, type HookEvent, type HooksSetting, hookCommands } from "./settings.ts";

/** Whose hooks these are, and where they run. */
export interface HookOptions {
  /** A function where it can change while an agent runs. */
  readonly setting: HooksSetting | (() => HooksSetting);
  readonly sessionId: string;
  readonly transcript?: string | undefined;
  readonly cwd: string;
  readonly env: Env;
  /** Variables with credentials that they may have. */
  readonly passSecrets?: readonly string[];
  /** What a person is to know of: a hook that failed, or said something for them. One line each. */
  notice(event: HookEvent, text: string): void;
  /** Told of each command that has ended, and how many milliseconds it took. */
  ran?(event: HookEvent, result: HookResult["kind"], ms: number): void;
}

/** What all hooks of one event come to together. */
export interface HookOutcome {
  /** Why what was about to happen is not to: the words for whoever was about to do it. */
  readonly stopped?: string;
  /** The agent is to stop altogether. */
  readonly ends?: true;
  /** The strictest of what they say of a tool call. */
  readonly permission?: HookPermission;
  /** What a tool is to be called with in place of what it was to be, by the first that says so. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** What those that succeeded printed. */
  readonly stdout: string;
}

/** Bytes of either stream of a hook that are read, a whole report of a linter; what comes after is thrown away. */
const MAX_OUTPUT = 1024 * 1024;

/** Set for a hook's command: a `teams` in it starts no hooks of the same event, or they would never end. */
const HOOK_VARIABLE = "TEAMS_HOOK";

/** The commands that a person's settings want to be run at certain moments (protocol.md section 7). */
export class Hooks {
  readonly #options: HookOptions;
  readonly #secrets: readonly string[];

  constructor(options: HookOptions) {
    this.#options = options;
    this.#secrets = secretsOf(options.env);
  }

  /** Whether anything would be run; for work that only hooks need. */
  has(event: HookEvent): boolean {
    return this.#commands(event, []).length > 0;
  }

  /**
   * Runs the hooks of an event side by side. Never rejects: a hook that fails is a notice.
   * @param input what they read on stdin besides what all of them do
   * @param subjects what their matchers are held against: the names that a tool has, an agent's type
   */
  async run(
    event: HookEvent,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    ...subjects: readonly string[]
  ): Promise<HookOutcome> {
    const commands = this.#commands(event, subjects);
    if (commands.length === 0) return { stdout: "" };
    const { sessionId, transcript, cwd } = this.#options;
    const stdin = JSON.stringify({
      session_id: sessionId,
      ...(transcript === undefined ? {} : { transcript_path: transcript }),
      cwd,
      hook_event_name: event,
      ...input,
    });
    const results = await Promise.all(commands.map((command) => this.#runOne(event, command, stdin, signal)));
    for (const [i, result] of results.entries()) this.#tell(event, commands[i]?.command ?? "", result);
    return outcomeOf(results);
  }

  #commands(event: HookEvent, subjects: readonly string[]): readonly HookCommand[] {
    const { setting, env } = this.#options;
    if (env[HOOK_VARIABLE] === event) return [];
    return hookCommands(typeof setting === "function" ? setting() : setting, event, subjects);
  }

  async #runOne(
    event: HookEvent,
    { command, timeoutMs }: HookCommand,
    input: string,
    signal: AbortSignal,
  ): Promise<HookResult> {
    const { cwd, env, passSecrets, ran } = this.#options;
    const begun = steadyNow();
    const printed = { stdout: new Head(), stderr: new Head() };
    const end = await runCommandGroup("sh", ["-c", command], {
      cwd,
      env: { ...withoutModelCredentials(env, passSecrets), CLAUDE_PROJECT_DIR: cwd, [HOOK_VARIABLE]: event },
      input,
      timeoutMs,
      signal,
      onOutput: (stream, bytes) => printed[stream].add(bytes),
    });
    const masked = (head: Head): string => redactText(head.text, this.#secrets);
    const { isCut } = printed.stdout;
    const said = { stdout: masked(printed.stdout), stderr: masked(printed.stderr), isCut };
    const result = hookResult({ ...end, ...said });
    ran?.(event, result.kind, Math.round(steadyNow() - begun));
    return result;
  }

  #tell(event: HookEvent, command: string, result: HookResult): void {
    const { notice } = this.#options;
    if (result.kind === "success") {
      if (result.message !== undefined) notice(event, result.message);
    } else if (result.kind === "stopped continuation") {
      // Nothing comes behind the start of a subagent that it could stop.
      notice(event, event === "SubagentStart" ? result.text : `stopped it: ${result.text}`);
    } else notice(event, `${result.kind} (${shortened(command)}): ${result.text}`);
  }
}

/** The first bytes of a stream. */
class Head {
  readonly #chunks: Buffer[] = [];
  #size = 0;
  /** There was more. */
  isCut = false;

  add(bytes: Buffer): void {
    const part = bytes.subarray(0, MAX_OUTPUT - this.#size);
    this.#size += part.length;
    this.isCut ||= part.length < bytes.length;
    if (part.length > 0) this.#chunks.push(part);
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }
}

const STRICTER = ["deny", "ask", "allow"] as const;

function outcomeOf(results: readonly HookResult[]): HookOutcome {
  const stops = results.filter((result) => result.kind === "stopped continuation");
  const successes = results.filter((result) => result.kind === "success");
  const said = successes.flatMap(({ permission }) => permission ?? []);
  const input = successes.find((result) => result.input !== undefined)?.input;
  const permission = STRICTER.flatMap((behavior) => said.filter((one) => one.behavior === behavior))[0];
  return {
    ...(stops.length === 0 ? {} : { stopped: stops.map(({ text }) => text).join("\n") }),
    ...(stops.some(({ ends }) => ends) ? { ends: true } : {}),
    ...(permission === undefined ? {} : { permission }),
    ...(input === undefined ? {} : { input }),
    stdout: successes
      .map(({ stdout }) => stdout)
      .filter((text) => text !== "")
      .join("\n"),
  };
}

function shortened(command: string): string {
  const line = command.replace(/\s+/g, " ").trim();
  return line.length <= 60 ? line : `${line.slice(0, 59)}…`;
}
