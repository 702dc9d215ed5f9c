import type { AgentEvent } from "../../agent/events.ts";
import type { EventFacts, EventSubject } from "../../schema/event.ts";
import { currentEventSubject } from "../../team/members/members.ts";
import type { TeamRef } from "../../team/ref.ts";
import { recordEvent } from "../../telemetry/event-log.ts";
import type { StatusKeeper } from "../status-record.ts";
import type { WorkerView } from "../view.ts";

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

/** Writes down what one agent does, in its own name. */
export class EventRecorder {
  readonly #ref: TeamRef;
  readonly #name: string;
  #who: EventSubject | undefined;

  constructor(ref: TeamRef, name: string) {
    this.#ref = ref;
    this.#name = name;
  }

  /** Of what its agent does, what is for the record. */
  ofAgent(event: AgentEvent): void {
    const facts = factsOf(event);
    if (facts !== undefined) this.record(facts);
  }

  record(facts: EventFacts): void {
    this.#who ??= currentEventSubject(this.#ref, this.#name);
    recordEvent(this.#ref, { ...this.#who, ...facts });
  }
}

function factsOf(event: AgentEvent): EventFacts | undefined {
  switch (event.type) {
    case "model_called": {
      const { model, outcome, stopReason, usage: tokens, costUsd, ms } = event;
      return { type: "model", model, outcome, stopReason, tokens, costUsd, ms };
    }
    case "permission_decided": {
      const { tool, allowed, asked } = event;
      return { type: "permission", tool, allowed, asked };
    }
    case "hook_ran": {
      const { event: name, result, ms } = event;
      return { type: "hook", event: name, result, ms };
    }
    default:
      return undefined;
  }
}

interface AgentNewsOptions {
  readonly status: StatusKeeper;
  readonly events: EventRecorder;
  readonly view: WorkerView;
  /** The model's server lets the agent wait, and the lead has not heard of it. */
  throttled(reason: string): void;
}

/** One that works for the agent inside of its turn, or behind it. */
export interface SubagentName {
  readonly id: string;
  /** What it does, in the words of the call. */
  readonly what: string;
}

/** Keeps status, events and screen true to what an agent does, and those that work for it. */
export class AgentActivity {
  readonly #options: AgentNewsOptions;
  readonly #notice = new ThrottleNotice();
  /** Why, of each call that a model's server lets wait; by the subagent, "" is the agent itself. */
  readonly #waits = new Map<string, string>();

  constructor(options: AgentNewsOptions) {
    this.#options = options;
  }

  hear(event: AgentEvent): void {
    this.#follow("", event);
    this.#tell(event);
  }

  /** Of what it does its agent's pane shows what concerns a person, and its account counts all of it. */
  hearSubagent({ id, what }: SubagentName, event: AgentEvent): void {
    this.#follow(id, event);
    const told = reportedActivity(what, event);
    if (told !== undefined) this.#tell(told);
  }

  #tell(event: AgentEvent): void {
    const { status, events, view } = this.#options;
    if (event.type === "tool_started") status.doing(`${event.tool}(${event.summary})`);
    if (event.type === "subagent") status.doing(`${event.what}: ${event.doing}`);
    if (event.type === "compacting") status.doing("summarises its conversation");
    if (event.type === "compacted") status.doing("continues after its summary");
    if (event.type === "spent") status.spent(event.usage, event.costUsd);
    events.ofAgent(event);
    view.event(event);
  }

  /** A call goes on with the next thing that is heard of whoever made it; until all do, the agent is throttled. */
  #follow(who: string, event: AgentEvent): void {
    const { status, throttled } = this.#options;
    if (event.type === "throttled") this.#waits.set(who, event.reason);
    else this.#waits.delete(who);
    const [reason] = this.#waits.values();
    if (reason === undefined) {
      if (status.state === "throttled") status.happened("went_on");
    } else if (event.type === "throttled") status.happened("throttled", event.reason);
    else if (status.state === "running") status.happened("throttled", reason);
    const news = this.#notice.hear(event, this.#waits.size);
    if (news !== undefined) throttled(news);
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
