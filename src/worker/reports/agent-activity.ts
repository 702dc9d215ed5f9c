import type { AgentEvent } from "../../agent/events.ts";
import type { WorkerContext } from "../context.ts";

/** Milliseconds of one wait that nobody overlooks; a shorter one counts once it is not the only one. */
const LONG_WAIT_MS = 5_000;
/** Statuses by which a server says that it has too much to do, or that its caller asks too much. */
const BUSY: ReadonlySet<number | undefined> = new Set([429, 529]);

/** When the lead is to hear that a model's server lets an agent wait: once for each time that it does (S36). */
class ThrottleNotice {
  #waits = 0;
  #told = false;

  /**
   * @param waiting how many calls the server lets wait now, of the agent and those that work for it
   * @returns why the agent waits, when that is news for the lead
   */
  hear(event: AgentEvent, waiting: number): string | undefined {
    // A whole answer, and no other call waits: the server lets it go on.
    if (event.type === "message" && waiting === 0) {
      this.#waits = 0;
      this.#told = false;
    }
    if (event.type !== "throttled" || !BUSY.has(event.status)) return undefined;
    this.#waits += 1;
    // One that is over before anybody has read of it is no news.
    if (this.#told || (this.#waits === 1 && event.delayMs < LONG_WAIT_MS)) return undefined;
    this.#told = true;
    return event.reason;
  }
}

/** One that works for the agent inside of its turn, or behind it. */
export interface SubagentName {
  readonly id: string;
  /** What it does, in the words of the call. */
  readonly what: string;
}

/** Keeps status, events and screen true to what an agent does, and those that work for it. */
export class AgentActivity {
  readonly #context: WorkerContext;
  readonly #notice = new ThrottleNotice();
  /** Why, of each call that a model's server lets wait; by the subagent, "" is the agent itself. */
  readonly #waits = new Map<string, string>();

  constructor(context: WorkerContext) {
    this.#context = context;
  }

  handleEvent(event: AgentEvent): void {
    this.#follow("", event);
    this.#tell(event);
  }

  /** Of what it does its agent's pane shows what concerns a person, and its account counts all of it. */
  handleSubagentEvent({ id, what }: SubagentName, event: AgentEvent): void {
    this.#follow(id, event);
    const told = reportedActivity(what, event);
    if (told !== undefined) this.#tell(told);
  }

  #tell(event: AgentEvent): void {
    const { status, events, view } = this.#context;
    if (event.type === "tool_started") status.setActivity(`${event.tool}(${event.summary})`);
    if (event.type === "subagent") status.setActivity(`${event.what}: ${event.doing}`);
    if (event.type === "compacting") status.setActivity("summarises its conversation");
    if (event.type === "compacted") status.setActivity("continues after its summary");
    if (event.type === "spent") status.addSpent(event.usage, event.costUsd);
    events.recordAgentEvent(event);
    view.event(event);
  }

  /** A call goes on with the next thing that is heard of whoever made it; until all do, the agent is throttled. */
  #follow(who: string, event: AgentEvent): void {
    const { status, role, notifications } = this.#context;
    if (event.type === "throttled") this.#waits.set(who, event.reason);
    else this.#waits.delete(who);
    const [reason] = this.#waits.values();
    if (reason === undefined) {
      if (status.state === "throttled") status.report("went_on");
    } else if (event.type === "throttled") status.report("throttled", event.reason);
    else if (status.state === "running") status.report("throttled", reason);
    const newReason = this.#notice.hear(event, this.#waits.size);
    if (newReason !== undefined && role === "teammate") void notifications.notifyThrottled(newReason);
  }
}

/** Its words and results are its own: the result comes back as that of the call. */
function reportedActivity(what: string, event: AgentEvent): AgentEvent | undefined {
  switch (event.type) {
    case "spent":
    case "model_called":
    case "throttled":
    case "permission_asked":
    case "permission_decided":
    case "hook":
    case "hook_ran":
      return event;
    case "tool_started":
      return { type: "subagent", what, doing: `${event.tool}(${event.summary})` };
    case "compacting":
      return { type: "subagent", what, doing: "summarises its conversation" };
    default:
      return undefined;
  }
}
