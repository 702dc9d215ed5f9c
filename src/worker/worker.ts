import type { Agent } from "../agent/agent.ts";
import type { TaskNotice } from "../agent/background.ts";
import type { AgentEvent } from "../agent/events.ts";
import type { PermissionAnswer, PermissionAsk } from "../agent/permitted-call.ts";
import { TurnCut } from "../agent/turn-cut.ts";
import { messageOf, TeamError } from "../errors.ts";
import { type Clock, steadyNow } from "../os/clock.ts";
import { formatProtocol } from "../protocol/messages.ts";
import { proseOf } from "../protocol/prose.ts";
import { defined } from "../schema/defined.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import { eventId } from "../team/event-id.ts";
import { deliver, type InboxEntry, noteProgress } from "../team/mailbox.ts";
import { patchMember } from "../team/members.ts";
import type { TeamRef } from "../team/ref.ts";
import { closeQuestionsOf } from "../team/requests.ts";
import { noteTurn } from "../team/restarts.ts";
import type { Bell } from "../wakeup/bell.ts";
import { Rings } from "../wakeup/rings.ts";
import { actAtOnce } from "./at-once.ts";
import { BudgetGate } from "./budget-gate.ts";
import { cutTurn, endsWithPlan, GIVEN_UP, hasConversation } from "./cut-turn.ts";
import { idleReason, type TurnSummary, WorkSinceIdle } from "./idle-notice.ts";
import { createLatch } from "./latch.ts";
import { Mail } from "./mail.ts";
import { OwnEvents } from "./own-events.ts";
import { PermissionDesk } from "./permission-desk.ts";
import { PlanGate } from "./plan-gate.ts";
import { Queue, type TurnMaterial } from "./queue.ts";
import type { RestGate } from "./rest-gate.ts";
import type { StatusKeeper } from "./status-keeper.ts";
import { ThrottleNotice } from "./throttle-notice.ts";
import { composeTurn } from "./turn-input.ts";
import type { WorkerView } from "./view.ts";

/** Why a worker ended by itself. */
export type WorkerEnd = "shutdown" | "team-gone" | "over" | "stopped";

export interface WorkerOptions {
  readonly ref: TeamRef;
  readonly name: string;
  readonly color?: string | undefined;
  readonly role: "teammate" | "lead";
  readonly mode: PermissionMode;
  /** Mode after an approved plan that names none. */
  readonly modeAfterPlan: PermissionMode;
  readonly planFile: string;
  /** The file of its conversation: one that an earlier process left is gone on with. */
  readonly transcript: string;
  /** Everything that may ring: its FIFO, the watch of its inbox, the slow check. */
  readonly bell: Bell;
  readonly status: StatusKeeper;
  readonly view: WorkerView;
  readonly clock: Clock;
  /** Ends the worker from outside; a running turn is interrupted. */
  readonly signal: AbortSignal;
  /** Made at the first need: its imports are not on the way to readiness. */
  agent(worker: Worker): Promise<Agent>;
  /**
   * Nothing is left to do: go on waiting, or end. Called again after every waking.
   * @param held unread messages that are no reason to wait: idle notices for the moment when nobody works, and what could
   * not be acted on
   * @param interrupted the newest turn was ended by somebody, who has more to say
   */
  idle?(held: number, interrupted: boolean): Promise<"wait" | "over">;
  /**
   * Whether any teammate is in a turn, or has said what this worker has not seen; a lead's model is not woken by plain words
   * while one is.
   * @param held as for {@link idle}
   */
  othersWork?(held: number): Promise<boolean>;
  /** What code alone does with a message of this type (a lead's side of shutdowns and permissions). */
  onSilent?(entry: InboxEntry): Promise<void>;
}

/** What a call that waits for a permission is refused with, so that the request is answered at once. */
const SHUTDOWN_ASKED = "A shutdown was asked for.";

/** Calls of the model that an agent without a budget has to answer a shutdown request: its tool, and a last word. */
const MOST_OVERDRAWN = 3;
/** Longest wait for more of a budget until the next look, in milliseconds: the net for a ring that was lost. */
const LOOK_AT_BUDGET = 10_000;

/**
 * The loop of a teammate and of a lead that is a model alike: inbox → turn → idle. Tools reach it through the public
 * methods; everything that it acts with is handed in.
 */
export class Worker {
  readonly name: string;
  readonly ref: TeamRef;
  readonly color: string | undefined;
  readonly plan: PlanGate;
  readonly desk: PermissionDesk;
  readonly #options: WorkerOptions;
  readonly #mail: Mail;
  readonly #events: OwnEvents;
  readonly #queue: Queue;
  readonly #budget: BudgetGate;
  /** Rings for whoever waits for more of a budget: its subagents do so side by side. */
  readonly #more = new Rings(() => undefined);
  #waitsForBudget = false;
  /** Calls that the turn that runs may still have whatever the budget is. */
  #overdraft = 0;
  readonly #wake = createLatch();
  readonly #shutdowns = new Set<string>();
  #agent: Promise<Agent> | undefined;
  #made: Agent | undefined;
  /** Whether it may rest when nothing is left to do; set with the agent, since it needs the settings. */
  rest: RestGate | undefined;
  #end: WorkerEnd | undefined;
  #turn: AbortController | undefined;
  #turnKeys: readonly string[] = [];
  readonly #work = new WorkSinceIdle();
  readonly #throttle = new ThrottleNotice();
  #text = "";
  readonly #echoed = new Set<string>();
  #failure: string | undefined;
  #interrupted = false;
  /** Why it cannot work at all. */
  #flaw: { readonly error: unknown } | undefined;

  constructor(options: WorkerOptions) {
    const { ref, name, color, view, status, clock } = options;
    this.#options = options;
    this.name = name;
    this.ref = ref;
    this.color = color;
    this.#events = new OwnEvents(ref, name);
    this.plan = new PlanGate({
      ...options,
      onMode: (mode, before) => this.#events.record({ type: "mode_changed", mode, before }),
    });
    this.desk = new PermissionDesk({
      ref,
      agent: name,
      color,
      isLead: options.role === "lead",
      view,
      status,
      clock,
    });
    this.#queue = new Queue(options.role);
    this.#budget = new BudgetGate(ref, name, (text) => view.waiting(text));
    const { plan, desk } = this;
    const interrupt = (): void => void this.interrupt();
    const parts = defined({ plan, desk, status, view, interrupt, onSilent: options.onSilent });
    this.#mail = new Mail({
      ref,
      agent: name,
      bell: options.bell,
      signal: options.signal,
      handled: async () => (await this.#agentOnce()).handledKeys,
      atOnce: (entry) => actAtOnce(entry, parts),
      arrived: (entries) => this.#arrived(entries),
      teamGone: () => this.#stop("team-gone"),
      problem: (error) => view.error(messageOf(error)),
      rang: () => this.#lookAtBudget(),
    });
  }

  /** Last words of the newest turn: a run's result. */
  get lastText(): string {
    return this.#text;
  }

  /** Why the newest turn failed; undefined when it did not. */
  get lastFailure(): string | undefined {
    return this.#failure;
  }

  /** Works until it is shut down, its team is gone, `idle` says over, or the signal aborts. */
  async run(): Promise<WorkerEnd> {
    const { signal, status } = this.#options;
    const stopped = (): void => this.#stop("stopped");
    signal.addEventListener("abort", stopped);
    if (signal.aborted) stopped();
    status.happened("ready");
    this.#events.record({ type: "agent", what: "started" });
    const mail = this.#mail.run();
    try {
      await this.#loop();
    } finally {
      signal.removeEventListener("abort", stopped);
      this.#options.bell.close();
      await this.#made?.end();
      await mail;
    }
    // Not behind a failure: who saw it begin and finds its process gone says that it crashed.
    status.happened("ended");
    const end = this.#end ?? "stopped";
    this.#events.record({ type: "agent", what: "ended", how: end });
    return end;
  }

  /**
   * A line that a person typed in the pane: the answer to an open question, else a user message.
   * @param echoed the terminal has shown it; where it starts a turn at once, it is not shown again
   */
  async typed(line: string, echoed = false): Promise<void> {
    if (this.desk.isOpen && (await this.desk.typed(line))) return;
    closeQuestionsOf(this.ref, this.name);
    if (echoed && this.#turn === undefined) this.#echoed.add(line);
    this.#queue.type(line);
    if (this.#turn !== undefined) this.#options.view.queued("you");
    this.#wake.set();
  }

  /** Something that the agent runs in the background has ended: a turn, behind the one that runs. */
  taskEnded(notice: TaskNotice): void {
    this.#queue.taskEnded(notice);
    this.#wake.set();
  }

  /** Something outside changed that `idle` looks at, or that answers an open question. */
  lookAgain(): void {
    this.desk.lookForAnswers();
    this.#lookAtBudget();
    this.#wake.set();
  }

  /** Ends the running turn at once; the agent stays. */
  interrupt(): boolean {
    this.#turn?.abort(new DOMException("interrupted", "AbortError"));
    return this.#turn !== undefined;
  }

  /** Called by the agent once a turn's input is in the conversation and on disk. */
  async inputRecorded(): Promise<void> {
    const keys = [...this.#turnKeys];
    if (keys.length === 0) return;
    await this.#mail.recorded(keys);
    await this.#inTeam(() => noteProgress(this.ref, this.name, keys, "turn_started"));
  }

  /** Called by the agent between tool calls: an agreed shutdown ends the turn there, and one that is asked for is next. */
  async betweenTools(): Promise<"go" | "stop"> {
    return this.#end === undefined && !this.#queue.hasShutdown ? "go" : "stop";
  }

  /**
   * Called by the agent before each call of the model: where a budget is spent, the turn stands here until there is more. A
   * shutdown that is asked for meanwhile is next, and its answer may be paid all the same.
   */
  async beforeCall(signal: AbortSignal): Promise<"go" | "stop"> {
    const stops = AbortSignal.any([signal, this.#options.signal]);
    while (await this.#isOutOfBudget()) {
      if (signal.aborted) return "go";
      if (this.#overdraft > 0) {
        this.#overdraft -= 1;
        return "go";
      }
      if (this.#end !== undefined || this.#queue.hasShutdown) return "stop";
      this.#pause();
      await this.#more.wait({ signal: stops, timeoutMs: LOOK_AT_BUDGET });
    }
    this.#goOnSpending();
    return "go";
  }

  async ask(request: PermissionAsk, signal: AbortSignal): Promise<PermissionAnswer> {
    // Asked for before this call: nobody has to be waited for, as with those that were open when it came.
    if (this.#queue.hasShutdown) return { allowed: false, note: SHUTDOWN_ASKED };
    return this.desk.ask(request, signal);
  }

  onEvent(event: AgentEvent): void {
    const { view, status, role } = this.#options;
    if (event.type === "tool_started") status.doing(`${event.tool}(${event.summary})`);
    if (event.type === "subagent") status.doing(`${event.what}: ${event.doing}`);
    if (event.type === "compacting") status.doing("summarises its conversation");
    if (event.type === "throttled") status.happened("throttled", event.reason);
    else if (status.state === "throttled") status.happened("went_on");
    if (event.type === "spent") status.spent(event.usage, event.costUsd);
    this.#events.ofAgent(event);
    const waitsFor = this.#throttle.hear(event);
    if (waitsFor !== undefined && role === "teammate") void this.#inTeam(() => this.#tellThrottled(waitsFor));
    view.event(event);
  }

  /** Whether this request waits for this worker's answer; a shutdown is answered once. */
  takeShutdown(requestId: string): boolean {
    return this.#shutdowns.delete(requestId);
  }

  /** A shutdown was agreed to: the running turn ends at its next step, then the worker. */
  agreeToStop(): void {
    this.#options.status.happened("stop_agreed");
    this.#stop("shutdown");
  }

  /** A message went to a peer: the lead reads its summary in the next idle notice, not the message. */
  talkedTo(peer: string, summary: string): void {
    this.#work.talkedTo(peer, summary);
  }

  holds(taskId: string, mine: boolean): void {
    this.#options.status.holds(taskId, mine);
  }

  async #loop(): Promise<void> {
    const { signal } = this.#options;
    await this.#goOn();
    while (this.#end === undefined) {
      if (this.#flaw !== undefined) throw this.#flaw.error;
      if (await this.#mustPause()) {
        await this.#wake.wait(signal);
        continue;
      }
      const next = this.#queue.take(this.plan.isWaiting, await this.#othersWork());
      if (next !== undefined) await this.#runTurn(next);
      else if (
        (await this.#options.idle?.(this.#queue.held + this.#mail.failed, this.#interrupted)) !== "over" ||
        !this.#queue.isEmpty ||
        // Its end is a turn of this run.
        (this.#made?.inBackground ?? 0) > 0
      )
        await this.#wake.wait(signal);
      // The last one that worked may have ended since the look above: what was held back for then is a turn first.
      else if (!this.#queue.holdsNotices) this.#stop("over");
    }
  }

  /** Something waits for a turn that there is no budget for. */
  async #mustPause(): Promise<boolean> {
    const isDue = !this.#queue.isEmpty || this.#queue.holdsNotices;
    if (isDue && !this.#queue.hasShutdown && (await this.#isOutOfBudget())) {
      this.#pause();
      return true;
    }
    this.#goOnSpending();
    return false;
  }

  async #isOutOfBudget(): Promise<boolean> {
    let isOut = false;
    await this.#inTeam(async () => {
      isOut = (await this.#budget.look()) !== undefined;
    });
    return isOut;
  }

  #pause(): void {
    if (this.#waitsForBudget) return;
    this.#waitsForBudget = true;
    this.#options.status.happened("budget_spent", "its budget is spent");
    this.#events.record({ type: "agent", what: "paused" });
  }

  #goOnSpending(): void {
    if (!this.#waitsForBudget) return;
    this.#waitsForBudget = false;
    const { status, view } = this.#options;
    status.happened(this.#turn === undefined ? "turn_ended" : "went_on", "");
    this.#events.record({ type: "agent", what: "went_on" });
    view.note("there is budget again");
  }

  #lookAtBudget(): void {
    if (!this.#waitsForBudget) return;
    this.#more.ring();
    this.#wake.set();
  }

  async #othersWork(): Promise<boolean> {
    if (!this.#queue.holdsNotices) return false;
    return (await this.#options.othersWork?.(this.#queue.held + this.#mail.failed)) ?? false;
  }

  /** Ends first what an earlier process was killed in: who sent it has been told that it was delivered. */
  async #goOn(): Promise<void> {
    const { view, status, transcript } = this.#options;
    if (!hasConversation(transcript)) return;
    // Whoever looks at the state sees no idle agent before it is known to be one.
    status.happened("turn_started", "looks at what it was doing");
    const agent = await this.#agentOnce();
    const cut = cutTurn(this.ref, this.name, agent);
    if (cut === undefined) {
      if (endsWithPlan(agent.messages)) await this.#inTeam(() => this.plan.submitAgain());
      return status.happened("turn_ended", "");
    }
    const { restoredKeys: keys } = agent;
    view.note("goes on with the turn in which its process ended");
    status.happened("turn_started", "goes on with what it was doing", keys.length);
    await this.#inTurn(keys, async (signal) => {
      if (cut === "given-up") return { outcome: "failed", failure: GIVEN_UP, text: "", toolCalls: 0 };
      await this.#inTeam(() => noteProgress(this.ref, this.name, keys, "turn_started"));
      return agent.goOn(signal);
    });
  }

  async #runTurn({ entries, typed, remarks, ended }: TurnMaterial): Promise<void> {
    const { view, status } = this.#options;
    const input = composeTurn(entries, typed, remarks, ended);
    const isShutdown = entries.some(({ protocol }) => protocol?.type === "shutdown_request");
    this.#overdraft = isShutdown ? MOST_OVERDRAWN : 0;
    this.rest?.began(entries.length === 0 && typed.length === 0 && ended.length === 0);
    await this.#inTurn(input.keys, async (signal) => {
      for (const { message, protocol } of entries) {
        const text = protocol === undefined ? message.text : proseOf(protocol);
        view.received(message.from, text, message.color);
      }
      for (const { what, how } of ended) view.note(`ended in the background: ${what}: ${how}`);
      for (const line of typed) if (!this.#echoed.delete(line)) view.typed(line);
      status.happened("turn_started", `reads: ${input.origin.text}`, entries.length);
      return (await this.#agentOnce()).run(input, signal);
    });
  }

  /** Runs a turn of these messages, unless the team is gone, and tells what came of it. */
  async #inTurn(keys: readonly string[], run: (signal: AbortSignal) => Promise<TurnSummary>): Promise<void> {
    await this.#inTeam(() => noteTurn(this.ref, this.name, this.plan.modeGiven));
    if (this.#end !== undefined) return;
    const turn = new AbortController();
    this.#turn = turn;
    this.#turnKeys = keys;
    const begun = steadyNow();
    this.#events.record({ type: "agent", what: "turn_started", messages: keys.length });
    try {
      const result = await run(turn.signal);
      const ms = Math.round(steadyNow() - begun);
      const { outcome, toolCalls } = result;
      this.#events.record({ type: "agent", what: "turn_ended", outcome, toolCalls, ms });
      await this.#turnEnded(result, keys, turn.signal);
    } finally {
      this.#turn = undefined;
      this.#turnKeys = [];
    }
  }

  async #turnEnded(result: TurnSummary, keys: readonly string[], signal: AbortSignal): Promise<void> {
    const { status, role, view } = this.#options;
    if (result.text !== "") this.#text = result.text;
    this.#interrupted = result.outcome === "interrupted";
    this.#failure = result.outcome === "failed" ? (result.failure ?? "The model call failed.") : undefined;
    if (this.#failure !== undefined) view.error(this.#failure);
    // Its messages stay in their turn: the next process goes on with it.
    if (result.outcome === "interrupted" && this.#isCut) return;
    const goesOn = this.#end === undefined;
    // What its last call cost is told with its end.
    await this.#isOutOfBudget();
    if (goesOn) this.#work.add(result);
    const isDone = (): boolean => goesOn && !this.plan.isWaiting && this.#queue.isEmpty;
    if (isDone() && result.outcome === "completed") {
      const sentOn = await this.rest?.ask(signal);
      if (sentOn !== undefined) this.#queue.remark(sentOn);
    }
    const goesIdle = isDone();
    // The notice before the rest: whoever sees the turn done, or it idle, finds what it had to say already delivered.
    if (goesIdle && role === "teammate") await this.#inTeam(() => this.#noticeIdle(keys));
    await this.#inTeam(() => noteProgress(this.ref, this.name, keys, "done"));
    if (!goesOn) return;
    const behind = this.#made?.inBackground ?? 0;
    status.happened("turn_ended", behind === 0 ? "" : `${behind} in the background`);
    if (!goesIdle) return;
    this.#events.record({ type: "idle", reason: idleReason(result.outcome) });
    if (role === "teammate") view.idle();
    await this.#inTeam(() => patchMember(this.ref, this.name, { isActive: false }));
  }

  /** @param keys of the turn's messages: told once of one turn, whichever process of this agent does it */
  async #noticeIdle(keys: readonly string[]): Promise<void> {
    const notice = this.#work.notice();
    if (notice === undefined) return;
    const message = { type: "idle_notification" as const, from: this.name, ...notice };
    await deliver(
      this.ref,
      defined({
        from: this.name,
        to: LEAD_NAME,
        text: formatProtocol(message, new Date(this.#options.clock.now())),
        color: this.color,
        messageId: keys.length === 0 ? undefined : eventId("idle", this.name, ...keys),
      }),
    );
  }

  async #tellThrottled(reason: string): Promise<void> {
    const { name: from, color } = this;
    const text = `The model's server lets ${from} wait (${reason}). It goes on by itself as soon as it may; nothing is to be done.`;
    const summary = `${from} waits for the model's server`;
    await deliver(this.ref, defined({ from, to: LEAD_NAME, text, summary, color }));
  }

  #arrived(entries: readonly InboxEntry[]): void {
    for (const entry of entries) {
      this.#queue.add(entry);
      if (entry.protocol?.type === "shutdown_request") {
        this.#shutdowns.add(entry.protocol.requestId);
        this.desk.refuseAll(SHUTDOWN_ASKED);
      }
      if (this.#turn !== undefined) this.#options.view.queued(entry.message.from);
    }
    // A turn that stands for want of a budget makes way for a shutdown.
    this.#more.ring();
    this.#wake.set();
  }

  /**
   * Tells the team something of this worker. A team that is deleted in the middle of a turn ends it; what cannot be
   * written just then (a lock that somebody holds) is said, and ends nothing.
   */
  async #inTeam(tell: () => Promise<unknown>): Promise<void> {
    try {
      await tell();
    } catch (error) {
      if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") this.#stop("team-gone");
      else this.#options.view.error(messageOf(error));
    }
  }

  /** Without a model or its tools there is nothing to wait for: the worker ends with the reason, and the lead hears of it. */
  #agentOnce(): Promise<Agent> {
    this.#agent ??= this.#options.agent(this).then(
      (agent) => {
        this.#made = agent;
        this.#options.status.hadSpent(agent.tokens, agent.costUsd);
        return agent;
      },
      (error: unknown) => {
        this.#flaw = { error };
        this.#wake.set();
        throw error;
      },
    );
    return this.#agent;
  }

  #stop(end: WorkerEnd): void {
    this.#end ??= end;
    // A lead that deleted its team still has its result to say.
    const leadGoesOn = end === "team-gone" && this.#options.role === "lead";
    if (this.#isCut) this.#turn?.abort(new TurnCut());
    else if (end === "stopped" || (end === "team-gone" && !leadGoesOn)) this.interrupt();
    this.#wake.set();
  }

  /** Whether its process is ended, and not by the person who looks at it: a turn of a teammate is not over with that. */
  get #isCut(): boolean {
    const { role, signal } = this.#options;
    return role === "teammate" && this.#end === "stopped" && signal.reason !== "SIGINT";
  }
}
