import { basename, dirname, join } from "node:path";
import type { OperationContext } from "../../operations/context.ts";
import { teamStatus } from "../../operations/status.ts";
import { Lifelines } from "../../operations/supervision/lifelines.ts";
import { isLed, reconcile } from "../../operations/supervision/reconcile.ts";
import { notifyMissedTaskChanges } from "../../operations/supervision/task-notifications.ts";
import { after, steadyNow } from "../../os/clock.ts";
import { LivenessCache } from "../../os/process/liveness-cache.ts";
import type { SidebarData } from "../../sidebar/data.ts";
import { ReadCache } from "../../store/read-cache.ts";
import { WatchedCache } from "../../store/watched-cache.ts";
import type { TeamRef } from "../../team/ref.ts";
import { withStuck } from "../../terminal/status-text.ts";
import { anyBell, type Bell, ManualBell } from "../../wakeup/bell.ts";
import { timerBell } from "../../wakeup/timer-bell.ts";
import { openTreeBell, type TreeBell } from "../../wakeup/tree-bell.ts";
import { recentMessages } from "./recent-messages.ts";

/** More messages than the tallest screen shows. */
const MESSAGES = 100;

/** Milliseconds after which a full check follows a read of only the changed files: the watch may have lost an event. */
const FULL_CHECK_MS = 1_000;

/**
 * The data of a sidebar. A change that can only alter the view, such as a new activity, costs the read of the changed files. Any
 * other ring costs a full check: every file, every process, and the supervision if no lead does it.
 */
export class SidebarFeed {
  /** Rings when the data may have changed; closing it closes the feed. */
  readonly changed: Bell;
  readonly #ctx: OperationContext;
  readonly #viewContext: OperationContext;
  readonly #stuckAfterMs: number;
  readonly #tree: TreeBell;
  readonly #files = new WatchedCache((directory) => this.#tree.isWatched(directory));
  readonly #processes = new LivenessCache();
  readonly #lifelines: Lifelines;
  #isFullCheckDue = true;
  #checkedAt = 0;
  #cancelNextCheck: (() => void) | undefined;
  readonly #nextCheck = new ManualBell(() => this.#cancelNextCheck?.());

  /** @param ctx acts on the team; @param viewContext reads the status, and may have no backends */
  constructor(ctx: OperationContext, viewContext: OperationContext, stuckAfterMs: number) {
    this.#ctx = { ...ctx, ref: { ...ctx.ref, readCache: new ReadCache() } };
    this.#stuckAfterMs = stuckAfterMs;
    this.#lifelines = new Lifelines(this.#ctx);
    const { paths } = ctx.ref;
    this.#tree = openTreeBell([paths.dir, paths.tasks], (path) => this.#onChange(path));
    const caches = { readCache: this.#files, livenessCache: this.#processes };
    this.#viewContext = { ...viewContext, ref: { ...viewContext.ref, ...caches } };
    this.changed = anyBell([
      this.#tree,
      this.#needingCheck(this.#lifelines.bell),
      this.#needingCheck(timerBell()),
      this.#nextCheck,
    ]);
  }

  /** @throws TeamError TEAM_NOT_FOUND, and errors of the supervision */
  async load(): Promise<SidebarData> {
    if (this.#isFullCheckDue || steadyNow() - this.#checkedAt >= FULL_CHECK_MS) await this.#check();
    else this.#planCheck();
    const status = await teamStatus(this.#viewContext);
    const now = this.#ctx.clock.now();
    const since = { now, stuckAfterMs: this.#stuckAfterMs };
    const members = status.members.map((member) => withStuck(member, since));
    const messages = recentMessages(this.#viewContext.ref, MESSAGES);
    return { status: { ...status, members }, messages, now };
  }

  async #check(): Promise<void> {
    this.#cancelNextCheck?.();
    this.#cancelNextCheck = undefined;
    this.#isFullCheckDue = false;
    this.#checkedAt = steadyNow();
    this.#files.checkAll();
    this.#processes.forget();
    if (isLed(this.#ctx)) return;
    try {
      this.#lifelines.follow();
      await reconcile(this.#ctx);
      await notifyMissedTaskChanges(this.#ctx);
    } catch (error) {
      // The next ring tries again.
      this.#isFullCheckDue = true;
      throw error;
    }
  }

  #planCheck(): void {
    this.#cancelNextCheck ??= after(this.#checkedAt + FULL_CHECK_MS - steadyNow(), () => {
      this.#cancelNextCheck = undefined;
      this.#isFullCheckDue = true;
      this.#nextCheck.ring();
    });
  }

  #onChange(path: string): void {
    this.#files.changed(path);
    if (!isViewOnly(this.#ctx.ref, path)) this.#isFullCheckDue = true;
  }

  #needingCheck(bell: Bell): Bell {
    return {
      wait: async (options) => {
        const outcome = await bell.wait(options);
        if (outcome === "rung") this.#isFullCheckDue = true;
        return outcome;
      },
      close: () => bell.close(),
    };
  }
}

/** Whether supervision never acts on a change of this file alone: it is a message, a log or an agent's report of its state. */
function isViewOnly({ paths }: TeamRef, path: string): boolean {
  if (dirname(path) === paths.inboxes) return path.endsWith(".json");
  if (path === paths.journal || path === paths.eventIds || path === paths.events) return true;
  const isOfRun = dirname(dirname(path)) === join(paths.dir, "run");
  return isOfRun && ["status.json", "output.log"].includes(basename(path));
}
