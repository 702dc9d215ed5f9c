import { messageOf } from "../errors.ts";
import { isLed } from "../operations/supervision/reconcile.ts";
import type { Env } from "../os/env.ts";
import { runCommandGroup } from "../os/process/command-group.ts";
import { redactText, secretsOf, withoutModelCredentials } from "../os/redact.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { LiveSettings } from "../settings/live-settings.ts";
import type { TeamRef } from "../team/ref.ts";
import { gridText } from "../text/terminal-text.ts";
import type { Notifier } from "./notifying-view.ts";

interface NotifierOptions {
  readonly settings: LiveSettings;
  readonly ref: TeamRef;
  /** The agent that waits, or whose side does. */
  readonly agent: string;
  readonly cwd: string;
  readonly env: Env;
  /** Told why a person could not be called; once for each setting. */
  problem(text: string): void;
}

/** Milliseconds for a command that only shows or sends a line. */
const TIMEOUT_MS = 10_000;
/** Calls that wait for the one that runs; who was called so often needs no further one. */
const MOST_WAITING = 8;
/** Characters of a call: what a desktop shows. */
const MAX_TEXT = 500;
/** Characters of its stderr that a failure repeats. */
const MAX_WORDS = 300;

/** Runs the command of `teams.notify`, one at a time, in the order of the calls. One that fails is a line in the pane. */
export function notifier(options: NotifierOptions): Notifier {
  const { settings, ref, agent, env, problem } = options;
  const closing = new AbortController();
  const waiting: string[] = [];
  let isRunning = false;
  let failed: string | undefined;
  const call = async (text: string): Promise<void> => {
    const setting = settings().teams.notify;
    if (setting === undefined) return;
    const why = await runOnce(commandOf(setting, text), text, options, closing.signal);
    if (why === undefined || closing.signal.aborted || failed === JSON.stringify(setting)) return;
    failed = JSON.stringify(setting);
    problem(`nobody was called by teams.notify: ${why}`);
  };
  const work = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) await call(text);
    isRunning = false;
  };
  return {
    tell(what, whom) {
      if (closing.signal.aborted || settings().teams.notify === undefined) return;
      // What is left open there is told by the lead's own process.
      if (whom === "lead" && agent !== LEAD_NAME && isLed({ ref })) return;
      if (waiting.length === MOST_WAITING) return;
      const text = redactText(`Team ${ref.team}: ${what}`, secretsOf(env));
      waiting.push(gridText(text).slice(0, MAX_TEXT));
      void work();
    },
    close: () => closing.abort(),
  };
}

/** The text is an argument in either form, and never part of what a shell reads. It begins with a word, so that it is no option. */
function commandOf(setting: string | readonly string[], text: string): readonly string[] {
  return typeof setting === "string" ? ["sh", "-c", setting, "teams", text] : [...setting, text];
}

/** @returns why it did not do what it is for; undefined when it did. Never rejects. */
async function runOnce(
  [file = "", ...args]: readonly string[],
  text: string,
  { settings, ref, agent, cwd, env }: NotifierOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { env: given, teams } = settings();
  const all = { ...env, ...given };
  let said = "";
  const command = {
    cwd,
    env: { ...withoutModelCredentials(all, teams.passSecrets), TEAMS_TEAM: ref.team },
    input: JSON.stringify({ team: ref.team, agent, text }),
    timeoutMs: TIMEOUT_MS,
    signal,
    onOutput: (stream: "stdout" | "stderr", bytes: Buffer) => {
      if (stream === "stderr" && said.length < MAX_WORDS) said += bytes.toString("utf8");
    },
  };
  try {
    const { code, signal: ended, failure, message } = await runCommandGroup(file, args, command);
    if (failure === "timed-out") return `it was not done within ${TIMEOUT_MS / 1000} s`;
    if (failure !== undefined) return message ?? "it was not started";
    if (code === 0) return undefined;
    const words = gridText(redactText(said, secretsOf(all))).slice(0, MAX_WORDS);
    return [ended ?? `exit code ${code}`, words].filter((part) => part !== "").join(": ");
  } catch (error) {
    // Words that no system takes, as with a NUL in them.
    return messageOf(error);
  }
}
