import type { Backend, Placement, SpawnOutcome, SpawnRequest } from "../../backend/backend.ts";
import { TeamError } from "../../errors.ts";
import type { TeamMember } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import type { StartClaim } from "../../schema/start-claim.ts";
import type { ExitRecord, PlaceRecord, StatusRecord } from "../../schema/status.ts";
import { readTeam } from "../../team/config/config.ts";
import { lookUpMember } from "../../team/members/members.ts";
import { releaseStartClaims } from "../../team/members/start-claims.ts";
import {
  readExit,
  readPlace,
  readStatus,
  removeRun,
  restoreRun,
  writePlace,
} from "../../team/records/read-records.ts";
import { operand } from "../../text/shell-quote.ts";
import type { OperationContext } from "../context.ts";
import { clearForRestart, endPreviousStart } from "../ending/clear-previous-start.ts";
import { closePlace } from "../ending/settle-ending.ts";
import { endStarted } from "../processes/end-processes.ts";
import { buildStart, restartInput, type Start } from "../spawn/draft-member.ts";
import { deliverPrompt } from "../spawn/first-prompt.ts";
import { shellSnapshot } from "../spawn/shell-snapshot.ts";
import { reconcile } from "../supervision/reconcile.ts";

/** What came of one claimed restart. */
export interface Restarted {
  readonly outcome: "restarted" | "failed";
  readonly conversation?: string | undefined;
  readonly taskIds?: readonly string[];
  readonly error?: Error;
}

/** A claimed member whose way is clear. */
interface Cleared {
  readonly start: Start;
  readonly backend: Backend;
  readonly taskIds: readonly string[];
  /** What was known of its last start. */
  readonly last: { readonly status?: StatusRecord; readonly place?: PlaceRecord; readonly exit?: ExitRecord };
}

/**
 * Starts claimed members, all at once, behind the end of what their last starts had left, and gives the claims back. Of one
 * that could not be started, the records are those of before.
 */
export async function restartClaimed(
  ctx: OperationContext,
  claims: ReadonlyMap<string, StartClaim>,
  backendOf: (member: TeamMember) => Backend | undefined,
  background: ((work: Promise<unknown>) => void) | undefined,
): Promise<ReadonlyMap<string, Restarted>> {
  if (claims.size === 0) return new Map();
  const results = new Map<string, Restarted>();
  const fail = (name: string, error: Error): void => void results.set(name, { outcome: "failed", error });
  const free = await freeOf(ctx, claims, fail);
  // The end of one whose script was about to write it down is told before its records go.
  await reconcile(ctx);
  const cleared = await clear(ctx, { claims: free, backendOf, background, fail });
  const outcomes = await startAll(ctx, cleared);
  for (const { start, last, taskIds } of cleared) {
    const { name } = start.member;
    const outcome = outcomes.get(name);
    if (outcome?.ok)
      results.set(name, { outcome: "restarted", conversation: claims.get(name)?.session, taskIds });
    else {
      restoreRun(ctx.ref, name, last);
      fail(name, outcome?.error ?? new Error(`The start of ${name} has no outcome.`));
    }
  }
  await settle(ctx, claims, outcomes);
  return results;
}

/** Ends what the last starts left. @returns the claims of those whose processes are gone */
async function freeOf(
  ctx: OperationContext,
  claims: ReadonlyMap<string, StartClaim>,
  fail: (name: string, error: Error) => void,
): Promise<ReadonlyMap<string, StartClaim>> {
  const free = new Map(claims);
  await Promise.all(
    [...claims].map(async ([name, claim]) => {
      const left = await endPreviousStart(ctx, name, claim);
      if (left.length === 0) return;
      free.delete(name);
      fail(name, stillThere(name, left));
    }),
  );
  return free;
}

function stillThere(name: string, pids: readonly number[]): TeamError {
  const message = `Processes of ${name}'s last start could not be ended: ${pids.join(", ")}. It was not started again.`;
  return new TeamError("SPAWN_FAILED", message, {
    hint: `End them, then call teams resume again; or take it out of the team: teams kill ${operand(name)} --force`,
  });
}

interface Clearing {
  readonly claims: ReadonlyMap<string, StartClaim>;
  readonly backendOf: (member: TeamMember) => Backend | undefined;
  readonly background: ((work: Promise<unknown>) => void) | undefined;
  readonly fail: (name: string, error: Error) => void;
}

/** Makes way for each that still is a member; one that had agreed to end has left by now. */
async function clear(
  ctx: OperationContext,
  { claims, backendOf, background, fail }: Clearing,
): Promise<readonly Cleared[]> {
  if (claims.size === 0) return [];
  const { ref } = ctx;
  const config = readTeam(ref);
  const snapshot = shellSnapshot(ctx);
  const taken = snapshot?.take();
  if (taken !== undefined) background?.(taken);
  const cleared: Cleared[] = [];
  for (const [name, claim] of claims) {
    const member = lookUpMember(config, name);
    const backend = member && backendOf(member);
    if (
      member === undefined ||
      backend === undefined ||
      readMetadata(member, "startClaim")?.instance !== claim.instance
    )
      continue;
    const last = defined({
      status: readStatus(ref, name),
      place: readPlace(ref, name),
      exit: readExit(ref, name),
    });
    try {
      const taskIds = await clearForRestart(ctx, member);
      if (claim.first && last.status === undefined) await deliverPrompt(ctx, member);
      const start = buildStart(ctx, config, member, restartInput(member), snapshot, claim);
      cleared.push({ start, backend, taskIds, last });
    } catch (error) {
      // Told as this member's failure: what is wrong with one keeps nobody from the others.
      restoreRun(ref, name, last);
      fail(name, asError(error));
    }
  }
  return cleared;
}

/** Starts them where each belongs, in windows and layout as a spawn makes them: one call for each kind of place. */
async function startAll(
  ctx: OperationContext,
  cleared: readonly Cleared[],
): Promise<ReadonlyMap<string, SpawnOutcome>> {
  const outcomes = new Map<string, SpawnOutcome>();
  for (const backend of new Set(cleared.map((one) => one.backend))) {
    const here = cleared.filter((one) => one.backend === backend);
    for (const kind of new Set(here.map(placementOf))) {
      const requests = here
        .filter((one) => placementOf(one) === kind)
        .map(({ start }) => withPlace(ctx, start.request));
      for (const outcome of await spawnOn(backend, requests, defined({ kind, callerPane: ctx.callerPane }))) {
        outcomes.set(outcome.name, outcome);
      }
    }
  }
  return outcomes;
}

/** As it was spawned; but nobody has asked for the window of the one who restarts to be split. */
function placementOf({ last }: Cleared): Placement["kind"] {
  const kind = last.place?.placement;
  return kind === "window" || kind === "session" ? kind : "team-window";
}

function withPlace({ ref }: OperationContext, request: SpawnRequest): SpawnRequest {
  return { ...request, onPlaced: (place) => writePlace(ref, request.name, place) };
}

/** What makes all of one kind impossible is each one's failure, and keeps nobody from living elsewhere. */
async function spawnOn(
  backend: Backend,
  requests: readonly SpawnRequest[],
  placement: Placement,
): Promise<readonly SpawnOutcome[]> {
  try {
    return await backend.spawn(requests, placement);
  } catch (error) {
    return requests.map(({ name }) => ({ ok: false, name, error: asError(error) }));
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** Gives the claims back. Who was taken out of the team meanwhile does not come back by having been started. */
async function settle(
  ctx: OperationContext,
  claims: ReadonlyMap<string, StartClaim>,
  outcomes: ReadonlyMap<string, SpawnOutcome>,
): Promise<void> {
  const started = [...outcomes.values()].flatMap((one) => (one.ok ? [one] : []));
  const changes = started.map(
    ({ name, place }) => [name, { tmuxPaneId: place.paneId ?? "", backendType: place.backend }] as const,
  );
  const finished = await releaseStartClaims(ctx.ref, claims, new Map(changes));
  for (const { name, place } of started) {
    if (finished.has(name)) continue;
    await endStarted(ctx, { place });
    await closePlace(ctx, place);
    if (lookUpMember(readTeam(ctx.ref), name) === undefined) removeRun(ctx.ref, name);
  }
}
