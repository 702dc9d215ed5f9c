import type { TeamRef } from "../team/ref.ts";
import { Rings } from "../wakeup/rings.ts";
import { BudgetGate } from "./budget-gate.ts";
import type { Life } from "./life.ts";
import type { OwnEvents } from "./own-events.ts";
import type { Queue } from "./queue.ts";
import type { StatusKeeper } from "./status-keeper.ts";
import type { TeamReports } from "./team-reports.ts";
import type { WorkerView } from "./view.ts";

export interface BudgetPauseOptions {
  readonly ref: TeamRef;
  readonly name: string;
  readonly reports: Pick<TeamReports, "guarded">;
  readonly events: OwnEvents;
  readonly status: StatusKeeper;
  readonly view: WorkerView;
  /** Ends whoever waits. */
  readonly signal: AbortSignal;
  readonly life: Pick<Life, "goesOn">;
  readonly queue: Pick<Queue, "hasShutdown">;
  isInTurn(): boolean;
}

/** Calls of the model that an agent without a budget has to answer a shutdown request: its tool, and a last word. */
const MOST_OVERDRAWN = 3;
/** Longest wait for more of a budget until the next look, in milliseconds: the net for a ring that was lost. */
const LOOK_AGAIN = 10_000;

/** Stops an agent before the call of a model that there is no budget for, and lets it go on once there is more. */
export class BudgetPause {
  readonly #options: BudgetPauseOptions;
  readonly #gate: BudgetGate;
  /** Rings for whoever waits for more: an agent and its subagents do so side by side. */
  readonly #more = new Rings(() => undefined);
  #isOn = false;
  /** Calls that the turn that runs may still have whatever the budget is. */
  #overdraft = 0;

  constructor(options: BudgetPauseOptions) {
    this.#options = options;
    this.#gate = new BudgetGate(options.ref, options.name, (text) => options.view.waiting(text));
  }

  /** Whether the agent stands for want of a budget. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** A turn begins. @param answersShutdown it reads a shutdown request, whose answer may be paid whatever the budget is */
  turnBegins(answersShutdown: boolean): void {
    this.#overdraft = answersShutdown ? MOST_OVERDRAWN : 0;
  }

  /** Looks at what was spent, and tells what there is to tell of it. @returns whether nothing is left */
  async look(): Promise<boolean> {
    let isOut = false;
    await this.#options.reports.guarded(async () => {
      isOut = (await this.#gate.look()) !== undefined;
    });
    return isOut;
  }

  /** @param isDue something waits for a turn @returns whether it has to wait for a budget */
  async holdsBack(isDue: boolean): Promise<boolean> {
    if (isDue && !this.#mustMakeWay && (await this.look())) {
      this.#pause();
      return true;
    }
    this.#goOn();
    return false;
  }

  /**
   * Ends once the model may be called. Where a budget is spent, the turn stands here until there is more; a shutdown that is
   * asked for meanwhile is next.
   * @param signal of the turn: one that was interrupted waits for nothing
   */
  async beforeCall(signal: AbortSignal): Promise<"go" | "stop"> {
    const stops = AbortSignal.any([signal, this.#options.signal]);
    while (await this.look()) {
      if (signal.aborted) return "go";
      if (this.#overdraft > 0) {
        this.#overdraft -= 1;
        return "go";
      }
      if (this.#mustMakeWay) return "stop";
      this.#pause();
      await this.#more.wait({ signal: stops, timeoutMs: LOOK_AGAIN });
    }
    this.#goOn();
    return "go";
  }

  /** Another agent has told of a budget. @param event its message's id */
  hear(event: string, text: string): void {
    this.#gate.hear(event, text);
  }

  /** Something changed that may let it go on, or make way. */
  ring(): void {
    this.#more.ring();
  }

  /** Whether the turn that stands has to make way: the agent ends, or a shutdown is asked for. */
  get #mustMakeWay(): boolean {
    const { life, queue } = this.#options;
    return !life.goesOn || queue.hasShutdown;
  }

  #pause(): void {
    const { status, events } = this.#options;
    // Also where one of several that work side by side is what stands last.
    if (status.state !== "paused") status.happened("budget_spent", "its budget is spent");
    if (this.#isOn) return;
    this.#isOn = true;
    events.record({ type: "agent", what: "paused" });
  }

  #goOn(): void {
    if (!this.#isOn) return;
    this.#isOn = false;
    const { status, events, view, isInTurn } = this.#options;
    status.happened(isInTurn() ? "went_on" : "turn_ended", "");
    events.record({ type: "agent", what: "went_on" });
    view.note("there is budget again");
  }
}
