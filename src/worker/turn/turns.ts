import { steadyNow } from "../../os/clock.ts";
import { newUuid } from "../../os/uuid.ts";
import { shownProse } from "../../protocol/render.ts";
import { isTyped } from "../../schema/inbox.ts";
import type { InboxEntry } from "../../team/mailbox/receive.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { BudgetWait } from "../gates/budget.ts";
import type { IdleHook } from "../gates/idle-hook.ts";
import type { PlanApproval } from "../gates/plan-approval.ts";
import type { Questions } from "../gates/questions.ts";
import type { LazyAgent } from "../lazy-agent.ts";
import type { WorkerLifecycle } from "../lifecycle.ts";
import type { EventRecorder } from "../reports/agent-activity.ts";
import type { TeamNotifications } from "../reports/team-reports.ts";
import type { WorkerEvent } from "../states.ts";
import type { StatusKeeper } from "../status-record.ts";
import type { Queue, ShutdownRequests, TurnMaterial } from "../turn-queue.ts";
import type { WorkerView } from "../view.ts";
import { idleReason, type TurnSummary, type WorkSinceIdle } from "./idle-notice.ts";
import {
  endsWithPlan,
  GIVEN_UP,
  hasConversation,
  interruptedTurn,
  shutdownReadIn,
} from "./interrupted-turn.ts";
import { composeTurn } from "./turn-input.ts";

interface TurnEndOptions {
  readonly role: "teammate" | "lead";
  readonly queue: Queue;
  readonly work: WorkSinceIdle;
  readonly reports: TeamNotifications;
  readonly events: EventRecorder;
  readonly status: StatusKeeper;
  readonly view: WorkerView;
  readonly life: Pick<WorkerLifecycle, "goesOn" | "isCut">;
  readonly plan: Pick<PlanApproval, "isWaiting">;
  readonly questions: Pick<Questions, "isOpen">;
  readonly budget: Pick<BudgetWait, "look">;
  readonly agent: Pick<LazyAgent, "inBackground">;
}

/** What follows from the end of a turn: whether the agent rests, and who hears of it. */
class TurnEnd {
  readonly #options: TurnEndOptions;
  #text = "";
  #failure: string | undefined;
  #interrupted = false;
  /** Whether it may rest when nothing is left to do; set with the agent, since it needs the settings. */
  rest: IdleHook | undefined;

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

interface TurnsOptions extends TurnEndOptions {
  readonly ref: TeamRef;
  readonly name: string;
  /** The file of its conversation. */
  readonly transcript: string;
  readonly plan: PlanApproval;
  readonly budget: BudgetWait;
  readonly shutdowns: ShutdownRequests;
  readonly agent: LazyAgent;
  /** What it is to know before it reads the input of a turn. */
  news(): string | undefined;
}

/** Runs the turns of a worker, one at a time, and knows the one that runs. */
export class Turns {
  /** What follows from the end of each. */
  readonly end: TurnEnd;
  readonly #options: TurnsOptions;
  #ends: AbortController | undefined;
  #keys: readonly string[] = [];

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.end = new TurnEnd(options);
  }

  get isRunning(): boolean {
    return this.#ends !== undefined;
  }

  /** Of the messages that the running turn began with. */
  get keys(): readonly string[] {
    return this.#keys;
  }

  /** Ends the running turn at once. @returns whether there is one */
  stop(reason: unknown): boolean {
    this.#ends?.abort(reason);
    return this.#ends !== undefined;
  }

  /** Ends first what an earlier process was killed in: who sent it has been told that it was delivered. */
  async goOn(): Promise<void> {
    const { ref, name, view, status, transcript, reports, plan, shutdowns, budget } = this.#options;
    if (!hasConversation(transcript)) return;
    // Before the inbox is read, which may hold the verdict.
    plan.takeUp();
    // Whoever looks at the state sees no idle agent before it is known to be one.
    status.happened("turn_started", "looks at what it was doing");
    const agent = await this.#options.agent.get();
    const cut = interruptedTurn(ref, name, agent);
    const waits = endsWithPlan(agent.messages);
    await reports.guarded(() => plan.goOn(waits));
    if (cut === undefined) {
      return status.happened("turn_ended", plan.isWaiting ? undefined : "");
    }
    const { restoredKeys: keys } = agent;
    const shutdown = shutdownReadIn(agent.messages);
    if (shutdown !== undefined) shutdowns.asked(shutdown);
    budget.turnBegins(shutdown !== undefined);
    view.note("continues the turn in which its process ended");
    status.happened("turn_started", "continues what it was doing", keys.length);
    await this.#inTurn({ keys, messages: keys.length }, async (signal) => {
      // It had nothing more to do than to be over.
      if (waits) return { outcome: "completed", text: "", toolCalls: 0 };
      if (cut === "given-up") {
        view.error(GIVEN_UP);
        return { outcome: "failed", failure: GIVEN_UP, text: "", toolCalls: 0 };
      }
      await reports.progress(keys, "turn_started");
      return agent.resumeTurn(signal);
    });
  }

  async run(material: TurnMaterial): Promise<void> {
    const { view, status, budget } = this.#options;
    const { entries, ended } = material;
    const composed = composeTurn(material);
    // One that no message begins has a key of its own: by that it is gone on with, like any other.
    const input = composed.keys.length > 0 ? composed : { ...composed, keys: [newUuid()] };
    budget.turnBegins(entries.some(({ protocol }) => protocol?.type === "shutdown_request"));
    this.end.rest?.began(entries.length === 0 && ended.length === 0);
    const received = entries.filter(({ message }) => !isTyped(message));
    await this.#inTurn({ keys: input.keys, messages: received.length }, async (signal) => {
      for (const entry of received) this.#showReceived(entry);
      for (const { what, how } of ended) view.note(`ended in the background: ${what}: ${how}`);
      for (const { message } of entries) if (isTyped(message)) view.typed(message.text);
      status.happened("turn_started", `reads: ${input.origin.text}`, entries.length);
      const agent = await this.#options.agent.get();
      const news = this.#options.news();
      return agent.run(news === undefined ? input : { ...input, text: `${news}\n\n${input.text}` }, signal);
    });
  }

  #showReceived({ message, protocol }: InboxEntry): void {
    const text = protocol === undefined ? message.text : shownProse(protocol);
    this.#options.view.received(message.from, text, message.color);
  }

  /** A turn of these messages, unless the team is gone, and what comes of its end. */
  async #inTurn(
    { keys, messages }: { readonly keys: readonly string[]; readonly messages: number },
    act: (signal: AbortSignal) => Promise<TurnSummary>,
  ): Promise<void> {
    const { reports, plan, life } = this.#options;
    await reports.works(plan.modeGiven);
    if (!life.goesOn) return;
    const ends = new AbortController();
    this.#ends = ends;
    this.#keys = keys;
    try {
      const result = await this.#recorded(messages, () => act(ends.signal));
      await this.end.of(result, keys, ends.signal);
    } finally {
      this.#ends = undefined;
      this.#keys = [];
    }
  }

  async #recorded(messages: number, act: () => Promise<TurnSummary>): Promise<TurnSummary> {
    const { events } = this.#options;
    const begun = steadyNow();
    events.record({ type: "agent", what: "turn_started", messages });
    const result = await act();
    const ms = Math.round(steadyNow() - begun);
    const { outcome, toolCalls } = result;
    events.record({ type: "agent", what: "turn_ended", outcome, toolCalls, ms });
    return result;
  }
}
