import type { AgentEvent } from "../../agent/events.ts";
import type { EventFacts, EventSubject } from "../../schema/event.ts";
import { currentEventSubject } from "../../team/members/members.ts";
import type { TeamRef } from "../../team/ref.ts";
import { recordEvent } from "../../telemetry/event-log.ts";

/** Records the events of one agent in the event log. */
export class EventRecorder {
  readonly #ref: TeamRef;
  readonly #name: string;
  #subject: EventSubject | undefined;
  /** The team's name when the subject was read: the ids in the subject contain it. */
  #team: string | undefined;

  constructor(ref: TeamRef, name: string) {
    this.#ref = ref;
    this.#name = name;
  }

  /** Records an agent's event if the log has a type for it. */
  recordAgentEvent(event: AgentEvent): void {
    const facts = factsOf(event);
    if (facts !== undefined) this.record(facts);
  }

  /** @param other the subject, if it is not the agent itself */
  record(facts: EventFacts, other?: EventSubject): void {
    if (this.#team !== this.#ref.team) this.#subject = undefined;
    this.#team = this.#ref.team;
    this.#subject ??= currentEventSubject(this.#ref, this.#name);
    recordEvent(this.#ref, { ...(other ?? this.#subject), ...facts });
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
