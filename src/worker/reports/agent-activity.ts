import type { AgentEvent } from "../../agent/events.ts";
import type { WorkerContext } from "../context.ts";

/** Minimum length in milliseconds of a first wait that is worth a notification; any later wait is worth one. */
const LONG_WAIT_MS = 5_000;
/** HTTP statuses for an overloaded server and a rate limit. */
const THROTTLING_STATUSES: ReadonlySet<number | undefined> = new Set([429, 529]);

/** Decides when the lead is notified that a model's server throttles an agent: once for each period (S36). */
class ThrottleNotice {
  #waits = 0;
  #isNotified = false;

  /**
   * @param waiting number of calls that the server throttles now, of the agent and its subagents
   * @returns why the agent waits, if the lead is to be notified
   */
  handleEvent(event: AgentEvent, waiting: number): string | undefined {
    // After a complete answer, with no other call waiting, the throttling is over.
    if (event.type === "message" && waiting === 0) {
      this.#waits = 0;
      this.#isNotified = false;
    }
    if (event.type !== "throttled" || !THROTTLING_STATUSES.has(event.status)) return undefined;
    this.#waits += 1;
    // A single short wait is over before the lead could read about it.
    if (this.#isNotified || (this.#waits === 1 && event.delayMs < LONG_WAIT_MS)) return undefined;
    this.#isNotified = true;
    return event.reason;
  }
}

/** A subagent, which works during its agent's turn or in the background. */
export interface SubagentName {
  readonly id: string;
  /** Description of its work, from the call that started it. */
  readonly what: string;
}

/** Keeps status, event log and pane up to date with the agent and its subagents. */
export class AgentActivity {
  readonly #context: WorkerContext;
  readonly #throttleNotice = new ThrottleNotice();
  /** Reasons of the calls that a model's server throttles, by the subagent's id; "" is the agent itself. */
  readonly #waits = new Map<string, string>();

  constructor(context: WorkerContext) {
    this.#context = context;
  }

  handleEvent(event: AgentEvent): void {
    this.#trackThrottling("", event);
    this.#report(event);
  }

  /** The pane shows only events that concern a person; all costs are counted. */
  handleSubagentEvent({ id, what }: SubagentName, event: AgentEvent): void {
    this.#trackThrottling(id, event);
    const reported = reportedActivity(what, event);
    if (reported !== undefined) this.#report(reported);
  }

  #report(event: AgentEvent): void {
    const { status, events, view, role, notifications } = this.#context;
    if (event.type === "tool_started") status.setActivity(`${event.tool}(${event.summary})`);
    if (event.type === "subagent") status.setActivity(`${event.what}: ${event.action}`);
    if (event.type === "compacting") status.setActivity("summarises its conversation");
    if (event.type === "compacted") status.setActivity("continues after its summary");
    if (event.type === "unsaved") status.setActivity(`cannot save its conversation: ${event.failure}`);
    if (event.type === "saved") status.setActivity("continues: its conversation is saved");
    if (event.type === "damaged" && role === "teammate") void notifications.notifyDamaged(event.text);
    if (event.type === "spent") status.addSpent(event.usage, event.costUsd);
    events.recordAgentEvent(event);
    view.event(event);
  }

  /** Any other event of the same caller ends its wait; the agent counts as throttled until no call waits. */
  #trackThrottling(who: string, event: AgentEvent): void {
    const { status, role, notifications } = this.#context;
    if (event.type === "throttled") this.#waits.set(who, event.reason);
    else this.#waits.delete(who);
    const [reason] = this.#waits.values();
    if (reason === undefined) {
      if (status.state === "throttled") status.report("resumed");
    } else if (event.type === "throttled") status.report("throttled", event.reason);
    else if (status.state === "running") status.report("throttled", reason);
    const newReason = this.#throttleNotice.handleEvent(event, this.#waits.size);
    if (newReason !== undefined && role === "teammate") void notifications.notifyThrottled(newReason);
  }
}

/** Returns the event to report for a subagent's event; its texts and results reach the agent as the result of its call. */
function reportedActivity(what: string, event: AgentEvent): AgentEvent | undefined {
  switch (event.type) {
    case "spent":
    case "model_called":
    case "throttled":
    case "permission_asked":
    case "permission_decided":
    case "hook":
    case "hook_ran":
    case "unsaved":
    case "saved":
      return event;
    case "tool_started":
      return { type: "subagent", what, action: `${event.tool}(${event.summary})` };
    case "compacting":
      return { type: "subagent", what, action: "summarises its conversation" };
    default:
      return undefined;
  }
}
