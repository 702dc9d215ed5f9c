import type { AgentOnce } from "./agent-once.ts";
import type { BudgetPause } from "./budget-pause.ts";
import { idleReason, type TurnSummary, type WorkSinceIdle } from "./idle-notice.ts";
import type { Life } from "./life.ts";
import type { OwnEvents } from "./own-events.ts";
import type { PlanGate } from "./plan-gate.ts";
import type { Questions } from "./questions.ts";
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
  readonly life: Pick<Life, "goesOn" | "isCut">;
  readonly plan: Pick<PlanGate, "isWaiting">;
  readonly questions: Pick<Questions, "isOpen">;
  readonly budget: Pick<BudgetPause, "look">;
  readonly agent: Pick<AgentOnce, "inBackground">;
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
    const { status, role, view, reports, events, queue, work, life, plan, budget, agent } = this.#options;
    this.#keep(result);
    // The next process goes on with it.
    if (result.outcome === "interrupted" && life.isCut) return;
    const { goesOn } = life;
    // A lead has nothing to say to most notices.
    if (role === "teammate" && saidNothing(result) && !plan.isWaiting) view.note("said nothing");
    // What its last call cost is told with its end.
    await budget.look();
    work.add(result);
    const isDone = (): boolean => goesOn && !plan.isWaiting && queue.isEmpty;
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
    const behind = agent.inBackground;
    // Before it says that it rests: nobody takes it for done.
    status.leaves(behind);
    status.happened(this.#how(), behind === 0 ? "" : `${behind} in the background`);
    if (!goesIdle) return;
    events.record({ type: "idle", reason: idleReason(result.outcome) });
    if (role === "teammate") view.idle();
    await reports.rests();
  }

  #how(): WorkerEvent {
    if (this.#options.questions.isOpen) return "turn_ended_asking";
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
