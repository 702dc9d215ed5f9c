import {
  type Backend,
  callerPosition,
  type Placement,
  type SpawnOutcome,
  type SpawnRequest,
} from "../../backend/backend.ts";
import { TeamError } from "../../errors.ts";
import { shellSnapshot } from "../../launch/shell-snapshot.ts";
import { isDirectory } from "../../os/files/fs.ts";
import type { TeamMember } from "../../schema/config.ts";
import { readMetadata, worktreeOf } from "../../schema/member-metadata.ts";
import type { StartClaim } from "../../schema/start-claim.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { memberWord } from "../../team/address-words.ts";
import { readTeam } from "../../team/config/config.ts";
import { lookUpMember } from "../../team/members/members.ts";
import { releaseStartClaims } from "../../team/members/start-claims.ts";
import {
  readPlace,
  readStatus,
  removeRun,
  restoreRun,
  syncPlaces,
  writePlace,
} from "../../team/records/read-records.ts";
import { shellWord } from "../../text/shell-quote.ts";
import type { OperationContext } from "../context.ts";
import { clearForRestart, endPreviousStart } from "../ending/clear-previous-start.ts";
import { closePlace } from "../ending/process-ending.ts";
import { endStartProcesses } from "../processes/end-processes.ts";
import { settleAll } from "../processes/settle-all.ts";
import { buildStart, deliverPrompt, paneIdInConfig, type Start } from "../spawn/start-steps.ts";
import { reconcile } from "../supervision/reconcile.ts";

/** The result of one claimed restart. */
export interface RestartResult {
  readonly outcome: "restarted" | "failed";
  readonly conversation?: string | undefined;
  readonly taskIds?: readonly string[];
  readonly error?: Error;
}

interface RestartOptions {
  /** Receives work that continues after the starts. */
  readonly background?: (work: Promise<unknown>) => void;
  /** Aborts the starts that are not ready yet. */
  readonly signal?: AbortSignal;
}

/** A claimed member that is ready to restart. */
interface ClearedMember {
  readonly start: Start;
  readonly backend: Backend;
  readonly taskIds: readonly string[];
  /** The place of its previous start. */
  readonly lastPlace: PlaceRecord | undefined;
}

/**
 * Restarts claimed members concurrently after ending the processes of their previous starts, then releases the claims. If a
 * restart fails, the member's previous records are restored.
 */
export async function restartClaimed(
  ctx: OperationContext,
  claims: ReadonlyMap<string, StartClaim>,
  backendOf: (member: TeamMember) => Backend | undefined,
  { background, signal }: RestartOptions = {},
): Promise<ReadonlyMap<string, RestartResult>> {
  if (claims.size === 0) return new Map();
  const results = new Map<string, RestartResult>();
  const fail = (name: string, error: Error): void => void results.set(name, { outcome: "failed", error });
  const cleared = await endAndClear(ctx, { claims, backendOf, background, fail }).catch(
    async (error: unknown) => {
      await releaseUnstarted(ctx, claims);
      throw error;
    },
  );
  const outcomes = await startAll(ctx, cleared, signal);
  for (const { start, taskIds } of cleared) {
    const { name } = start.member;
    const outcome = outcomes.get(name);
    if (outcome?.ok)
      results.set(name, { outcome: "restarted", conversation: claims.get(name)?.session, taskIds });
    else {
      restoreRun(ctx.ref, name, start.request.instance);
      fail(name, outcome?.error ?? new Error(`The start of ${name} has no outcome.`));
    }
  }
  await releaseClaims(ctx, claims, outcomes);
  return results;
}

/** Ends the processes of the previous starts, and prepares the restarts. */
async function endAndClear(ctx: OperationContext, options: ClearOptions): Promise<readonly ClearedMember[]> {
  const claims = await endPreviousStarts(ctx, options.claims, options.fail);
  // Report ends whose launch scripts were about to record them, before those records are removed.
  await reconcile(ctx);
  return clearMembers(ctx, { ...options, claims });
}

/**
 * Releases claims after a failure before the first start, so that the next call need not wait until they expire. A claim that names
 * an earlier start that was cut off stays: it leads to the processes of that start.
 */
async function releaseUnstarted(
  { ref }: OperationContext,
  claims: ReadonlyMap<string, StartClaim>,
): Promise<void> {
  const own = new Map([...claims].filter(([, { begun }]) => begun === undefined));
  try {
    await releaseStartClaims(ref, own, new Map());
  } catch {
    // The caller throws the failure itself. Its cause, such as a full disk, often prevents this write too.
  }
}

/** Ends the processes of the previous starts. @returns the claims of members without remaining processes */
async function endPreviousStarts(
  ctx: OperationContext,
  claims: ReadonlyMap<string, StartClaim>,
  fail: (name: string, error: Error) => void,
): Promise<ReadonlyMap<string, StartClaim>> {
  const free = new Map(claims);
  await settleAll(
    [...claims].map(async ([name, claim]) => {
      const remaining = await endPreviousStart(ctx, name, claim);
      if (remaining.length === 0) return;
      free.delete(name);
      fail(name, processesRemain(ctx, name, remaining));
    }),
  );
  return free;
}

function processesRemain({ ref, env }: OperationContext, name: string, pids: readonly number[]): TeamError {
  const message = `Processes of ${name}'s previous start could not be ended: ${pids.join(", ")}. It was not restarted.`;
  return new TeamError("SPAWN_FAILED", message, {
    hint: `End them, then run teams resume again; or remove the member: teams kill ${memberWord(ref, name, env)} --force`,
  });
}

interface ClearOptions {
  readonly claims: ReadonlyMap<string, StartClaim>;
  readonly backendOf: (member: TeamMember) => Backend | undefined;
  readonly background: ((work: Promise<unknown>) => void) | undefined;
  readonly fail: (name: string, error: Error) => void;
}

/** Prepares the restart of each claimed member. Members that had agreed to shut down have left the team by now and are skipped. */
async function clearMembers(
  ctx: OperationContext,
  { claims, backendOf, background, fail }: ClearOptions,
): Promise<readonly ClearedMember[]> {
  if (claims.size === 0) return [];
  const { ref } = ctx;
  const config = readTeam(ref);
  const snapshot = shellSnapshot(ctx);
  const snapshotTaken = snapshot?.take();
  if (snapshotTaken !== undefined) background?.(snapshotTaken);
  const cleared: ClearedMember[] = [];
  for (const [name, claim] of claims) {
    const member = lookUpMember(config, name);
    const backend = member && backendOf(member);
    if (
      member === undefined ||
      backend === undefined ||
      readMetadata(member, "startClaim")?.instance !== claim.instance
    )
      continue;
    const lastPlace = readPlace(ref, name);
    try {
      requireWorktree(ctx, member);
      const taskIds = await clearForRestart(ctx, member);
      if (claim.first && readStatus(ref, name) === undefined) await deliverPrompt(ctx, member);
      const start = buildStart(ctx, config, member, snapshot, claim);
      cleared.push({ start, backend, taskIds, lastPlace });
    } catch (error) {
      // One member's failure does not stop the others. Its records are as they were.
      fail(name, asError(error));
    }
  }
  return cleared;
}

/** @throws TeamError SPAWN_FAILED if the worktree of the member was moved or removed; then none of its records was changed */
function requireWorktree({ ref, env }: OperationContext, member: TeamMember): void {
  const { name } = member;
  const { path, repository } = worktreeOf(member) ?? {};
  if (path === undefined || isDirectory(path)) return;
  const git = repository === undefined ? "git" : `git -C ${shellWord(repository)}`;
  const message = `${name} was not restarted: its worktree is not at ${path}. Its conversation and its tasks are kept.`;
  throw new TeamError("SPAWN_FAILED", message, {
    hint: `If it was moved, move it back: ${git} worktree move <its new path> ${shellWord(path)} (after a move without git, first: ${git} worktree repair <its new path>). Then run teams resume again. If it is gone, remove the member: teams kill ${memberWord(ref, name, env)}`,
  });
}

/** Starts the members in their backends, in windows and a layout like a spawn's: one call for each kind of placement. */
async function startAll(
  ctx: OperationContext,
  cleared: readonly ClearedMember[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, SpawnOutcome>> {
  const outcomes = new Map<string, SpawnOutcome>();
  for (const backend of new Set(cleared.map((one) => one.backend))) {
    const here = cleared.filter((one) => one.backend === backend);
    for (const kind of new Set(here.map(placementOf))) {
      const requests = here
        .filter((one) => placementOf(one) === kind)
        .map(({ start }) => recordingPlace(ctx, { ...start.request, signal }));
      for (const outcome of await spawnOn(backend, requests, { kind, ...callerPosition(ctx) })) {
        outcomes.set(outcome.name, outcome);
      }
    }
  }
  return outcomes;
}

/** Returns the placement that the member was spawned with, but never splits the window of the process that restarts it. */
function placementOf({ lastPlace }: ClearedMember): Placement["kind"] {
  const kind = lastPlace?.placement;
  return kind === "window" || kind === "session" ? kind : "team-window";
}

function recordingPlace({ ref }: OperationContext, request: SpawnRequest): SpawnRequest {
  return { ...request, onPlaced: (place) => writePlace(ref, request.name, place, { sync: false }) };
}

/** Spawns on one backend. If that fails as a whole, each member of the call fails, and other backends still start theirs. */
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

/** Releases the claims, and ends the new processes of members that were removed from the team meanwhile. */
async function releaseClaims(
  ctx: OperationContext,
  claims: ReadonlyMap<string, StartClaim>,
  outcomes: ReadonlyMap<string, SpawnOutcome>,
): Promise<void> {
  const started = [...outcomes.values()].flatMap((one) => (one.ok ? [one] : []));
  const changes = started.map(
    ({ name, place }) => [name, { tmuxPaneId: paneIdInConfig(place), backendType: place.backend }] as const,
  );
  await syncPlaces(
    ctx.ref,
    started.map(({ name }) => name),
  );
  const finished = await releaseStartClaims(ctx.ref, claims, new Map(changes));
  for (const { name, place } of started) {
    if (finished.has(name)) continue;
    await endStartProcesses(ctx, { place });
    await closePlace(ctx, place);
    if (lookUpMember(readTeam(ctx.ref), name) === undefined) removeRun(ctx.ref, name);
  }
}
