import type { Agent } from "../agent/agent.ts";
import type { TaskNotice } from "../agent/background/background-tasks.ts";
import type { AgentEvent } from "../agent/events.ts";
import type { PermissionAnswer, PermissionAsk } from "../agent/turn/permitted-call.ts";
import type { TeamRef } from "../team/ref.ts";
import { BudgetWait } from "./gates/budget.ts";
import type { IdleHook } from "./gates/idle-hook.ts";
import { PermissionRequests } from "./gates/permission-requests.ts";
import { PlanApproval } from "./gates/plan-approval.ts";
import { Questions, UndeliveredAnswers } from "./gates/questions.ts";
import { InboundMessages, SHUTDOWN_ASKED } from "./inbox/arrivals.ts";
import { Typing } from "./inbox/typed-input.ts";
import { LazyAgent } from "./lazy-agent.ts";
import { createLatch, interruption, type WorkerEnd, WorkerLifecycle } from "./lifecycle.ts";
import type { WorkerParts } from "./ports.ts";
import type { TeamRoster } from "./prompts/roster.ts";
import { AgentActivity, EventRecorder, type SubagentName } from "./reports/agent-activity.ts";
import { TeamNotifications } from "./reports/team-reports.ts";
import { WorkSinceIdle } from "./turn/idle-notice.ts";
import { Turns } from "./turn/turns.ts";
import { Queue, ShutdownRequests } from "./turn-queue.ts";

export interface WorkerOptions extends WorkerParts {
  /** Made at the first need: its imports are not on the way to readiness. */
  agent(worker: Worker): Promise<Agent>;
}

/**
 * The loop of a teammate and of a lead that is a model alike: inbox → turn → idle. Tools reach it through the public
 * methods; everything that it acts with is handed in.
 */
export class Worker {
  readonly name: string;
  readonly ref: TeamRef;
  readonly color: string | undefined;
  readonly plan: PlanApproval;
  readonly desk: PermissionRequests;
  readonly shutdowns = new ShutdownRequests();
  /** What its next idle notice tells of. */
  readonly work = new WorkSinceIdle();
  readonly #options: WorkerOptions;
  readonly #agent: LazyAgent;
  readonly #events: EventRecorder;
  readonly #reports: TeamNotifications;
  readonly #queue: Queue;
  readonly #life: WorkerLifecycle;
  readonly #budget: BudgetWait;
  readonly #news: AgentActivity;
  readonly #turns: Turns;
  readonly #questions: Questions;
  readonly #arrivals: InboundMessages;
  readonly #typing: Typing;
  readonly #wake = createLatch();

  constructor(options: WorkerOptions) {
    const { ref, name, color, role, view, status, clock } = options;
    this.#options = options;
    this.name = name;
    this.ref = ref;
    this.color = color;
    this.#agent = new LazyAgent(
      () => this.#makeAgent(),
      () => this.#wake.set(),
    );
    this.#queue = new Queue(role);
    this.#events = new EventRecorder(ref, name);
    this.#life = new WorkerLifecycle({
      ...options,
      endTurn: (reason) => void this.#turns.stop(reason),
      ends: () => this.#wake.set(),
    });
    this.#reports = new TeamNotifications({
      ...options,
      teamGone: () => this.#life.teamGone(),
      problem: (text) => view.error(text),
    });
    this.plan = new PlanApproval({
      ...options,
      onMode: (mode, before) => this.#events.record({ type: "mode_changed", mode, before }),
      onRelease: (words) => this.told(words),
    });
    this.desk = new PermissionRequests({
      ref,
      agent: name,
      color,
      isLead: role === "lead",
      view,
      status,
      clock,
    });
    const own = {
      ...options,
      agent: this.#agent,
      queue: this.#queue,
      events: this.#events,
      life: this.#life,
      reports: this.#reports,
      plan: this.plan,
      desk: this.desk,
      shutdowns: this.shutdowns,
      work: this.work,
      wake: this.#wake,
      isInTurn: () => this.#turns.isRunning,
    };
    const answers = new UndeliveredAnswers(own);
    this.#questions = new Questions(own, answers);
    this.#budget = new BudgetWait(own);
    this.#news = new AgentActivity({
      ...own,
      throttled: (reason) => void (role === "teammate" && this.#reports.throttled(reason)),
    });
    const parts = { ...own, answers, questions: this.#questions, budget: this.#budget };
    this.#turns = new Turns({ ...parts, news: () => this.roster?.news() });
    this.#arrivals = new InboundMessages({ ...parts, interrupt: () => void this.interrupt() });
    this.#typing = new Typing({ ...parts, arrivals: this.#arrivals });
  }

  async #makeAgent(): Promise<Agent> {
    const agent = await this.#options.agent(this);
    this.#options.status.hadSpent(agent.tokens, agent.costUsd);
    return agent;
  }

  /** Last words of the newest turn: a run's result. */
  get lastText(): string {
    return this.#turns.end.text;
  }

  /** Why the newest turn failed; undefined when it did not. */
  get lastFailure(): string | undefined {
    return this.#turns.end.failure;
  }

  /** Who is in its team, as it has been told; given with the agent. */
  roster: TeamRoster | undefined;

  /** Whether it may rest when nothing is left to do; given with the agent, since it needs the settings. */
  set rest(gate: IdleHook) {
    this.#turns.end.rest = gate;
  }

  /** Works until it is shut down, its team is gone, `idle` says over, or the signal aborts. */
  async run(): Promise<WorkerEnd> {
    const { signal, status } = this.#options;
    const stopped = (): void => this.#life.stop("stopped");
    signal.addEventListener("abort", stopped);
    if (signal.aborted) stopped();
    status.happened("ready");
    this.#events.record({ type: "agent", what: "started" });
    const mail = this.#arrivals.mail.run();
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
    const end = this.#life.end ?? "stopped";
    this.#events.record({ type: "agent", what: "ended", how: end });
    return end;
  }

  /** A line that a person typed in the pane: the answer to what is open there, else words for the model. */
  typed(line: string): Promise<void> {
    return this.#typing.line(line);
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
    this.#arrivals.lookAtBudget();
    this.#wake.set();
  }

  /** Ends the running turn at once; the agent stays. */
  interrupt(): boolean {
    return this.#turns.stop(interruption());
  }

  /** Called by the agent once a turn's input is in the conversation and on disk. */
  async inputRecorded(): Promise<void> {
    const keys = [...this.#turns.keys];
    this.plan.recorded(keys);
    await this.#arrivals.mail.recorded(keys);
    await this.#reports.progress(keys, "turn_started");
  }

  /** Called by the agent between tool calls: an agreed shutdown ends the turn there, and one that is asked for is next. */
  async betweenTools(): Promise<"go" | "stop"> {
    return this.#life.goesOn && !this.#queue.hasShutdown ? "go" : "stop";
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
    if (event.type === "spent") this.#agent.made?.addCost(event);
    this.#news.hearSubagent(who, event);
  }

  /** A shutdown was agreed to: the running turn ends at its next step, then the worker. */
  agreeToStop(): void {
    this.#options.status.happened("stop_agreed");
    this.#life.stop("shutdown");
  }

  /** It has put a question, which does not end its turn. */
  asked(question: string, choices: readonly string[], requestId: string): void {
    this.#questions.asked(question, choices, requestId);
  }

  /** Somebody has no more for it to do: a turn that runs is ended, and then the worker. */
  finish(): void {
    this.#life.stop("over");
    this.interrupt();
  }

  /** It deletes its team, as its lead: it says its result without one, or makes another, and `idle` says when it is over. */
  leaveTeam(): void {
    this.#life.leaveTeam();
  }

  /** Its team is there: the one that could not be deleted, or another in its place. */
  joinTeam(): void {
    this.#life.joinTeam();
    this.#options.status.again();
  }

  holds(taskId: string, mine: boolean): void {
    this.#options.status.holds(taskId, mine);
  }

  async #loop(): Promise<void> {
    const { signal } = this.#options;
    await this.#turns.goOn();
    while (this.#life.goesOn) {
      this.#agent.assertPossible();
      if (await this.#budget.holdsBack(!this.#queue.isEmpty || this.#queue.holdsNotices)) {
        await this.#wake.wait(signal);
        continue;
      }
      const next = this.#queue.take(this.plan.isWaiting, await this.#othersWork());
      if (next !== undefined) await this.#turns.run(next);
      else if (await this.#mayWait()) await this.#wake.wait(signal);
      // The last one that worked may have ended since the look above: what was held back for then is a turn first.
      else if (!this.#queue.holdsNotices) this.#life.stop("over");
    }
  }

  async #mayWait(): Promise<boolean> {
    const { idle } = this.#options;
    if ((await idle?.(this.#heldBack, this.#turns.end.wasInterrupted)) !== "over") return true;
    // The end of what runs in the background is a turn of this run.
    return !this.#queue.isEmpty || this.#agent.inBackground > 0;
  }

  async #othersWork(): Promise<boolean> {
    if (!this.#queue.holdsNotices) return false;
    return (await this.#options.othersWork?.(this.#heldBack)) ?? false;
  }

  /** Unread messages that are no reason to wait. */
  get #heldBack(): number {
    return this.#queue.held + this.#arrivals.mail.failed;
  }
}
