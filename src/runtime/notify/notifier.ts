import { messageOf } from "../../errors.ts";
import { isLed } from "../../operations/supervision/reconcile.ts";
import type { Clock } from "../../os/clock.ts";
import { redactText, secretsOf } from "../../os/redact.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import { gridText } from "../../text/terminal-text.ts";
import type { LongRunningProgram } from "./long-running-program.ts";
import type { NotifyPlace } from "./notify-place.ts";
import type { Notifier } from "./notifying-view.ts";
import { runNotifyCommand } from "./run-command.ts";

interface NotifierOptions extends NotifyPlace {
  readonly clock: Clock;
  /** Milliseconds before each restart of a long-running program; by default a few growing delays. */
  readonly restartMs?: readonly number[];
  /** Reports why a notification failed, once per value of the setting. */
  problem(text: string): void;
}

/** Maximum queued notifications; later ones are dropped. */
const MAX_WAITING = 8;
/** Maximum characters of a notification: as many as a desktop shows. */
const MAX_TEXT = 500;

interface Waiting {
  readonly text: string;
  readonly request: string | undefined;
}

/**
 * Delivers notifications by `teams.notify`, in order: runs a command for each, or passes them to one long-running program, whose
 * answers count. Reports a failure by `problem`.
 */
export function createNotifier(options: NotifierOptions): Notifier {
  const { settings, ref, agent, env, problem } = options;
  const closing = new AbortController();
  const waiting: Waiting[] = [];
  let isRunning = false;
  let failed: string | undefined;
  let running: { readonly key: string; readonly program: LongRunningProgram } | undefined;
  const programFor = async (words: string | readonly string[]): Promise<LongRunningProgram> => {
    const key = JSON.stringify(words);
    if (running?.key !== key) {
      await running?.program.close();
      const { LongRunningProgram: Program } = await import("./long-running-program.ts");
      running = { key, program: new Program(words, options) };
    }
    return running.program;
  };
  const deliver = async ({ text, request }: Waiting): Promise<void> => {
    const setting = settings().teams.notify;
    if (setting === undefined) return;
    if (typeof setting === "object" && !Array.isArray(setting)) {
      const program = await programFor(setting.program);
      if (closing.signal.aborted) await program.close();
      else await program.announce(text, request);
      return;
    }
    const why = await runNotifyCommand(setting, text, options, closing.signal);
    if (why === undefined || closing.signal.aborted || failed === JSON.stringify(setting)) return;
    failed = JSON.stringify(setting);
    problem(`teams.notify failed, so you were not notified: ${why}`);
  };
  const runQueue = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      // No caller waits for the queue, and the next notification may succeed.
      await deliver(next).catch((error: unknown) =>
        problem(`teams.notify failed, so you were not notified: ${messageOf(error)}`),
      );
    }
    isRunning = false;
  };
  return {
    notify(reason, by, request) {
      if (closing.signal.aborted || settings().teams.notify === undefined) return;
      // The running lead answers first, and notifies the user of requests that it leaves open.
      if (by === "lead" && agent !== LEAD_NAME && isLed({ ref })) return;
      if (waiting.length === MAX_WAITING) return;
      const text = redactText(`Team ${ref.team}: ${reason}`, secretsOf(env));
      waiting.push({ text: shortened(gridText(text), MAX_TEXT), request });
      void runQueue();
    },
    close: async () => {
      closing.abort();
      await running?.program.close();
    },
  };
}
