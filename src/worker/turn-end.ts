import { idleReason, type TurnSummary, type WorkSinceIdle } from "./idle-notice.ts";
import type { OwnEvents } from "./own-events.ts";
import type { Queue } from "./queue.ts";
import type { RestGate } from "./rest-gate.ts";
import type { WorkerEvent } from "./states.ts";
import type { StatusKeeper } from "./status-keeper.ts";
import type { TeamReports } from "./team-reports.ts";
import type { WorkerView } from "./view.ts";

export interface TurnEndOptions {
  readonly role: "teammate" | "lead";
  readonly queue: Queue;
  readonly work: WorkSinceIdle;
  readonly reports: TeamReports;
  readonly events: OwnEvents;
  readonly status: StatusKeeper;
  readonly view: WorkerView;
  /** Whether the worker goes on behind this turn. */
  goesOn(): boolean;
  /** Whether the turn is not over with its end: the next process goes on with it. */
  isCut(): boolean;
  /** Whether a plan of its waits for a verdict. */
  isPlanOpen(): boolean;
  /** Whether a question of its waits for a person. */
  isQuestionOpen(): boolean;
  /** Tells what the budget is by now. */
  lookAtBudget(): Promise<unknown>;
  /** How much it runs in the background. */
  inBackground(): number;
}

/** What follows from the end of a turn: whether the agent rests, and who hears of it. */
export class TurnEnd {
  readonly #options: TurnEndOptions;
  #text = "";
  #failure: string | undefined;
  #interrupted = false;
  /** Whether it may rest when nothing is left to do; set with the agent, since it needs the settings. */
  rest: RestGate | undefined;

  constructor(options: TurnEndOptions) {
    this.#options = options;
  }

  /** Last words of the newest turn that had any. */
  get text(): string {
    return this.#text;
  }

  /** Why the newest turn failed; undefined when it did not. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** The newest turn was ended by somebody. */
  get wasInterrupted(): boolean {
    return this.#interrupted;
  }

  /** @param keys of the turn's messages @param signal ends the hooks that are asked */
  async of(result: TurnSummary, keys: readonly string[], signal: AbortSignal): Promise<void> {
    const { status, role, view, reports, events, queue, work } = this.#options;
    this.#keep(result);
    if (result.outcome === "interrupted" && this.#options.isCut()) return;
    const goesOn = this.#options.goesOn();
    // A lead has nothing to say to most notices.
    if (role === "teammate" && saidNothing(result) && !this.#options.isPlanOpen()) view.note("said nothing");
    // What its last call cost is told with its end.
    await this.#options.lookAtBudget();
    if (goesOn) work.add(result);
    const isDone = (): boolean => goesOn && !this.#options.isPlanOpen() && queue.isEmpty;
    if (isDone() && result.outcome === "completed") {
      const sentOn = await this.rest?.ask(signal);
      if (sentOn !== undefined) queue.remark(sentOn);
    }
    const goesIdle = isDone();
    // The notice before the rest: whoever sees the turn done, or it idle, finds what it had to say already delivered.
    const notice = goesIdle && role === "teammate" ? work.notice() : undefined;
    if (notice !== undefined) await reports.idle(notice, keys);
    await reports.progress(keys, "done");
    if (!goesOn) return;
    const behind = this.#options.inBackground();
    // Before it says that it rests: nobody takes it for done.
    status.leaves(behind);
    status.happened(this.#how(), behind === 0 ? "" : `${behind} in the background`);
    if (!goesIdle) return;
    events.record({ type: "idle", reason: idleReason(result.outcome) });
    if (role === "teammate") view.idle();
    await reports.rests();
  }

  #how(): WorkerEvent {
    if (this.#options.isQuestionOpen()) return "turn_ended_asking";
    return this.#interrupted ? "turn_interrupted" : "turn_ended";
  }

  #keep({ outcome, text, failure }: TurnSummary): void {
    if (text !== "") this.#text = text;
    this.#interrupted = outcome === "interrupted";
    this.#failure = outcome === "failed" ? (failure ?? "The model call failed.") : undefined;
  }
}

function saidNothing({ outcome, text, toolCalls }: TurnSummary): boolean {
  return outcome === "completed" && text === "" && toolCalls === 0;
}
