import type { Agent } from "../agent/agent.ts";
import type { TaskNotice } from "../agent/background.ts";
import type { AgentEvent } from "../agent/events.ts";
import type { PermissionAnswer, PermissionAsk } from "../agent/permitted-call.ts";
import { TurnCut } from "../agent/turn-cut.ts";
import { messageOf } from "../errors.ts";
import { operand } from "../os/shell-words.ts";
import { defined } from "../schema/defined.ts";
import type { InboxEntry } from "../team/mailbox.ts";
import type { TeamRef } from "../team/ref.ts";
import { AgentNews, type SubagentName } from "./agent-news.ts";
import { AgentOnce } from "./agent-once.ts";
import { actAtOnce } from "./at-once.ts";
import { BudgetPause } from "./budget-pause.ts";
import { GivenAnswers } from "./given-answers.ts";
import { createLatch } from "./latch.ts";
import { Mail } from "./mail.ts";
import type { WorkerParts } from "./options.ts";
import { OwnEvents } from "./own-events.ts";
import { PermissionDesk } from "./permission-desk.ts";
import { PlanGate } from "./plan-gate.ts";
import { Questions } from "./questions.ts";
import { isNews, Queue } from "./queue.ts";
import type { RestGate } from "./rest-gate.ts";
import type { Roster } from "./roster.ts";
import { TeamReports } from "./team-reports.ts";
import { TurnEnd } from "./turn-end.ts";
import { Turns } from "./turns.ts";

/** Why a worker ended by itself. */
export type WorkerEnd = "shutdown" | "team-gone" | "over" | "stopped";

export interface WorkerOptions extends WorkerParts {
  /** Made at the first need: its imports are not on the way to readiness. */
  agent(worker: Worker): Promise<Agent>;
}

/** What is said of a line that is typed while a plan waits. */
function keptFor(plan: string): string {
  const id = operand(plan);
  return `kept until its plan has its answer: teams approve ${id}, or teams reject ${id} --note "…"`;
}

/** What a call that waits for a permission is refused with, so that the request is answered at once. */
const SHUTDOWN_ASKED = "A shutdown was asked for.";

/** What an agent reads whose plan waited when it was taken out of plan mode. */
const PLAN_RELEASED =
  "[said by the system]\nYour permission mode was changed: your plan no longer needs approval. Carry it out.";

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
  readonly #agent: AgentOnce;
  readonly #mail: Mail;
  readonly #events: OwnEvents;
  readonly #reports: TeamReports;
  readonly #queue: Queue;
  readonly #budget: BudgetPause;
  readonly #news: AgentNews;
  readonly #turnEnd: TurnEnd;
  readonly #turns: Turns;
  readonly #answers: GivenAnswers;
  readonly #questions: Questions;
  readonly #wake = createLatch();
  readonly #shutdowns = new Set<string>();
  #end: WorkerEnd | undefined;
  /** It has deleted its team itself. */
  #hasLeft = false;

  constructor(options: WorkerOptions) {
    const { ref, name, color, role, view, status, clock } = options;
    this.#options = options;
    this.name = name;
    this.ref = ref;
    this.color = color;
    this.#events = new OwnEvents(ref, name);
    this.plan = new PlanGate({
      ...options,
      onMode: (mode, before) => this.#events.record({ type: "mode_changed", mode, before }),
      onRelease: () => {
        this.#queue.remark(PLAN_RELEASED);
        this.#wake.set();
      },
    });
    this.desk = new PermissionDesk({ ref, agent: name, color, isLead: role === "lead", view, status, clock });
    this.#answers = new GivenAnswers({ ref, plan: this.plan, clock });
    this.#questions = new Questions(options, this.#answers);
    this.#queue = new Queue(role);
    this.#reports = new TeamReports({
      ...options,
      teamGone: () => this.#teamGone(),
      problem: (text) => view.error(text),
    });
    const parts = { ...options, events: this.#events, reports: this.#reports };
    const goesOn = (): boolean => this.#end === undefined;
    this.#budget = new BudgetPause({
      ...parts,
      isInTurn: () => this.#turns.isRunning,
      mustMakeWay: () => !goesOn() || this.#queue.hasShutdown,
    });
    this.#news = new AgentNews({
      ...parts,
      throttled: (reason) => void (role === "teammate" && this.#reports.throttled(reason)),
    });
    this.#agent = new AgentOnce(
      () => this.#makeAgent(),
      () => this.#wake.set(),
    );
    this.#turnEnd = new TurnEnd({
      ...parts,
      queue: this.#queue,
      goesOn,
      isCut: () => this.#isCut,
      isPlanOpen: () => this.plan.isWaiting,
      isQuestionOpen: () => this.#questions.isOpen,
      lookAtBudget: () => this.#budget.look(),
      inBackground: () => this.#inBackground,
    });
    this.#turns = new Turns({
      ...parts,
      plan: this.plan,
      budget: this.#budget,
      turnEnd: this.#turnEnd,
      agent: () => this.#agent.get(),
      news: () => this.roster?.news(),
      goesOn,
    });
    this.#mail = this.#mailbox();
  }

  async #makeAgent(): Promise<Agent> {
    const agent = await this.#options.agent(this);
    this.#options.status.hadSpent(agent.tokens, agent.costUsd);
    return agent;
  }

  #mailbox(): Mail {
    const { status, view, bell, signal, onSilent } = this.#options;
    const { plan, desk } = this;
    const interrupt = (): void => void this.interrupt();
    const parts = defined({ plan, desk, status, view, interrupt, onSilent });
    return new Mail({
      ref: this.ref,
      agent: this.name,
      bell,
      signal,
      handled: async () => (await this.#agent.get()).handledKeys,
      atOnce: (entry) => actAtOnce(entry, parts),
      arrived: (entries) => this.#arrived(entries),
      teamGone: () => this.#teamGone(),
      problem: (error) => view.error(messageOf(error)),
      rang: () => this.#rang(),
    });
  }

  /** Last words of the newest turn: a run's result. */
  get lastText(): string {
    return this.#turnEnd.text;
  }

  /** Why the newest turn failed; undefined when it did not. */
  get lastFailure(): string | undefined {
    return this.#turnEnd.failure;
  }

  /** Who is in its team, as it has been told; given with the agent. */
  roster: Roster | undefined;

  /** Whether it may rest when nothing is left to do; given with the agent, since it needs the settings. */
  set rest(gate: RestGate) {
    this.#turnEnd.rest = gate;
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
      await this.#agent.made?.end();
      await mail;
    }
    // Not behind a failure: who saw it begin and finds its process gone says that it crashed.
    status.happened("ended");
    const end = this.#end ?? "stopped";
    this.#events.record({ type: "agent", what: "ended", how: end });
    return end;
  }

  /** A line that a person typed in the pane: the answer to an open question, else a user message. */
  async typed(line: string): Promise<void> {
    if (this.desk.isOpen && (await this.desk.typed(line))) return;
    const said = this.#questions.answeredBy(line);
    this.#queue.type(said);
    if (this.plan.request !== undefined) this.#options.view.note(keptFor(this.plan.request));
    else if (this.#turns.isRunning) this.#options.view.queued("you", said);
    this.#wake.set();
  }

  /** What its program has to say to the agent: a turn, which nobody has typed or sent. */
  told(text: string): void {
    this.#queue.remark(text);
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
    return this.#turns.end(new DOMException("interrupted", "AbortError"));
  }

  /** Called by the agent once a turn's input is in the conversation and on disk. */
  async inputRecorded(): Promise<void> {
    const keys = [...this.#turns.keys];
    if (keys.length === 0) return;
    this.plan.recorded(keys);
    await this.#mail.recorded(keys);
    await this.#reports.progress(keys, "turn_started");
  }

  /** Called by the agent between tool calls: an agreed shutdown ends the turn there, and one that is asked for is next. */
  async betweenTools(): Promise<"go" | "stop"> {
    return this.#end === undefined && !this.#queue.hasShutdown ? "go" : "stop";
  }

  /** Called by the agent and its subagents before each call of a model. @returns once there is a budget for it */
  beforeCall(signal: AbortSignal): Promise<"go" | "stop"> {
    return this.#budget.beforeCall(signal);
  }

  async ask(request: PermissionAsk, signal: AbortSignal): Promise<PermissionAnswer> {
    // Asked for before this call: nobody has to be waited for, as with those that were open when it came.
    if (this.#queue.hasShutdown) return { allowed: false, note: SHUTDOWN_ASKED };
    return this.desk.ask(request, signal);
  }

  onEvent(event: AgentEvent): void {
    this.#news.hear(event);
  }

  /** What one does that works for the agent; what that costs is the agent's, also for its next process. */
  onSubagentEvent(who: SubagentName, event: AgentEvent): void {
    if (event.type === "spent") this.#agent.made?.pay(event);
    this.#news.hearSubagent(who, event);
  }

  /** Whether this request waits for this worker's answer. */
  isShutdownOpen(requestId: string): boolean {
    return this.#shutdowns.has(requestId);
  }

  /** The answer has been sent: a shutdown is answered once. */
  shutdownAnswered(requestId: string): void {
    this.#shutdowns.delete(requestId);
  }

  /** A shutdown was agreed to: the running turn ends at its next step, then the worker. */
  agreeToStop(): void {
    this.#options.status.happened("stop_agreed");
    this.#stop("shutdown");
  }

  /** It has put a question, which does not end its turn. */
  asked(question: string, choices: readonly string[], requestId: string): void {
    this.#questions.asked(question, choices, requestId);
  }

  /** Somebody has no more for it to do: a turn that runs is ended, and then the worker. */
  finish(): void {
    this.#stop("over");
    this.interrupt();
  }

  /** It deletes its team, as its lead: it says its result without one, or makes another, and `idle` says when it is over. */
  leaveTeam(): void {
    this.#hasLeft = true;
  }

  /** Its team is there: the one that could not be deleted, or another in its place. */
  joinTeam(): void {
    this.#hasLeft = false;
    this.#options.status.again();
  }

  /** A message went to a peer: the lead reads its summary in the next idle notice, not the message. */
  talkedTo(peer: string, summary: string): void {
    this.#turnEnd.talkedTo(peer, summary);
  }

  /** A task of its own is completed: the lead reads so in the next idle notice as well. */
  completed(taskId: string): void {
    this.#turnEnd.completed(taskId);
  }

  holds(taskId: string, mine: boolean): void {
    this.#options.status.holds(taskId, mine);
  }

  async #loop(): Promise<void> {
    const { signal } = this.#options;
    await this.#turns.goOn();
    while (this.#end === undefined) {
      this.#agent.assertPossible();
      if (await this.#budget.holdsBack(!this.#queue.isEmpty || this.#queue.holdsNotices)) {
        await this.#wake.wait(signal);
        continue;
      }
      const next = this.#queue.take(this.plan.isWaiting, await this.#othersWork());
      if (next !== undefined) await this.#turns.run(next);
      else if (await this.#mayWait()) await this.#wake.wait(signal);
      // The last one that worked may have ended since the look above: what was held back for then is a turn first.
      else if (!this.#queue.holdsNotices) this.#stop("over");
    }
  }

  async #mayWait(): Promise<boolean> {
    const { idle } = this.#options;
    if ((await idle?.(this.#heldBack, this.#turnEnd.wasInterrupted)) !== "over") return true;
    // The end of what runs in the background is a turn of this run.
    return !this.#queue.isEmpty || this.#inBackground > 0;
  }

  async #othersWork(): Promise<boolean> {
    if (!this.#queue.holdsNotices) return false;
    return (await this.#options.othersWork?.(this.#heldBack)) ?? false;
  }

  get #inBackground(): number {
    return this.#agent.made?.inBackground ?? 0;
  }

  /** Unread messages that are no reason to wait. */
  get #heldBack(): number {
    return this.#queue.held + this.#mail.failed;
  }

  /** What nobody writes a message of: more of a budget, and answers and settings that let what is open go on. */
  #rang(): void {
    this.#lookAtBudget();
    void this.#reports.guarded(() => this.#lookAtOpen());
  }

  async #lookAtOpen(): Promise<void> {
    // Those whose message was lost with its sender.
    await this.#answers.look();
    if (!this.desk.isOpen) return;
    this.desk.lookForAnswers();
    await this.desk.reconsider();
  }

  #lookAtBudget(): void {
    if (!this.#budget.isOn) return;
    this.#budget.ring();
    this.#wake.set();
  }

  #arrived(entries: readonly InboxEntry[]): void {
    for (const entry of entries) {
      this.#queue.add(entry);
      if (entry.protocol?.type === "shutdown_request") {
        this.#shutdowns.add(entry.protocol.requestId);
        this.desk.refuseAll(SHUTDOWN_ASKED);
      }
      if (entry.protocol?.type === "question_response") this.#answers.arrived(entry.protocol.requestId);
      if (isNews(entry)) this.#budget.hear(entry.key, entry.message.text);
      else if (this.#turns.isRunning) this.#options.view.queued(entry.message.from);
    }
    // A turn that stands for want of a budget makes way for a shutdown.
    this.#budget.ring();
    this.#wake.set();
  }

  #teamGone(): void {
    if (!this.#hasLeft) this.#stop("team-gone");
  }

  #stop(end: WorkerEnd): void {
    this.#end ??= end;
    // A lead whose team somebody else has deleted says what it was about to say.
    const leadGoesOn = end === "team-gone" && this.#options.role === "lead";
    if (this.#isCut) this.#turns.end(new TurnCut());
    else if (end === "stopped" || (end === "team-gone" && !leadGoesOn)) this.interrupt();
    this.#wake.set();
  }

  /** Whether its process is ended, and not by the person who looks at it: a turn of a teammate is not over with that. */
  get #isCut(): boolean {
    const { role, signal } = this.#options;
    return role === "teammate" && this.#end === "stopped" && signal.reason !== "SIGINT";
  }
}
