import { ProcessEndingAbort } from "../agent/turn/turn-abort.ts";
import type { RunningTurn } from "./turn/running-turn.ts";

/** Why the loop of a worker ended. */
export type WorkerEnd = "shutdown" | "team-gone" | "over" | "stopped";

interface LifecycleOptions {
  readonly role: "teammate" | "lead";
  /** Ends the worker from outside. */
  readonly signal: AbortSignal;
  readonly runningTurn: RunningTurn;
  readonly wake: WakeSignal;
}

/** Whether a worker continues, and how its end affects the running turn. The first reason to end counts. */
export class WorkerLifecycle {
  readonly #options: LifecycleOptions;
  #end: WorkerEnd | undefined;
  #hasLeftTeam = false;

  constructor(options: LifecycleOptions) {
    this.#options = options;
  }

  get end(): WorkerEnd | undefined {
    return this.#end;
  }

  get isRunning(): boolean {
    return this.#end === undefined;
  }

  /** Whether a teammate's process ends, other than by the user's Ctrl-C: the next process resumes its turn. */
  get isProcessEnding(): boolean {
    const { role, signal } = this.#options;
    return role === "teammate" && this.#end === "stopped" && signal.reason !== "SIGINT";
  }

  stop(end: WorkerEnd): void {
    const { role, runningTurn, wake } = this.#options;
    this.#end ??= end;
    // A lead whose team another process has deleted finishes its turn.
    const endsTurn = end === "stopped" || (end === "team-gone" && role === "teammate");
    if (this.isProcessEnding) runningTurn.abort(new ProcessEndingAbort());
    else if (endsTurn) runningTurn.interrupt();
    wake.set();
  }

  /** Ends the worker, unless it has deleted its team itself. */
  teamGone(): void {
    if (!this.#hasLeftTeam) this.stop("team-gone");
  }

  /** A lead deletes its team, and continues without one or with the next. */
  leaveTeam(): void {
    this.#hasLeftTeam = true;
  }

  joinTeam(): void {
    this.#hasLeftTeam = false;
  }
}

/** Wakes one waiter, and remembers a signal that came before the wait. Several signals wake it once. */
export interface WakeSignal {
  set(): void;
  /** Returns at once if it was set since the last wait, else at the next `set` or the abort. */
  wait(signal: AbortSignal): Promise<void>;
}

export function createWakeSignal(): WakeSignal {
  let isSet = false;
  let wake: (() => void) | undefined;
  return {
    set() {
      isSet = true;
      wake?.();
    },
    async wait(signal) {
      if (!isSet && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const done = (): void => {
            signal.removeEventListener("abort", done);
            wake = undefined;
            resolve();
          };
          wake = done;
          signal.addEventListener("abort", done);
        });
      }
      isSet = false;
    },
  };
}
