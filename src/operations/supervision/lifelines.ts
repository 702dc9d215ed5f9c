import { systemCode } from "../../errors.ts";
import { pause } from "../../os/clock.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { readStatus } from "../../team/records/read-records.ts";
import { type Bell, ManualBell } from "../../wakeup/bell.ts";
import { type Lifeline, watchLifeline } from "../../wakeup/lifeline.ts";
import type { OperationContext } from "../context.ts";

/**
 * Pauses in milliseconds, one after the other, before an agent is checked again once its launch script is gone. If both were
 * killed together, the agent may end a moment later, and nothing else reports that end.
 */
const POLL_MS = [50, 250, 1_000] as const;

/** The lifelines of all members as one bell. A broken lifeline is opened again, since its member may be restarted. */
export class Lifelines {
  readonly bell: Bell;
  readonly #ctx: OperationContext;
  readonly #open = new Map<string, Lifeline>();
  /** Cancels the repeated rings after the newest end. */
  #repeats = new AbortController();
  #isClosed = false;
  readonly #rings = new ManualBell(() => this.#close());

  constructor(ctx: OperationContext) {
    this.#ctx = ctx;
    this.bell = this.#rings;
  }

  /** Opens the lifelines of the current members. @throws TeamError TEAM_NOT_FOUND */
  follow(): void {
    for (const { name } of readTeam(this.#ctx.ref).members) {
      if (name === LEAD_NAME) continue;
      const before = this.#open.get(name);
      // The FIFOs are created again if the runtime directory was removed, or if another agent starts under this name.
      if (before?.isInPlace()) continue;
      const line = this.#watch(name);
      if (line === undefined) continue;
      before?.close();
      this.#open.set(name, line);
      void line.ended.then(() => {
        line.close();
        if (this.#open.get(name) === line) this.#open.delete(name);
        return this.#ringRepeatedly();
      });
    }
  }

  /** Rings now and after each pause. A new end replaces the remaining rings of the end before it: many may end at once. */
  async #ringRepeatedly(): Promise<void> {
    if (this.#isClosed) return;
    this.#repeats.abort();
    this.#repeats = new AbortController();
    const { signal } = this.#repeats;
    this.#rings.ring();
    for (const ms of POLL_MS) {
      if ((await pause(ms, signal)) === "aborted") return;
      this.#rings.ring();
    }
  }

  #close(): void {
    this.#isClosed = true;
    this.#repeats.abort();
    for (const line of this.#open.values()) line.close();
    this.#open.clear();
  }

  #watch(name: string): Lifeline | undefined {
    const { ref } = this.#ctx;
    const line = openLifeline(ref.paths.agent(name).lifeline);
    if (line !== undefined) return line;
    // An agent that was started with another runtime directory records the path of its lifeline.
    const elsewhere = readStatus(ref, name)?.lifeline;
    return elsewhere === undefined ? undefined : openLifeline(elsewhere);
  }
}

/** Returns undefined if the agent is not started yet or its runtime directory is gone; the exit record and the timer remain. */
function openLifeline(path: string): Lifeline | undefined {
  try {
    return watchLifeline(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
