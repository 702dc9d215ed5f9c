import { TeamError } from "../../errors.ts";
import { pause } from "../../os/clock.ts";
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
}

/**
 * Runs the verify commands of tasks that another program completed: it writes the task's file itself, so our code learns of it
 * afterwards. A failure reopens the task. Runs them in the background, since they may take minutes.
 */
export class MissedVerifies {
  readonly #ctx: OperationContext;
  readonly #options: MissedOptions;
  readonly #running = new Map<string, Promise<void>>();

  constructor(ctx: OperationContext, options: MissedOptions) {
    this.#ctx = ctx;
    this.#options = options;
  }

  /** Starts the missed verifications. Reads no task if no command is confirmed. */
  check(): void {
    for (const id of verifiedIds(this.#ctx.ref)) {
      if (this.#running.has(id) || this.#missed(id) === undefined) continue;
      const ended = this.#verify(id).finally(() => this.#running.delete(id));
      this.#running.set(id, ended);
    }
  }

  /** Waits until all runs have ended. Abort the signal first. */
  async end(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  /** Returns a task that is completed and not verified; undefined if there is none (any more). */
  #missed(id: string): Task | undefined {
    const { ref } = this.#ctx;
    const task = readableTask(ref, id);
    return task?.status === "completed" && needsVerify(ref, task) ? task : undefined;
  }

  /**
   * Verifies a task. An attempt that cannot run the command, for example with invalid settings, is repeated after a pause: it
   * changes files, and each change wakes the caller.
   */
  async #verify(id: string): Promise<void> {
    const { verify, signal, onProblem } = this.#options;
    const retries = new Retries((why) => onProblem(`Task #${id} could not be verified: ${why}`));
    for (;;) {
      try {
        const task = this.#missed(id);
        if (task === undefined) return;
        await verify(task, signal);
        await notifyTask(this.#ctx, id);
        return;
      } catch (error) {
        if (error instanceof TeamError && EXPECTED.has(error.code)) return;
        if ((await pause(retries.failed(error), signal)) === "aborted") return;
      }
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
