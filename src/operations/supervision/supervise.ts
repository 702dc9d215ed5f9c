import { messageOf, TeamError } from "../../errors.ts";
import { defined } from "../../schema/defined.ts";
import type { Task } from "../../schema/task.ts";
import { readTeam } from "../../team/config/config.ts";
import { anyBell } from "../../wakeup/bell.ts";
import { timerBell } from "../../wakeup/timer-bell.ts";
import { openTreeBell } from "../../wakeup/tree-bell.ts";
import type { OperationContext } from "../context.ts";
import { proveForeignMembers } from "../processes/foreign-members.ts";
import { untilInterruptPoll } from "./foreign-interrupts.ts";
import { Lifelines } from "./lifelines.ts";
import { MissedVerifies } from "./missed-verifies.ts";
import { untilNextExitIsOverdue } from "./pending-exits.ts";
import { type NoticedEnd, reconcile } from "./reconcile.ts";
import { Retries } from "./retries.ts";
import { notifyMissedTaskChanges } from "./task-notifications.ts";
import { TmuxServerExits, type TmuxServerExitsOptions } from "./tmux-server-exits.ts";

interface SuperviseOptions {
  readonly signal: AbortSignal;
  /** Called once for each end of a member. */
  onEnd(end: NoticedEnd): void;
  /** Called when a file of the team changed or a process ended. Its errors are reported as problems and do not end the supervision. */
  onChange(): void;
  /** Proves a task that another program completed. */
  readonly verify?: (task: Task, signal: AbortSignal) => Promise<void>;
  /** Called with a failure of the check, once for consecutive failures with the same message. Must not throw. */
  onProblem(message: string): void;
  /** Milliseconds until the first slow check, if nothing rings before; by default those of the timer bell. */
  readonly slowCheckMs?: number;
  /** Also watches the tmux servers of teammates' panes. The caller records the watches, so that another process can end them. */
  readonly servers?: TmuxServerExitsOptions;
}

/**
 * Watches a team until the signal aborts or the team is deleted. Reconciles whenever files change, launch scripts end or tmux
 * servers end, and at the long intervals of the timer bell. Tries again soon after a failure, which may be a held lock or a full disk.
 */
export async function supervise(ctx: OperationContext, options: SuperviseOptions): Promise<void> {
  const lifelines = new Lifelines(ctx);
  const servers =
    options.servers === undefined
      ? undefined
      : new TmuxServerExits(ctx, {
          ...options.servers,
          onProblem: (text) => options.onProblem(text),
        });
  const bell = anyBell([
    openTreeBell([ctx.ref.paths.dir, ctx.ref.paths.tasks]),
    lifelines.bell,
    ...(servers === undefined ? [] : [servers.bell]),
    timerBell(defined({ firstMs: options.slowCheckMs })),
  ]);
  const { verify, signal, onProblem } = options;
  const missed = verify && new MissedVerifies(ctx, { verify, signal, onProblem });
  const retries = new Retries((message) => options.onProblem(message));
  try {
    while (!options.signal.aborted) {
      let retryMs: number | undefined;
      let pollMs: number | undefined;
      try {
        lifelines.follow();
        servers?.follow();
        // Proves processes while they run: an end is known only if the process was proven before.
        await proveForeignMembers(ctx, readTeam(ctx.ref));
        for (const end of await reconcile(ctx)) options.onEnd(end);
        await notifyMissedTaskChanges(ctx);
        missed?.check();
        pollMs = untilInterruptPoll(ctx, readTeam(ctx.ref));
        retries.succeeded();
      } catch (error) {
        if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return;
        retryMs = retries.failed(error);
      }
      try {
        options.onChange();
      } catch (error) {
        options.onProblem(messageOf(error));
      }
      // Nothing rings when a launch script fails to record an exit.
      const waits = [retryMs, pollMs, untilNextExitIsOverdue(ctx.ref)].filter((ms) => ms !== undefined);
      const timeoutMs = waits.length === 0 ? undefined : Math.min(...waits);
      await bell.wait(defined({ signal: options.signal, timeoutMs }));
    }
  } finally {
    bell.close();
    await Promise.all([servers?.close(), missed?.end()]);
  }
}
