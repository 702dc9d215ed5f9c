import {
  type Backend,
  callerPosition,
  type NotHereReason,
  type Placement,
  type SpawnOutcome,
} from "../../backend/backend.ts";
import type { TeammateMode } from "../../backend/choose-backend.ts";
import { interruptedStart } from "../../launch/await-ready.ts";
import { shellSnapshot } from "../../launch/shell-snapshot.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { readMetadata, worktreeOf } from "../../schema/member-metadata.ts";
import { readTeam, teamExists } from "../../team/config/config.ts";
import { currentMode } from "../../team/members/permission-mode.ts";
import { readStatus, writePlace } from "../../team/records/read-records.ts";
import type { IsPriced } from "../budget.ts";
import { type OperationContext, requireNoNesting } from "../context.ts";
import { awaitEndingDone } from "../ending/process-ending.ts";
import {
  type CreatedWorktree,
  createWorktree,
  type WorktreeSettings,
  withRemains,
} from "../worktrees/create-worktree.ts";
import type { DraftOptions, SpawnInput } from "./draft-member.ts";
import { type Drafted, draftTeammate, joinTeam } from "./join-team.ts";
import { requirePlace, requirePrices, requireSandboxes } from "./requirements.ts";
import { interruptedStarts, removedStart, spawnFailure } from "./spawn-failure.ts";
import {
  buildStart,
  deliverPrompt,
  type PaneRecorder,
  paneRecorder,
  removeFailedStart,
  removeInterruptedStarts,
  type Start,
} from "./start-steps.ts";

export interface SpawnOptions extends Omit<DraftOptions, "types"> {
  readonly mode?: TeammateMode;
  readonly command?: "run" | "single";
  readonly placement?: Placement["kind"];
  readonly worktrees?: WorktreeSettings;
  /** Whether the price of a model is known; needed for cost limits. */
  readonly isPriced?: IsPriced;
  /** Receives work that continues after the spawn (the shell snapshot); a command waits for it before it exits. */
  readonly background?: (work: Promise<unknown>) => void;
  /** Aborts the spawn; teammates that are not ready yet are rolled back. */
  readonly signal?: AbortSignal | undefined;
}

export interface SpawnedTeammate {
  readonly name: string;
  readonly agentId: string;
  readonly agentType: string;
  readonly model: string;
  readonly color: string;
  readonly planModeRequired: boolean;
  readonly mode: string;
  readonly cwd: string;
  /** The teammate's worktree and the branch that is checked out there; null without a worktree. */
  readonly worktree: string | null;
  readonly branch: string | null;
  readonly paneId: string | null;
  /** The agent's own process. */
  readonly pid: number | null;
  readonly backend: string;
  /** Why this backend was chosen. */
  readonly why: string;
  /** Why it is not next to the caller's pane although that was requested; null otherwise. */
  readonly notHere: NotHereReason | null;
}

/**
 * Starts teammates concurrently and returns when each has announced that it is ready.
 * @throws TeamError the first failure (SPAWN_FAILED, INVALID_NAME, DUPLICATE_NAME, …), or INTERRUPTED by the signal. Teammates that
 * did start keep running and are named in the message; the others are rolled back.
 */
export async function spawnTeammates(
  ctx: OperationContext,
  inputs: readonly SpawnInput[],
  options: SpawnOptions = {},
): Promise<readonly SpawnedTeammate[]> {
  requireNoNesting(ctx);
  const config = readTeam(ctx.ref);
  const drafted = await Promise.all(inputs.map((input) => draftTeammate(ctx, config, input, options)));
  const drafts = drafted.map(({ draft }) => draft);
  requirePrices(config, drafts, options.isPriced);
  await requireSandboxes(drafts, options.sandbox, ctx.env);
  const { backend, why } = await ctx.backends.choose(options.mode ?? "auto", options.command ?? "single");
  await requirePlace(ctx, drafts, backend.type);
  // Wait until the previous holder of each name is fully cleaned up.
  for (const { name } of drafts) await awaitEndingDone(ctx, name);
  await removeInterruptedStarts(ctx, drafts);
  // Announce only batches without worktrees: creating a worktree is slow, and other spawns would wait for it.
  const isReadySoon = inputs.every(({ worktree }) => worktree === undefined);
  const arrived = (isReadySoon ? backend.announceSpawn?.() : undefined) ?? (() => undefined);
  try {
    return await startDrafts(ctx, { config, drafted, backend, why, arrived }, options);
  } finally {
    arrived();
  }
}

/** The members to start, in the order of their inputs, and their backend. */
interface SpawnBatch {
  readonly config: TeamConfig;
  readonly drafted: readonly Drafted[];
  readonly backend: Backend;
  readonly why: string;
  /** Call when the backend has received the batch. */
  readonly arrived: () => void;
}

async function startDrafts(
  ctx: OperationContext,
  { config, drafted, backend, why, arrived }: SpawnBatch,
  options: SpawnOptions,
): Promise<readonly SpawnedTeammate[]> {
  const members = await joinTeam(ctx, { config, drafted, backendType: backend.type });
  const snapshot = shellSnapshot(ctx);
  const preparing = members.map((member, i) => prepareWorktree(ctx, member, drafted[i]?.input, options));
  const prepared = await Promise.all(preparing);
  const ready = prepared.filter((one) => one.ok);
  // The setup of a worktree takes minutes: a kill may have removed a member, and its name may have a new holder.
  const now = membersNow(ctx);
  const isMember = ({ name, joinedAt }: TeamMember): boolean =>
    now.some((one) => one.name === name && one.joinedAt === joinedAt);
  const removed = ready.filter(({ member }) => !isMember(member));
  const starts = ready
    .filter(({ member }) => isMember(member))
    .map(({ member }) =>
      buildStart(ctx, config, member, snapshot, {
        instance: readMetadata(member, "startClaim")?.instance,
      }),
    );
  const kind = options.placement ?? "team-window";
  const { signal } = options;
  const panes = paneRecorder(ctx, members);
  const launched = await launch(ctx, backend, starts, { kind, arrived, panes, signal }).catch(
    async (error: unknown) => {
      const remains = await rollbackWorktrees(ready);
      for (const member of members) await removeFailedStart(ctx, member);
      // A Ctrl-C also ends the programs that the start runs, which then fail.
      throw signal?.aborted ? interruptedStarts(members, error, remains) : withRemains(error, remains);
    },
  );
  // After the start, since the user's shell startup files would compete for the processor.
  const snapshotTaken = launched.some(({ ok }) => ok) ? snapshot?.take() : undefined;
  if (snapshotTaken !== undefined) options.background?.(snapshotTaken);
  const outcomes = [
    ...prepared.filter((one) => !one.ok),
    ...removed.map(({ member }) => removedStart(member)),
    ...launched,
  ];
  const failed = outcomes.filter((outcome) => !outcome.ok);
  const remains = await rollbackWorktrees(
    ready.filter(({ member }) => failed.some(({ name }) => name === member.name)),
  );
  for (const member of members)
    if (failed.some(({ name }) => name === member.name)) await removeFailedStart(ctx, member);
  await panes.done();
  const spawned = starts.flatMap((start) => spawnedTeammate(ctx, start, outcomes, backend, why));
  const started = spawned.map(({ name }) => name);
  if (failed.length > 0) throw spawnFailure(failed, started, remains, signal?.aborted === true);
  return spawned;
}

/** Returns the present members of the team; none if it was deleted. */
function membersNow({ ref }: OperationContext): readonly TeamMember[] {
  return teamExists(ref) ? readTeam(ref).members : [];
}

/** A member that is ready to start; its worktree, if requested, exists. */
interface Prepared extends Partial<Pick<CreatedWorktree, "rollback">> {
  readonly ok: true;
  readonly member: TeamMember;
}

async function prepareWorktree(
  ctx: OperationContext,
  member: TeamMember,
  { worktree, maxMode }: Pick<SpawnInput, "worktree" | "maxMode"> = {},
  { worktrees = {} }: SpawnOptions,
): Promise<Prepared | Extract<SpawnOutcome, { ok: false }>> {
  if (worktree === undefined) return { ok: true, member };
  try {
    const request = { ...worktree, forModel: maxMode !== undefined };
    return { ok: true, ...(await createWorktree(ctx, member, request, worktrees)) };
  } catch (error) {
    // A failed worktree fails only its own teammate.
    return { ok: false, name: member.name, error: error instanceof Error ? error : new Error(String(error)) };
  }
}

/** @returns sentences about what git could not remove */
async function rollbackWorktrees(prepared: readonly Prepared[]): Promise<readonly string[]> {
  const remains: string[] = [];
  for (const { rollback } of prepared) remains.push(...((await rollback?.()) ?? []));
  return remains;
}

interface LaunchOptions
  extends Pick<Placement, "kind">,
    Pick<SpawnBatch, "arrived">,
    Pick<SpawnOptions, "signal"> {
  readonly panes: PaneRecorder;
}

/** Delivers the prompts, then starts the processes: each agent finds its first message in its inbox. */
async function launch(
  ctx: OperationContext,
  backend: Backend,
  starts: readonly Start[],
  { kind, arrived, panes, signal }: LaunchOptions,
): Promise<readonly SpawnOutcome[]> {
  if (starts.length === 0) return [];
  for (const { member } of starts) await deliverPrompt(ctx, member);
  if (signal?.aborted) throw interruptedStart();
  const placement = { kind, ...callerPosition(ctx) };
  const outcomes = backend.spawn(
    starts.map(({ request }) => ({
      ...request,
      signal,
      onPlaced: (place) => {
        // The recorder syncs it while the agents start.
        writePlace(ctx.ref, request.name, place, { sync: false });
        panes.placed(request.name, place);
      },
    })),
    placement,
  );
  arrived();
  return outcomes;
}

function spawnedTeammate(
  ctx: OperationContext,
  { member }: Start,
  outcomes: readonly SpawnOutcome[],
  backend: Backend,
  why: string,
): SpawnedTeammate[] {
  const outcome = outcomes.find((one) => one.name === member.name);
  if (!outcome?.ok) return [];
  return [
    {
      name: member.name,
      agentId: member.agentId,
      agentType: member.agentType ?? "",
      model: member.model ?? "",
      color: member.color ?? "",
      planModeRequired: member.planModeRequired ?? false,
      mode: currentMode(member) ?? "default",
      cwd: member.cwd,
      worktree: member.worktreePath ?? null,
      branch: worktreeOf(member)?.branch ?? null,
      paneId: outcome.place.paneId ?? null,
      pid: readStatus(ctx.ref, member.name)?.process.pid ?? null,
      backend: backend.type,
      why,
      notHere: outcome.notHere ?? null,
    },
  ];
}
