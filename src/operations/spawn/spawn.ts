import type { Backend, NotHereReason, Placement, SpawnOutcome } from "../../backend/backend.ts";
import type { TeammateMode } from "../../backend/choose-backend.ts";
import { TeamError } from "../../errors.ts";
import { interruptedStart } from "../../launch/await-ready.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { readMetadata, worktreeOf } from "../../schema/member-metadata.ts";
import { readTeam } from "../../team/config/config.ts";
import { limitsOf } from "../../team/members/budget.ts";
import { addMembers, type NewMember } from "../../team/members/members.ts";
import { withStartClaim } from "../../team/members/start-claims.ts";
import { readStatus, writePlace } from "../../team/records/read-records.ts";
import { type IsPriced, requirePrice } from "../budget.ts";
import { type OperationContext, requireNoNesting } from "../context.ts";
import { awaitEndingDone } from "../ending/settle-ending.ts";
import { type StartedWorktree, startWorktree, type WorktreeSettings } from "../worktrees/create-worktree.ts";
import { buildStart, draftMember, type SpawnInput, type Start, workingDirectory } from "./draft-member.ts";
import { deliverPrompt } from "./first-prompt.ts";
import { rollback, takeBackCutOff } from "./interrupted-start.ts";
import { type PaneRecorder, paneRecorder } from "./pane-recorder.ts";
import { shellSnapshot } from "./shell-snapshot.ts";

export interface SpawnOptions {
  readonly mode?: TeammateMode;
  readonly command?: "run" | "single";
  readonly placement?: Placement["kind"];
  readonly worktrees?: WorktreeSettings;
  /** Why bypassPermissions is not to be had. */
  readonly bypassForbidden?: string | undefined;
  /** Whether the price of a model is known; for budgets of money. */
  readonly isPriced?: IsPriced;
  /** Told of work that goes on behind the spawn (the shell snapshot): a command that ends waits for it. */
  readonly background?: (work: Promise<unknown>) => void;
  /** Takes back what is not ready yet. */
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
  /** Where it has one of its own, and the branch that is checked out in it. */
  readonly worktree: string | null;
  readonly branch: string | null;
  readonly paneId: string | null;
  /** The agent's own process. */
  readonly pid: number | null;
  readonly backend: string;
  /** Why it lives there. */
  readonly why: string;
  /** Why it does not stand beside the caller, where that was asked for; null where it does or was not to. */
  readonly notHere: NotHereReason | null;
}

/**
 * Starts teammates, all at once, and returns when each has announced that it is ready.
 * @throws TeamError the first failure (SPAWN_FAILED, INVALID_NAME, DUPLICATE_NAME, …), INTERRUPTED by the signal. What did start keeps running and is
 * named in the message; of what did not, nothing is left.
 */
export async function spawnTeammates(
  ctx: OperationContext,
  inputs: readonly SpawnInput[],
  options: SpawnOptions = {},
): Promise<readonly SpawnedTeammate[]> {
  requireNoNesting(ctx);
  const config = readTeam(ctx.ref);
  const drafts = await Promise.all(
    inputs.map(async (input) => {
      const types = await ctx.agentTypes?.(workingDirectory(ctx, input));
      return draftMember(ctx, config, input, { types, forbidden: options.bypassForbidden });
    }),
  );
  requirePrices(config, drafts, options);
  const { backend, why } = await ctx.backends.choose(options.mode ?? "auto", options.command ?? "single");
  // Whoever had the name before has left all of it first.
  for (const { name } of drafts) await awaitEndingDone(ctx, name);
  await takeBackCutOff(ctx, drafts);
  // Nobody waits for one that has to be given its worktree first.
  const isReadySoon = inputs.every(({ worktree }) => worktree === undefined);
  const arrived = (isReadySoon ? backend.announceSpawn?.() : undefined) ?? (() => undefined);
  try {
    return await startDrafts(ctx, { config, drafts, inputs, backend, why, arrived }, options);
  } finally {
    arrived();
  }
}

/** Those that are to join, in the order of their inputs, and where they are to live. */
interface Joining {
  readonly config: TeamConfig;
  readonly drafts: readonly NewMember[];
  readonly inputs: readonly SpawnInput[];
  readonly backend: Backend;
  readonly why: string;
  /** To be called as soon as the backend has them. */
  readonly arrived: () => void;
}

async function startDrafts(
  ctx: OperationContext,
  { config, drafts, inputs, backend, why, arrived }: Joining,
  options: SpawnOptions,
): Promise<readonly SpawnedTeammate[]> {
  const members = await addMembers(
    ctx.ref,
    withStartClaim(drafts.map((draft) => ({ ...draft, backendType: backend.type }))),
    { unique: inputs.every((input) => input.unique === true), now: ctx.clock.now() },
  );
  const snapshot = shellSnapshot(ctx);
  const housed = members.map((member, i) =>
    prepareWorktree(ctx, member, inputs[i] ?? { name: member.name }, options),
  );
  const houses = await Promise.all(housed);
  const ready = houses.filter((one) => one.ok);
  const starts = ready.map(({ member, input }) =>
    buildStart(ctx, config, member, input, snapshot, {
      instance: readMetadata(member, "startClaim")?.instance,
    }),
  );
  const kind = options.placement ?? "team-window";
  const { signal } = options;
  const panes = paneRecorder(ctx, members);
  const launched = await launch(ctx, backend, starts, { kind, arrived, panes, signal }).catch(
    async (error: unknown) => {
      await takeBackAll(ready);
      for (const { name } of members) await rollback(ctx, name);
      // A Ctrl-C reaches the programs that the start needs, too.
      throw signal?.aborted ? interruptedStarts(members, error) : error;
    },
  );
  // Behind their start, which a shell's own start-up files would take a processor from.
  const taken = launched.some(({ ok }) => ok) ? snapshot?.take() : undefined;
  if (taken !== undefined) options.background?.(taken);
  const outcomes = [...houses.filter((one) => !one.ok), ...launched];
  const failed = outcomes.filter((outcome) => !outcome.ok);
  const left = await takeBackAll(
    ready.filter(({ member }) => failed.some(({ name }) => name === member.name)),
  );
  for (const { name } of failed) await rollback(ctx, name);
  await panes.done();
  const spawned = starts.flatMap((start) => describe(ctx, start, outcomes, backend, why));
  if (failed.length > 0) throw spawnFailure(failed, spawned, left, signal?.aborted === true);
  return spawned;
}

/** @throws TeamError INVALID_MODEL where what is to be held against a limit cannot be counted */
function requirePrices(config: TeamConfig, drafts: readonly NewMember[], { isPriced }: SpawnOptions): void {
  if (isPriced === undefined) return;
  for (const draft of drafts) {
    const isLimited = [config, draft].some((one) => limitsOf(one)?.maxCostUsd !== undefined);
    if (isLimited && draft.model !== undefined) requirePrice(draft.model, isPriced);
  }
}

/** A member that can be started: it has the worktree that it is to have. */
interface Prepared extends Partial<Pick<StartedWorktree, "takeBack">> {
  readonly ok: true;
  readonly member: TeamMember;
  readonly input: SpawnInput;
}

async function prepareWorktree(
  ctx: OperationContext,
  member: TeamMember,
  input: SpawnInput,
  { worktrees = {} }: SpawnOptions,
): Promise<Prepared | Extract<SpawnOutcome, { ok: false }>> {
  if (input.worktree === undefined) return { ok: true, member, input };
  try {
    return { ok: true, input, ...(await startWorktree(ctx, member, input.worktree, worktrees)) };
  } catch (error) {
    // Its own failure alone: the others start.
    return { ok: false, name: member.name, error: error instanceof Error ? error : new Error(String(error)) };
  }
}

/** @returns what git would not let go */
async function takeBackAll(houses: readonly Prepared[]): Promise<readonly string[]> {
  const left: string[] = [];
  for (const { takeBack } of houses) left.push(...((await takeBack?.()) ?? []));
  return left;
}

interface Launching extends Pick<Placement, "kind">, Pick<Joining, "arrived">, Pick<SpawnOptions, "signal"> {
  readonly panes: PaneRecorder;
}

/** Prompt first, then the process: it finds its first message when it looks. */
async function launch(
  ctx: OperationContext,
  backend: Backend,
  starts: readonly Start[],
  { kind, arrived, panes, signal }: Launching,
): Promise<readonly SpawnOutcome[]> {
  if (starts.length === 0) return [];
  for (const { member } of starts) await deliverPrompt(ctx, member);
  if (signal?.aborted) throw interruptedStart();
  const placement = ctx.callerPane === undefined ? { kind } : { kind, callerPane: ctx.callerPane };
  const outcomes = backend.spawn(
    starts.map(({ request }) => ({
      ...request,
      signal,
      onPlaced: (place) => {
        writePlace(ctx.ref, request.name, place);
        panes.placed(request.name, place);
      },
    })),
    placement,
  );
  arrived();
  return outcomes;
}

function describe(
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
      mode: member.mode ?? "default",
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

function interruptedStarts(members: readonly TeamMember[], cause: unknown): TeamError {
  const failed = members.map(({ name }) => ({ ok: false as const, name, error: interruptedStart(cause) }));
  return spawnFailure(failed, [], [], true);
}

function spawnFailure(
  failed: readonly Extract<SpawnOutcome, { ok: false }>[],
  spawned: readonly SpawnedTeammate[],
  left: readonly string[],
  isInterrupted: boolean,
): TeamError {
  const [first] = failed;
  const error = first?.error;
  const running =
    spawned.length === 0 ? "" : ` ${spawned.map(({ name }) => name).join(", ")} did start and run.`;
  const others = failed.length > 1 ? ` (and ${failed.length - 1} more)` : "";
  return new TeamError(
    isInterrupted ? "INTERRUPTED" : error instanceof TeamError ? error.code : "SPAWN_FAILED",
    [`${first?.name}${others} could not be started: ${error?.message}${running}`, ...left].join("\n"),
    {
      cause: error,
      ...(error instanceof TeamError && error.hint !== undefined ? { hint: error.hint } : {}),
      details: {
        failed: failed.map(({ name, error: { message } }) => ({ name, message })),
        started: spawned.map(({ name }) => name),
      },
    },
  );
}
