import { TeamError } from "../../errors.ts";
import { steadyNow } from "../../os/clock.ts";
import type { Task } from "../../schema/task.ts";
import { readableTask } from "../../team/tasks/tasks.ts";
import { needsVerify, verifiedIds } from "../../team/tasks/verify-record.ts";
import type { OperationContext } from "../context.ts";
import { Retries } from "./retries.ts";
import { notifyTask } from "./task-notifications.ts";

interface MissedOptions {
  /** Proves a task; see `operations/verify/verify-task.ts`. */
  readonly verify: (task: Task, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
  readonly onProblem: (message: string) => void;
  /** Milliseconds of a steady clock. */
  readonly now?: () => number;
}

/** A verification that failed for another reason than its command. */
interface FailedAttempt {
  readonly retries: Retries;
  /** When it may be repeated, by the steady clock. */
  readonly nextAt: number;
}

/**
 * Runs the verify commands of tasks that another program completed: it writes the task's file itself, so our code learns of it
 * afterwards. A failure reopens the task. Runs them in the background, since they may take minutes. An attempt that cannot run the
 * command, for example with invalid settings, is repeated after a pause: it changes files, and each change wakes the caller.
 */
export class MissedVerifies {
  readonly #ctx: OperationContext;
  readonly #options: MissedOptions;
  readonly #running = new Map<string, Promise<void>>();
  readonly #failed = new Map<string, FailedAttempt>();

  constructor(ctx: OperationContext, options: MissedOptions) {
    this.#ctx = ctx;
    this.#options = options;
  }

  /** Starts the missed verifications. Reads no task if no command is confirmed. */
  check(): void {
    const { ref } = this.#ctx;
    const { now = steadyNow } = this.#options;
    for (const id of verifiedIds(ref)) {
      if (this.#running.has(id) || now() < (this.#failed.get(id)?.nextAt ?? 0)) continue;
      const task = readableTask(ref, id);
      if (task?.status !== "completed" || !needsVerify(ref, task)) continue;
      const ended = this.#verify(task).finally(() => this.#running.delete(id));
      this.#running.set(id, ended);
    }
  }

  /** Waits until all runs have ended. Abort the signal first. */
  async end(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  async #verify(task: Task): Promise<void> {
    const { verify, signal, onProblem, now = steadyNow } = this.#options;
    const { id } = task;
    const { retries } = this.#failed.get(id) ?? {
      retries: new Retries((why) => onProblem(`Task #${id} could not be verified: ${why}`)),
    };
    try {
      await verify(task, signal);
      await notifyTask(this.#ctx, id);
      this.#failed.delete(id);
    } catch (error) {
      const isKnown = error instanceof TeamError && EXPECTED.has(error.code);
      if (isKnown) this.#failed.delete(id);
      else this.#failed.set(id, { retries, nextAt: now() + retries.failed(error) });
    }
  }
}

/** The owner has been notified, the run continues elsewhere or later, or the task is gone. */
const EXPECTED: ReadonlySet<string> = new Set([
  "VERIFY_FAILED",
  "TASK_CLAIMED",
  "INTERRUPTED",
  "TASK_NOT_FOUND",
  "TEAM_NOT_FOUND",
]);
