import { messageOf, TeamError } from "../../errors.ts";
import { anyBell } from "../../wakeup/bell.ts";
import { timerBell } from "../../wakeup/timer-bell.ts";
import { openTreeBell } from "../../wakeup/tree-bell.ts";
import type { OperationContext } from "../context.ts";
import { Lifelines } from "./lifelines.ts";
import { type NoticedEnd, reconcile } from "./reconcile.ts";
import { lookAtTasks } from "./task-notifications.ts";
import { ServerEnds, type ServerEndsOptions } from "./tmux-server-exits.ts";

interface SuperviseOptions {
  readonly signal: AbortSignal;
  /** A member's end, told once. */
  onEnd(end: NoticedEnd): void;
  /** Something of the team changed: its files, or a process ended. */
  onChange(): void;
  onProblem(message: string): void;
  /** Watches the tmux servers of teammates' panes too: for who writes down what it watches, so that another can end it. */
  readonly servers?: ServerEndsOptions;
}

/**
 * Watches a team for as long as the signal lets it: files change, launch scripts end, tmux servers end. Each time deaths are looked for
 * and what follows is done; nothing here runs by the clock but the slow check.
 */
export async function supervise(ctx: OperationContext, options: SuperviseOptions): Promise<void> {
  const lifelines = new Lifelines(ctx);
  const servers = options.servers === undefined ? undefined : new ServerEnds(ctx, options.servers);
  const bell = anyBell([
    openTreeBell([ctx.ref.paths.dir, ctx.ref.paths.tasks]),
    lifelines.bell,
    ...(servers === undefined ? [] : [servers.bell]),
    timerBell(),
  ]);
  try {
    while (!options.signal.aborted) {
      try {
        lifelines.follow();
        servers?.follow();
        for (const end of await reconcile(ctx)) options.onEnd(end);
        await lookAtTasks(ctx);
      } catch (error) {
        if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return;
        options.onProblem(messageOf(error));
      }
      options.onChange();
      await bell.wait({ signal: options.signal });
    }
  } finally {
    bell.close();
    await servers?.close();
  }
}
