import {
  changesSince,
  type LastSeen,
  type ScreenChanges,
  type VisibleRows,
} from "../backend/visible-rows.ts";
import type { OperationContext } from "../operations/context.ts";
import { moveAfterRename, teamBell } from "../operations/follow-team.ts";
import { placeOfMember } from "../operations/processes/place-of-member.ts";
import { steadyNow } from "../os/clock.ts";
import { livenessOf } from "../os/process/identity.ts";
import type { PlaceRecord } from "../schema/status.ts";
import { type AgentExit, launchScriptOf, toAgentExit } from "../team/members/judge-liveness.ts";
import { readForeign } from "../team/records/foreign-record.ts";
import { readExit, readPlace, readStatus } from "../team/records/read-records.ts";
import type { Bell } from "../wakeup/bell.ts";
import type { PeekRenderer } from "./peek-renderer.ts";

/** Milliseconds between two polls: a pane does not report its changes, and each poll forks tmux once. */
const POLL_MS = 1_000;
/** Milliseconds that are added if the screen did not change, unless a file of the team changes first. */
const QUIET_DELAY_MS = 1_000;

type PeekEnd =
  | { readonly kind: "interrupted" }
  /** The agent had no place that teams knows when the watch began. */
  | { readonly kind: "nowhere" }
  | { readonly kind: "ended"; readonly exit: AgentExit | undefined; readonly last: VisibleRows };

/** Shows an agent's screen and its changes until the agent ends or the signal stops it. */
export async function followScreen(
  ctx: OperationContext,
  name: string,
  renderer: PeekRenderer,
  { rows, signal }: { readonly rows: number; readonly signal: AbortSignal },
): Promise<PeekEnd> {
  const bell = teamBell(ctx.ref);
  const readScreen = screenReader(ctx, name);
  let last: VisibleRows | undefined;
  try {
    for (let ended: ScreenEnd | undefined; ; ) {
      moveAfterRename(ctx.ref);
      const { current, changes, end } = await readScreen();
      if (current !== undefined) {
        const shown = last === undefined ? { ...changes, rows: changes.rows.slice(-rows) } : changes;
        renderer.show(current, shown, readStatus(ctx.ref, name)?.state ?? "");
        last = current;
      }
      if (last === undefined) return { kind: "nowhere" };
      if (ended !== undefined || end !== undefined)
        return { kind: "ended", exit: ended?.exit ?? end?.exit, last };
      const currentEnd = (): ScreenEnd | undefined => {
        moveAfterRename(ctx.ref);
        return findEnd(ctx, name, readPlace(ctx.ref, name));
      };
      ended = await waitForNextPoll(bell, currentEnd, { isChanged: changes.rows.length > 0, signal });
      if (signal.aborted) return { kind: "interrupted" };
    }
  } finally {
    bell.close();
  }
}

/** Waits for the next poll. @returns the agent's end as soon as it is recorded: its records are soon removed */
async function waitForNextPoll(
  bell: Bell,
  currentEnd: () => ScreenEnd | undefined,
  { isChanged, signal }: { readonly isChanged: boolean; readonly signal: AbortSignal },
): Promise<ScreenEnd | undefined> {
  const since = steadyNow();
  for (let isSoon = isChanged; !signal.aborted; ) {
    const end = currentEnd();
    const rest = since + POLL_MS + (isSoon ? 0 : QUIET_DELAY_MS) - steadyNow();
    if (end !== undefined || rest <= 0) return end;
    if ((await bell.wait({ signal, timeoutMs: rest })) === "rung") isSoon = true;
  }
  return undefined;
}

/** The agent has ended: its screen will no longer change. */
interface ScreenEnd {
  readonly exit: AgentExit | undefined;
}

interface ScreenReading {
  /** undefined if the agent has no screen. */
  readonly current: VisibleRows | undefined;
  readonly changes: ScreenChanges;
  readonly end: ScreenEnd | undefined;
}

/** Returns a function that reads the agent's screen, at its current place, and the changes since its last call. */
function screenReader(ctx: OperationContext, name: string): () => Promise<ScreenReading> {
  let [seen, instance]: [LastSeen, string?] = [{}];
  return async () => {
    const place = await placeOfMember(ctx, name);
    // Read before the screen, so that the agent's last output is shown.
    const end = findEnd(ctx, name, place);
    const current = place && (await ctx.backends.of(place.backend)?.visibleRows(place));
    if (current === undefined) return { current, changes: NO_CHANGES, end: end ?? { exit: undefined } };
    const next = changesSince(place?.instance === instance ? seen : {}, current);
    [seen, instance] = [next.seen, place?.instance];
    return { current, changes: next.changes, end };
  };
}

const NO_CHANGES: ScreenChanges = { rows: [], leftOut: 0 };

/** Returns the end of the instance in a place: as its launch script recorded it, or without a record if the script is dead. */
function findEnd(
  { ref }: OperationContext,
  name: string,
  place: PlaceRecord | undefined,
): ScreenEnd | undefined {
  const record = readExit(ref, name);
  if (record !== undefined && record.instance === place?.instance) return { exit: toAgentExit(record) };
  // The pane of a foreign member may be a person's shell, which stays.
  const script = readForeign(ref, name)?.process ?? launchScriptOf(place);
  return script !== undefined && livenessOf(script) === "dead" ? { exit: undefined } : undefined;
}
