import { ProcessEndingAbort } from "../agent/turn/turn-abort.ts";

/** Why a worker ended by itself. */
export type WorkerEnd = "shutdown" | "team-gone" | "over" | "stopped";

export interface LifeOptions {
  readonly role: "teammate" | "lead";
  /** Ends the worker from outside. */
  readonly signal: AbortSignal;
  /** Ends the turn that runs, if one does. */
  endTurn(reason: unknown): void;
  /** Told that it is about to end. */
  ends(): void;
}

/** Why a turn is ended that the agent does not go on with. */
export const interruption = (): DOMException => new DOMException("interrupted", "AbortError");

/** Whether a worker goes on, and what its end does to the turn that runs: the first reason to end is the one that counts. */
export class WorkerLifecycle {
  readonly #options: LifeOptions;
  #end: WorkerEnd | undefined;
  /** It has deleted its team itself. */
  #hasLeft = false;

  constructor(options: LifeOptions) {
    this.#options = options;
  }

  get end(): WorkerEnd | undefined {
    return this.#end;
  }

  get goesOn(): boolean {
    return this.#end === undefined;
  }

  /** Whether its process is ended, and not by the person who looks at it: a turn of a teammate is not over with that. */
  get isCut(): boolean {
    const { role, signal } = this.#options;
    return role === "teammate" && this.#end === "stopped" && signal.reason !== "SIGINT";
  }

  stop(end: WorkerEnd): void {
    this.#end ??= end;
    // A lead whose team somebody else has deleted says what it was about to say.
    const saysOn = end === "team-gone" && this.#options.role === "lead";
    if (this.isCut) this.#options.endTurn(new ProcessEndingAbort());
    else if (end === "stopped" || (end === "team-gone" && !saysOn)) this.#options.endTurn(interruption());
    this.#options.ends();
  }

  /** Its team is not there any more. */
  teamGone(): void {
    if (!this.#hasLeft) this.stop("team-gone");
  }

  /** It deletes its team, as its lead: it says its result without one, or makes another. */
  leaveTeam(): void {
    this.#hasLeft = true;
  }

  joinTeam(): void {
    this.#hasLeft = false;
  }
}

/** Remembers that something happened until somebody has waited for it; many causes make one waking. */
export interface WakeSignal {
  set(): void;
  /** Ends at once when it was set since the last wait, else at the next `set` or the abort. */
  wait(signal: AbortSignal): Promise<void>;
}

export function createLatch(): WakeSignal {
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
