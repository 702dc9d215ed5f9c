import { messageOf, systemCode, TeamError } from "../errors.ts";
import { pause } from "../os/clock.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { readTeam } from "../team/config.ts";
import { anyBell } from "../wakeup/any-bell.ts";
import type { Bell } from "../wakeup/bell.ts";
import { type Lifeline, watchLifeline } from "../wakeup/lifeline.ts";
import { Rings } from "../wakeup/rings.ts";
import { slowBell } from "../wakeup/slow-check.ts";
import { openTreeBell } from "../wakeup/watch-tree.ts";
import type { LeadContext } from "./context.ts";
import { type NoticedEnd, reconcile } from "./reconcile.ts";

export interface SuperviseOptions {
  readonly signal: AbortSignal;
  /** A member's end, told once. */
  onEnd(end: NoticedEnd): void;
  /** Something of the team changed: its files, or a process ended. */
  onChange(): void;
  onProblem(message: string): void;
}

/**
 * Watches a team for as long as the signal lets it: files change, launch scripts end. Each time deaths are looked for
 * and what follows is done; nothing here runs by the clock but the slow check.
 */
export async function supervise(ctx: LeadContext, options: SuperviseOptions): Promise<void> {
  const lifelines = new Lifelines(ctx);
  const bell = anyBell([openTreeBell([ctx.ref.paths.dir, ctx.ref.paths.tasks]), lifelines.bell, slowBell()]);
  try {
    while (!options.signal.aborted) {
      try {
        lifelines.follow(membersOf(ctx));
        for (const end of await reconcile(ctx)) options.onEnd(end);
      } catch (error) {
        if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return;
        options.onProblem(messageOf(error));
      }
      options.onChange();
      await bell.wait({ signal: options.signal });
    }
  } finally {
    bell.close();
  }
}

function membersOf(ctx: LeadContext): string[] {
  return readTeam(ctx.ref)
    .members.map((member) => member.name)
    .filter((name) => name !== LEAD_NAME);
}

/**
 * Milliseconds, each behind the one before, at which an agent is looked for again once its launch script is gone: killed
 * together with it, it may outlive it by a moment, and then nothing else tells of its end.
 */
const LOOK_AGAIN_MS = [50, 250, 1_000] as const;

/** The lifelines of all members as one bell; a line that ended is followed anew, since its member may be started again. */
class Lifelines {
  readonly bell: Bell;
  readonly #ctx: LeadContext;
  readonly #open = new Map<string, Lifeline>();
  readonly #closing = new AbortController();
  readonly #rings = new Rings(() => this.#close());

  constructor(ctx: LeadContext) {
    this.#ctx = ctx;
    this.bell = this.#rings;
  }

  follow(names: readonly string[]): void {
    for (const name of names) {
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

  async #ringRepeatedly(): Promise<void> {
    this.#rings.ring();
    for (const ms of LOOK_AGAIN_MS) {
      if ((await pause(ms, this.#closing.signal)) === "aborted") return;
      this.#rings.ring();
    }
  }

  #close(): void {
    this.#closing.abort();
    for (const line of this.#open.values()) line.close();
    this.#open.clear();
  }

  #watch(name: string): Lifeline | undefined {
    try {
      return watchLifeline(this.#ctx.ref.paths.agent(name).lifeline);
    } catch (error) {
      // Not started yet, or gone with its runtime directory: the exit record and the slow check remain.
      if (systemCode(error) === "ENOENT") return undefined;
      throw error;
    }
  }
}
