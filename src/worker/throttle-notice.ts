import type { AgentEvent } from "../agent/events.ts";

/** Milliseconds of one wait that nobody overlooks; a shorter one counts once it is not the only one. */
const LONG_WAIT_MS = 5_000;
/** Statuses by which a server says that it has too much to do, or that its caller asks too much. */
const BUSY: ReadonlySet<number | undefined> = new Set([429, 529]);

/** When the lead is to hear that a model's server lets an agent wait: once for each time that it does (S36). */
export class ThrottleNotice {
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
