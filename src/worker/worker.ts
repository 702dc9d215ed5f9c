import type { Agent } from "../agent/agent.ts";
import type { TaskFacts, TaskNotice } from "../agent/background/background-tasks.ts";
import type { AgentEvent } from "../agent/events.ts";
import { messageOf } from "../errors.ts";
import type { EventFacts, EventSubject } from "../schema/event.ts";
import type { TeamRef } from "../team/ref.ts";
import { createWorkerContext, startAgent, type WorkerContext, type WorkerSetup } from "./context.ts";
import { createGates, type WorkerGates } from "./gates/gates.ts";
import type { IdleHook } from "./gates/idle-hook.ts";
import type { PermissionRequests } from "./gates/permission-requests.ts";
import type { PlanApproval } from "./gates/plan-approval.ts";
import { ClientInput } from "./inbox/client-input.ts";
import { InboundMessages } from "./inbox/inbound-messages.ts";
import { TypedInput } from "./inbox/typed-input.ts";
import type { WorkerEnd } from "./lifecycle.ts";
import type { TeamRoster } from "./prompts/roster.ts";
import { AgentActivity, type SubagentName } from "./reports/agent-activity.ts";
import { recordBackground } from "./reports/background-record.ts";
import { stopsBetweenTools } from "./turn/between-tools.ts";
import type { WorkSinceIdle } from "./turn/idle-notice.ts";
import { Turns } from "./turn/turns.ts";
import type { AgentAction, FollowTurn, ShutdownRequests } from "./turn-queue.ts";

export interface WorkerOptions extends WorkerSetup {
  /** Called once, when the agent is first needed: its imports do not delay readiness. */
  createAgent(worker: Worker): Promise<Agent>;
}

/**
 * The loop of a teammate, and of a lead that is a model: inbox → turn → idle. Tools reach it through the public methods.
 */
export class Worker {
  readonly name: string;
  readonly ref: TeamRef;
  readonly color: string | undefined;
  readonly planApproval: PlanApproval;
  readonly permissionRequests: PermissionRequests;
  readonly accountLimit: WorkerGates["accountLimit"];
  readonly budget: WorkerGates["budget"];
  readonly cliQuestions: WorkerGates["cliQuestions"];
  readonly shutdownRequests: ShutdownRequests;
  readonly workSinceIdle: WorkSinceIdle;
  readonly clientInput: ClientInput;
  readonly #context: WorkerContext;
  readonly #gates: WorkerGates;
  readonly #activity: AgentActivity;
  readonly #turns: Turns;
  readonly #inbound: InboundMessages;
  readonly #typedInput: TypedInput;

  constructor(options: WorkerOptions) {
    const context = createWorkerContext(options, async () => {
      const agent = await options.createAgent(this);
      options.status.restoreSpent(agent.tokens, agent.costUsd);
      return agent;
    });
    const gates = createGates(context);
    this.name = context.name;
    this.ref = context.ref;
    this.color = context.color;
    this.planApproval = gates.planApproval;
    this.permissionRequests = gates.permissionRequests;
    this.accountLimit = gates.accountLimit;
    this.budget = gates.budget;
    this.cliQuestions = gates.cliQuestions;
    this.shutdownRequests = context.shutdownRequests;
    this.workSinceIdle = context.workSinceIdle;
    this.#context = context;
    this.#gates = gates;
    this.#activity = new AgentActivity(context);
    this.#turns = new Turns(context, gates);
    this.#inbound = new InboundMessages(context, gates);
    this.#typedInput = new TypedInput(context, gates, this.#inbound);
    this.clientInput = new ClientInput(context, this.#typedInput, this.#inbound);
  }

  /** The result of a run: the last text of the newest turn that had any, preferably of a turn that was not interrupted. */
  get lastText(): string {
    return this.#turns.end.text;
  }

  /** Why the newest turn failed; undefined if it did not. */
  get lastFailure(): string | undefined {
    return this.#turns.end.failure;
  }

  /** Whether the newest turn was interrupted. */
  get wasInterrupted(): boolean {
    return this.#turns.end.wasInterrupted;
  }

  /** Number of unread messages that start no turn now, including those whose handling failed. */
  get heldCount(): number {
    return this.#context.queue.heldCount + this.#inbound.reader.failedCount;
  }

  /** Set when the agent is created. */
  set roster(roster: TeamRoster) {
    this.#turns.roster = roster;
  }

  /** Set when the agent is created, since the hooks come from its settings. */
  set idleHook(hook: IdleHook) {
    this.#turns.end.idleHook = hook;
  }

  /** Works until a shutdown is agreed, the team is gone, the run is over or the signal aborts. */
  async run(): Promise<WorkerEnd> {
    const { signal, status, events, lifecycle, bell, agent } = this.#context;
    const onAbort = (): void => lifecycle.stop("stopped");
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    status.report("ready");
    events.record({ type: "agent", what: "started" });
    let reading: Promise<void> | undefined;
    try {
      this.#turns.restoreWaits();
      reading = this.#inbound.reader.run();
      await startAgent(this.#context);
      await this.#loop();
    } finally {
      signal.removeEventListener("abort", onAbort);
      bell.close();
      this.#inbound.close();
      await agent.current?.end();
      await reading;
    }
    // Skipped after a failure: an agent that has not reported its end counts as crashed.
    status.report("ended");
    const end = lifecycle.end ?? "stopped";
    events.record({ type: "agent", what: "ended", how: end });
    return end;
  }

  /**
   * Takes a line that a person typed in the pane.
   * @param begun when its first character was typed, in milliseconds of the steady clock; omitted for a key that answers the shown request
   * @param earliest the earliest possible time of its first character, if the exact time is unknown
   */
  handleTypedLine(line: string, begun?: number, earliest?: number): Promise<void> {
    return this.#typedInput.handleLine(line, begun, earliest);
  }

  /** Starts a turn with a text from this program. */
  notifyAgent(text: string): void {
    this.#context.queue.addInstruction(text, this.#context.wake);
  }

  /** Starts a turn, after the running one, for something that ended in the background. */
  notifyTaskEnd(notice: TaskNotice): void {
    this.#context.queue.addTaskEnd(notice, this.#context.wake);
  }

  /** Reports a turn that began without this worker: a person typed into the agent's own screen. */
  observeTurn(follow: FollowTurn): void {
    this.#context.queue.addOwnTurn(follow, this.#context.wake);
  }

  /** Lets a person act on the agent itself. @returns whether the action waits for the end of the running turn */
  betweenTurns(action: AgentAction): boolean {
    this.#context.queue.addAction(action, this.#context.wake);
    return this.#context.runningTurn.isActive;
  }

  /** Reports an alert of a program whose turn ends are unseen. @param text the alert's text; "" for a bell */
  reportAlert(text: string): void {
    this.#context.queue.addAlert(text, this.#context.wake);
  }

  /** Called if a turn ended before the program got its messages: the next read of the inbox finds them. */
  onInputKept(): void {
    this.#inbound.reader.forget([...this.#context.runningTurn.keys]);
  }

  /** Ends the worker with an error: its agent's program has ended unexpectedly. */
  agentEnded(error: Error): void {
    this.#context.agent.fail(error);
  }

  /** Shows that a dialog in the agent's own screen is waiting for a person. @param dialog undefined when the dialog is gone */
  setDialog(dialog: string | undefined, isStart?: boolean): void {
    this.#context.status.setDialog(dialog, isStart);
  }

  /** Records the background tasks of the agent, so that a person can list, read and end them. */
  recordBackground(tasks: readonly TaskFacts[]): void {
    recordBackground(this.#context, tasks);
  }

  /** Checks open requests, the budget and the end of the run again after an outside change. Never throws; shows a failure. */
  recheck(): void {
    try {
      this.#inbound.recheck();
    } catch (error) {
      this.#context.view.error(messageOf(error));
    }
    this.#context.wake.set();
  }

  /** Interrupts the running turn immediately; the agent keeps running. @returns whether a turn was running */
  interrupt(): boolean {
    return this.#context.runningTurn.interrupt();
  }

  /** Called by the agent once the input of a turn is in the conversation on disk. @param keys of its messages */
  async onInputRecorded(keys: readonly string[]): Promise<void> {
    this.planApproval.closeRecordedVerdict(keys);
    await this.#inbound.reader.markRecorded(keys);
    await this.#context.notifications.recordProgress(keys, "turn_started");
  }

  /** Called by the agent and its subagents between tool calls: a turn stops there if {@link stopsBetweenTools} says so. */
  async betweenTools(by: "agent" | "subagent" = "agent"): Promise<"go" | "stop"> {
    return stopsBetweenTools(this.#context, by) ? "stop" : "go";
  }

  onEvent(event: AgentEvent): void {
    this.#activity.handleEvent(event);
  }

  /** Records the start or the end of a subagent in the event log. */
  recordSubagent(subagent: EventSubject, facts: EventFacts): void {
    this.#context.events.record(facts, subagent);
  }

  /** Handles an event of a subagent; its cost is added to the agent's conversation, so that the next process knows it too. */
  onSubagentEvent(who: SubagentName, event: AgentEvent): void {
    if (event.type === "spent") this.#context.agent.current?.addCost(event);
    this.#activity.handleSubagentEvent(who, event);
  }

  /** Agrees to a shutdown: the running turn ends at its next step, then the worker. */
  agreeToStop(): void {
    this.#context.status.report("stop_agreed");
    this.#context.lifecycle.stop("shutdown");
  }

  /** Shows a question to the person; the turn continues. */
  showQuestion(requestId: string): void {
    this.#gates.questions.show(requestId);
  }

  /** Interrupts the running turn and ends the worker. */
  finish(): void {
    this.#context.lifecycle.stop("over");
    this.interrupt();
  }

  /** Called when a lead deletes its team: the worker continues without one, until its run is over. */
  leaveTeam(): void {
    this.#context.lifecycle.leaveTeam();
  }

  /** Called when a lead has deleted its team: notices of idle or ended teammates no longer start a turn. */
  teamDeleted(): void {
    this.#context.queue.dropNotices();
  }

  /** Called when the lead's team exists: its deletion failed, or the lead created another. */
  joinTeam(): void {
    this.#context.lifecycle.joinTeam();
    this.#context.status.teamRestored();
  }

  setTaskHeld(taskId: string, isHeld: boolean): void {
    this.#context.status.setTaskHeld(taskId, isHeld);
  }

  async #loop(): Promise<void> {
    const { signal, lifecycle, agent, queue, wake, isTeamWorking } = this.#context;
    await this.#turns.resumeInterruptedTurn();
    while (lifecycle.isRunning) {
      agent.throwIfFailed();
      if (await this.#turns.act()) continue;
      if (await this.#gates.budget.mustWait(!queue.isEmpty || queue.hasHeldNotices)) {
        await wake.wait(signal);
        continue;
      }
      await this.#turns.end.settleAlert(queue.takeAlert());
      if (await this.#turns.observe()) continue;
      const teamWorks = queue.hasHeldNotices && (await isTeamWorking?.(this.heldCount)) === true;
      const next = queue.take(this.planApproval.isWaiting, teamWorks);
      if (next !== undefined) await this.#turns.run(next);
      else if (await this.#mayWait()) await wake.wait(signal);
      // The last working teammate may have ended since the check above: a turn with the held notices comes first.
      else if (!queue.hasHeldNotices) lifecycle.stop("over");
    }
  }

  async #mayWait(): Promise<boolean> {
    const { decideWhenIdle, queue, agent } = this.#context;
    if ((await decideWhenIdle?.(this.heldCount, this.#turns.end.wasInterrupted)) !== "over") return true;
    // A background task that ends starts one more turn of this run.
    return !queue.isEmpty || agent.backgroundCount > 0;
  }
}
