import { EXIT } from "../errors.ts";
import type { OperationContext } from "../operations/context.ts";
import { currentStatus } from "../operations/current-status.ts";
import { follow } from "../operations/follow-team.ts";
import { leadHint, resumeHint } from "../operations/resume-hint.ts";
import type { TeamStatus } from "../operations/status.ts";
import { operationContext } from "../runtime/operation-context.ts";
import type { OpenTeam } from "../runtime/select-team.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { AnyCall } from "../terminal/call.ts";
import { line } from "../terminal/output.ts";
import { statusText } from "../terminal/status-text.ts";
import { printableJson } from "../text/terminal-text.ts";
import { readStuckAfterMs } from "./stuck-after.ts";

interface StatusOptions {
  readonly git: boolean;
  readonly watch: boolean;
}

/** Prints the full status, including processes and places: once, or after each change. */
export async function showStatus(call: AnyCall, open: OpenTeam, options: StatusOptions): Promise<number> {
  const { out } = call;
  const ctx = await operationContext(call, open);
  const stuckAfterMs = await readStuckAfterMs(call, ctx.home);
  if (options.watch) return watch(call, ctx, { ...options, stuckAfterMs });
  const status = await currentStatus(ctx, options);
  out.answer(status, () => statusWithHint(ctx, status, out, stuckAfterMs));
  return EXIT.done;
}

/** Returns the status as text; without a living lead, also the commands that replace it and restart ended teammates. */
function statusWithHint(
  { ref, clock }: OperationContext,
  status: TeamStatus,
  out: AnyCall["out"],
  stuckAfterMs: number,
): string {
  const mates = status.members.filter(({ name }) => name !== LEAD_NAME);
  const ended =
    status.leadAlive === true
      ? undefined
      : resumeHint(
          ref,
          mates.map(({ name }) => name),
        );
  const living = mates.filter(({ alive }) => alive === true).length;
  const lead =
    status.leadAlive === false && (living > 0 || ended === undefined) ? leadHint(ref, living) : undefined;
  const hints = [lead, ended].flatMap((hint) => (hint === undefined ? [] : [line`${hint}`]));
  const text = statusText(status, out, { now: clock.now(), stuckAfterMs });
  return [text, hints.join("\n")].filter((part) => part !== "").join("\n\n");
}

const CLEAR = "\x1b[H\x1b[2J";

async function watch(
  { io, out }: AnyCall,
  ctx: OperationContext,
  { stuckAfterMs, ...options }: StatusOptions & { readonly stuckAfterMs: number },
): Promise<number> {
  const signal = io.interruption();
  let before = "";
  await follow(
    ctx.ref,
    async () => {
      const status = await currentStatus(ctx, options);
      const picture = out.json ? printableJson(status) : statusWithHint(ctx, status, out, stuckAfterMs);
      if (picture !== before)
        out.item(status, () => (io.terminal.stdout ? `${CLEAR}${picture}` : `${picture}\n`));
      before = picture;
      return false;
    },
    { signal },
  );
  return EXIT.interrupted;
}
