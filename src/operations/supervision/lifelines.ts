import { systemCode } from "../../errors.ts";
import { pause } from "../../os/clock.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { readStatus } from "../../team/records/read-records.ts";
import { type Bell, ManualBell } from "../../wakeup/bell.ts";
import { type Lifeline, watchLifeline } from "../../wakeup/lifeline.ts";
import type { OperationContext } from "../context.ts";

/**
 * Milliseconds, each behind the one before, at which an agent is looked for again once its launch script is gone: killed
 * together with it, it may outlive it by a moment, and then nothing else tells of its end.
 */
const POLL_MS = [50, 250, 1_000] as const;

/** The lifelines of all members as one bell; a line that ended is followed anew, since its member may be started again. */
export class Lifelines {
  readonly bell: Bell;
  readonly #ctx: OperationContext;
  readonly #open = new Map<string, Lifeline>();
  /** Ends the looks that follow the newest end. */
  #looks = new AbortController();
  #isClosed = false;
  readonly #rings = new ManualBell(() => this.#close());

  constructor(ctx: OperationContext) {
    this.#ctx = ctx;
    this.bell = this.#rings;
  }

  /** Follows who is a member now. @throws TeamError TEAM_NOT_FOUND */
  follow(): void {
    for (const { name } of readTeam(this.#ctx.ref).members) {
      if (name === LEAD_NAME) continue;
      const before = this.#open.get(name);
      // Its FIFOs are made anew when the runtime directory vanished, or another has started under its name.
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

  /** Those after one end are in place of what is left of those after the end before it, of which there may be many at once. */
  async #ringRepeatedly(): Promise<void> {
    if (this.#isClosed) return;
    this.#looks.abort();
    this.#looks = new AbortController();
    const { signal } = this.#looks;
    this.#rings.ring();
    for (const ms of POLL_MS) {
      if ((await pause(ms, signal)) === "aborted") return;
      this.#rings.ring();
    }
  }

  #close(): void {
    this.#isClosed = true;
    this.#looks.abort();
    for (const line of this.#open.values()) line.close();
    this.#open.clear();
  }

  #watch(name: string): Lifeline | undefined {
    const { ref } = this.#ctx;
    const line = openLifeline(ref.paths.agent(name).lifeline);
    if (line !== undefined) return line;
    // One that was started where the runtime directory is another says where its own is.
    const elsewhere = readStatus(ref, name)?.lifeline;
    return elsewhere === undefined ? undefined : openLifeline(elsewhere);
  }
}

/** undefined: not started yet, or gone with its runtime directory; the exit record and the slow check remain. */
function openLifeline(path: string): Lifeline | undefined {
  try {
    return watchLifeline(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
