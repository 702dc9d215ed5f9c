import { changesSince, type ScreenChanges, type Seen, type VisibleRows } from "../backend/visible-rows.ts";
import type { OperationContext } from "../operations/context.ts";
import { steadyNow } from "../os/clock.ts";
import { livenessOf } from "../os/process/identity.ts";
import type { PlaceRecord } from "../schema/status.ts";
import { type AgentExit, launchScriptOf, toAgentExit } from "../team/members/judge-liveness.ts";
import { readExit, readPlace, readStatus } from "../team/records/read-records.ts";
import type { Bell } from "../wakeup/bell.ts";
import { teamBell } from "./follow-team.ts";
import type { PeekPaper } from "./peek-renderer.ts";

/** Milliseconds between two looks, each of which forks tmux once: a pane does not say when it changes, and somebody is watching. */
const POLL_MS = 1_000;
/** Milliseconds that it takes longer where nothing changed, unless something of the team does meanwhile. */
const LOOK_LATER = 1_000;

type PeekEnd =
  | { readonly kind: "interrupted" }
  /** It had no place of ours from the first. */
  | { readonly kind: "nowhere" }
  | { readonly kind: "ended"; readonly exit: AgentExit | undefined; readonly last: VisibleRows };

/** Shows what is to be seen of an agent, and what changes there, until it has ended or nobody watches any more. */
export async function followScreen(
  ctx: OperationContext,
  name: string,
  paper: PeekPaper,
  { rows, signal }: { readonly rows: number; readonly signal: AbortSignal },
): Promise<PeekEnd> {
  const bell = teamBell(ctx.ref);
  const glance = glancesAt(ctx, name);
  let last: VisibleRows | undefined;
  try {
    for (let ended: End | undefined; ; ) {
      const { sight, changes, end } = await glance();
      if (sight !== undefined) {
        const shown = last === undefined ? { ...changes, rows: changes.rows.slice(-rows) } : changes;
        paper.show(sight, shown, readStatus(ctx.ref, name)?.state ?? "");
        last = sight;
      }
      if (last === undefined) return { kind: "nowhere" };
      if (ended !== undefined || end !== undefined)
        return { kind: "ended", exit: ended?.exit ?? end?.exit, last };
      const isEnded = (): End | undefined => endIn(ctx, name, readPlace(ctx.ref, name));
      ended = await nextLook(bell, isEnded, { news: changes.rows.length > 0, signal });
      if (signal.aborted) return { kind: "interrupted" };
    }
  } finally {
    bell.close();
  }
}

/** Waits until it is time to look again. @returns the agent's end at once, whose records do not stay for long */
async function nextLook(
  bell: Bell,
  isEnded: () => End | undefined,
  { news, signal }: { readonly news: boolean; readonly signal: AbortSignal },
): Promise<End | undefined> {
  const since = steadyNow();
  for (let isNews = news; !signal.aborted; ) {
    const end = isEnded();
    const rest = since + POLL_MS + (isNews ? 0 : LOOK_LATER) - steadyNow();
    if (end !== undefined || rest <= 0) return end;
    if ((await bell.wait({ signal, timeoutMs: rest })) === "rung") isNews = true;
  }
  return undefined;
}

/** Nothing more will change. */
interface End {
  readonly exit: AgentExit | undefined;
}

interface Glance {
  readonly sight: VisibleRows | undefined;
  readonly changes: ScreenChanges;
  readonly end: End | undefined;
}

/** One look after the other at wherever the agent is then. */
function glancesAt(ctx: OperationContext, name: string): () => Promise<Glance> {
  let [seen, instance]: [Seen, string?] = [{}];
  return async () => {
    const place = readPlace(ctx.ref, name);
    // Read before the look, so that what it said at its end is seen.
    const end = endIn(ctx, name, place);
    const sight = place && (await ctx.backends.of(place.backend)?.sight(place));
    if (sight === undefined) return { sight, changes: NOTHING, end: end ?? { exit: undefined } };
    const next = changesSince(place?.instance === instance ? seen : {}, sight);
    [seen, instance] = [next.seen, place?.instance];
    return { sight, changes: next.changes, end };
  };
}

const NOTHING: ScreenChanges = { rows: [], leftOut: 0 };

/** The end of what runs in a place: as its launch script wrote it down, or because that is gone. */
function endIn({ ref }: OperationContext, name: string, place: PlaceRecord | undefined): End | undefined {
  const record = readExit(ref, name);
  if (record !== undefined && record.instance === place?.instance) return { exit: toAgentExit(record) };
  const script = launchScriptOf(place);
  return script !== undefined && livenessOf(script) === "dead" ? { exit: undefined } : undefined;
}
