import { EXIT } from "../errors.ts";
import type { OperationContext } from "../operations/context.ts";
import { currentStatus } from "../operations/current-status.ts";
import { follow } from "../operations/follow-team.ts";
import { leadHint, resumeHint } from "../operations/resume-hint.ts";
import type { TeamStatus } from "../operations/status.ts";
import { operationContext } from "../runtime/operation-context.ts";
import type { OpenTeam } from "../runtime/select-team.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { memberWord } from "../team/address-words.ts";
import type { AnyCall } from "../terminal/call.ts";
import { line, wantsColors } from "../terminal/output.ts";
import { type StatusLayout, statusText } from "../terminal/status-text.ts";
import { canDraw } from "../terminal/terminal-abilities.ts";
import { printableJson } from "../text/terminal-text.ts";
import { statusJson } from "./json-times.ts";
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
  out.answer(statusJson(status), () => statusWithHint(ctx, status, out, stuckAfterMs));
  return EXIT.done;
}

/** Returns the status as text; without a running lead, also the commands that replace it and restart ended teammates. */
function statusWithHint(
  { ref, env, clock }: OperationContext,
  status: TeamStatus,
  out: AnyCall["out"],
  stuckAfterMs: number,
  layout?: StatusLayout,
): string {
  const mates = status.members.filter(({ name }) => name !== LEAD_NAME);
  const ended =
    status.leadAlive === true
      ? undefined
      : resumeHint(
          ref,
          mates.map(({ name }) => name),
        );
  const running = mates.filter(({ alive }) => alive === true).length;
  const lead =
    status.leadAlive === false && (running > 0 || ended === undefined) ? leadHint(ref, running) : undefined;
  const hints = [lead, ended].flatMap((hint) => (hint === undefined ? [] : [line`${hint}`]));
  const words = { memberWord: (name: string): string => memberWord(ref, name, env) };
  const text = statusText(status, out, { now: clock.now(), stuckAfterMs }, { ...words, ...layout });
  return [text, hints.join("\n")].filter((part) => part !== "").join("\n\n");
}

type WatchOptions = StatusOptions & { readonly stuckAfterMs: number };

function watch(call: AnyCall, ctx: OperationContext, options: WatchOptions): Promise<number> {
  const { io, out } = call;
  return io.terminal.stdout && !out.json && canDraw(io.env)
    ? watchOnScreen(call, ctx, options)
    : printChanges(call, ctx, options);
}

/** Prints the status after each change. */
async function printChanges(
  { io, out }: AnyCall,
  ctx: OperationContext,
  { stuckAfterMs, ...options }: WatchOptions,
): Promise<number> {
  let before = "";
  const print = async (): Promise<boolean> => {
    const status = await currentStatus(ctx, options);
    const text = out.json ? printableJson(status) : statusWithHint(ctx, status, out, stuckAfterMs);
    if (text !== before) out.item(statusJson(status), () => `${text}\n`);
    before = text;
    return false;
  };
  await follow(ctx.ref, print, { signal: io.interruption() });
  return EXIT.interrupted;
}

/** Draws the status on the alternate screen, which leaves nothing in the scrollback; open requests come first. */
async function watchOnScreen(
  { io, out }: AnyCall,
  ctx: OperationContext,
  { stuckAfterMs, ...options }: WatchOptions,
): Promise<number> {
  const { openWatchScreen } = await import("./watch-screen.ts");
  const signal = io.interruption();
  let status: TeamStatus | undefined;
  const text = (): string =>
    status === undefined ? "" : statusWithHint(ctx, status, out, stuckAfterMs, { forScreen: true });
  const screen = openWatchScreen(io, text, !wantsColors(io.env, true));
  const reload = async (): Promise<boolean> => {
    status = await currentStatus(ctx, options);
    screen.show();
    return false;
  };
  try {
    await follow(ctx.ref, reload, { signal: AbortSignal.any([signal, screen.closed]) });
  } finally {
    screen.close();
  }
  return screen.isInterrupted || signal.aborted ? EXIT.interrupted : EXIT.done;
}
