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

/** Keeps status, events and screen true to what an agent does. */
export class AgentNews {
  readonly #options: AgentNewsOptions;
  readonly #notice = new ThrottleNotice();

  constructor(options: AgentNewsOptions) {
    this.#options = options;
  }

  hear(event: AgentEvent): void {
    const { status, events, view, throttled } = this.#options;
    if (event.type === "tool_started") status.doing(`${event.tool}(${event.summary})`);
    if (event.type === "subagent") status.doing(`${event.what}: ${event.doing}`);
    if (event.type === "compacting") status.doing("summarises its conversation");
    if (event.type === "throttled") status.happened("throttled", event.reason);
    else if (status.state === "throttled") status.happened("went_on");
    if (event.type === "spent") status.spent(event.usage, event.costUsd);
    events.ofAgent(event);
    const waitsFor = this.#notice.hear(event);
    if (waitsFor !== undefined) throttled(waitsFor);
    view.event(event);
  }
}
