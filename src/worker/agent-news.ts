import type { AgentEvent } from "../agent/events.ts";
import type { OwnEvents } from "./own-events.ts";
import type { StatusKeeper } from "./status-keeper.ts";
import { ThrottleNotice } from "./throttle-notice.ts";
import type { WorkerView } from "./view.ts";

export interface AgentNewsOptions {
  readonly status: StatusKeeper;
  readonly events: OwnEvents;
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
export class AgentNews {
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
    const told = toldOf(what, event);
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
function toldOf(what: string, event: AgentEvent): AgentEvent | undefined {
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
