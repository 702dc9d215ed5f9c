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
  /** The agent that waits, or whose lead does. */
  readonly agent: string;
  readonly cwd: string;
  readonly env: Env;
  /** Reports why a notification failed, once per value of the setting. */
  problem(text: string): void;
}

/** Milliseconds for the command, which only shows or sends a line. */
const TIMEOUT_MS = 10_000;
/** Queued notifications; further ones are dropped. */
const MAX_WAITING = 8;
/** Characters of a notification: as many as a desktop shows. */
const MAX_TEXT = 500;
/** Characters of the command's stderr in the text of a failure. */
const MAX_STDERR = 300;

/** Runs the command of `teams.notify` for each notification, one at a time and in order. Reports a failure by `problem`. */
export function createNotifier(options: NotifierOptions): Notifier {
  const { settings, ref, agent, env, problem } = options;
  const closing = new AbortController();
  const waiting: string[] = [];
  let isRunning = false;
  let failed: string | undefined;
  const runCommand = async (text: string): Promise<void> => {
    const setting = settings().teams.notify;
    if (setting === undefined) return;
    const why = await runNotifyCommand(commandOf(setting, text), text, options, closing.signal);
    if (why === undefined || closing.signal.aborted || failed === JSON.stringify(setting)) return;
    failed = JSON.stringify(setting);
    problem(`teams.notify failed, you were not notified: ${why}`);
  };
  const runQueue = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    try {
      for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) await runCommand(text);
    } catch (error) {
      // No caller waits for the queue.
      problem(`teams.notify failed, you were not notified: ${messageOf(error)}`);
    } finally {
      isRunning = false;
    }
  };
  return {
    notify(reason, by) {
      if (closing.signal.aborted || settings().teams.notify === undefined) return;
      // The running lead answers first, and notifies the user of what it leaves open.
      if (by === "lead" && agent !== LEAD_NAME && isLed({ ref })) return;
      if (waiting.length === MAX_WAITING) return;
      const text = redactText(`Team ${ref.team}: ${reason}`, secretsOf(env));
      waiting.push(gridText(text).slice(0, MAX_TEXT));
      void runQueue();
    },
    close: () => closing.abort(),
  };
}

/** Passes the text as an argument, never as shell code. The text begins with a word, so it is not read as an option. */
function commandOf(setting: string | readonly string[], text: string): readonly string[] {
  return typeof setting === "string" ? ["sh", "-c", setting, "teams", text] : [...setting, text];
}

/** @returns why the command failed; undefined if it succeeded. Never rejects. */
async function runNotifyCommand(
  [file = "", ...args]: readonly string[],
  text: string,
  { settings, ref, agent, cwd, env }: NotifierOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { env: settingsEnv, teams } = settings();
  const all = { ...env, ...settingsEnv };
  let stderr = "";
  const command = {
    cwd,
    env: { ...withoutModelCredentials(all, teams.passSecrets), TEAMS_TEAM: ref.team },
    input: JSON.stringify({ team: ref.team, agent, text }),
    timeoutMs: TIMEOUT_MS,
    signal,
    onOutput: (stream: "stdout" | "stderr", bytes: Buffer) => {
      if (stream === "stderr" && stderr.length < MAX_STDERR) stderr += bytes.toString("utf8");
    },
  };
  try {
    const { code, signal: ended, failure, message } = await runCommandGroup(file, args, command);
    if (failure === "timed-out") return `it did not end within ${TIMEOUT_MS / 1000} s`;
    if (failure !== undefined) return message ?? "it did not start";
    if (code === 0) return undefined;
    const shown = gridText(redactText(stderr, secretsOf(all))).slice(0, MAX_STDERR);
    return [ended ?? `exit code ${code}`, shown].filter((part) => part !== "").join(": ");
  } catch (error) {
    // Arguments that no system accepts, for example with a NUL.
    return messageOf(error);
  }
}
