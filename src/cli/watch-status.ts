import { EXIT } from "../errors.ts";
import type { OperationContext } from "../operations/context.ts";
import { resumeHint } from "../operations/resume-hint.ts";
import { type TeamStatus, teamStatus } from "../operations/status.ts";
import { reconcileUnlessLed } from "../operations/supervision/reconcile.ts";
import { notifyTaskChanges } from "../operations/supervision/task-notifications.ts";
import { operationContext } from "../runtime/operation-context.ts";
import type { OpenTeam } from "../runtime/select-team.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { hasPendingNotifications } from "../team/tasks/notify-owners.ts";
import type { AnyCall } from "../terminal/call.ts";
import { line } from "../terminal/paint.ts";
import { statusText } from "../terminal/status-text.ts";
import { follow } from "./follow-team.ts";
import { stuckAfter } from "./stuck-after.ts";

interface Asked {
  readonly git: boolean;
  readonly watch: boolean;
}

/** What `status` says that is more than a line: of processes and places too, once or whenever something changes. */
export async function wholeStatus(call: AnyCall, open: OpenTeam, asked: Asked): Promise<number> {
  const { out } = call;
  const ctx = await operationContext(call, open);
  const stuckAfterMs = await stuckAfter(call, ctx.home);
  if (asked.watch) return watch(call, ctx, { ...asked, stuckAfterMs });
  const status = await current(ctx, asked);
  out.answer(status, () => textOf(ctx, status, out, stuckAfterMs));
  return EXIT.done;
}

/** Deaths that nobody has noticed yet are noticed first, so that the picture is whole; and what nobody told is told. */
async function current(ctx: OperationContext, { git }: Asked): Promise<TeamStatus> {
  await reconcileUnlessLed(ctx);
  const status = await teamStatus(ctx, { git });
  const news = status.leadAlive === true ? [] : status.tasks.list.filter(hasPendingNotifications);
  await notifyTaskChanges(
    ctx,
    news.map(({ id }) => id),
  );
  return status;
}

/** Where no lead sees to it, what brings back those that have ended is named. */
function textOf(
  { ref, clock }: OperationContext,
  status: TeamStatus,
  out: AnyCall["out"],
  stuckAfterMs: number,
): string {
  const names = status.members.flatMap(({ name }) => (name === LEAD_NAME ? [] : [name]));
  const way = status.leadAlive === true ? undefined : resumeHint(ref, names);
  const text = statusText(status, out, { now: clock.now(), stuckAfterMs });
  return way === undefined ? text : `${text}\n\n${line`${way}`}`;
}

const CLEAR = "\x1b[H\x1b[2J";

async function watch(
  { io, out }: AnyCall,
  ctx: OperationContext,
  { stuckAfterMs, ...asked }: Asked & { readonly stuckAfterMs: number },
): Promise<number> {
  const signal = io.interruption();
  let before = "";
  await follow(
    ctx.ref,
    async () => {
      const status = await current(ctx, asked);
      const picture = out.json ? JSON.stringify(status) : textOf(ctx, status, out, stuckAfterMs);
      if (picture !== before)
        out.item(status, () => (io.terminal.stdout ? `${CLEAR}${picture}` : `${picture}\n`));
      before = picture;
      return false;
    },
    { signal },
  );
  return EXIT.interrupted;
}
