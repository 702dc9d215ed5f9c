import { TeamError } from "../../errors.ts";
import { ownIdentity } from "../../os/process/identity.ts";
import { endDescendants } from "../../os/process/process-tree.ts";
import type { TeamMember } from "../../schema/config.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { memberWord } from "../../team/address-words.ts";
import { readTeam } from "../../team/config/config.ts";
import { withKillClaim } from "../../team/members/kill-claims.ts";
import { findMember, lookUpMember } from "../../team/members/members.ts";
import { livenessOfAgent } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import { operand } from "../../text/shell-quote.ts";
import { type OperationContext, requireLead } from "../context.ts";
import { batchClose } from "../processes/batch-close.ts";
import { endDeadLeadCommands } from "../processes/dead-lead.ts";
import { endProcesses } from "../processes/end-processes.ts";
import { liveForeignMembers } from "../processes/foreign-facts.ts";
import type { ForeignProof } from "../processes/foreign-members.ts";
import { settleAll } from "../processes/settle-all.ts";
import { setDiscard } from "../worktrees/discard-worktree.ts";
import type { WorktreeEnd } from "../worktrees/remove-worktree.ts";
import { removeEndedMember } from "./remove-member.ts";
import { type ShutdownReport, shutdownTeammates } from "./shutdown.ts";
import { withWorktreeEnds } from "./worktree-report.ts";

/** Milliseconds that `kill` waits for an agreed shutdown before it sends signals (product.md). */
export const KILL_TIMEOUT = 5_000;

export interface KillReport {
  readonly name: string;
  /**
   * `shut-down`: it agreed in time. `killed`: signals ended it. `gone`: it was no longer running. `out-of-reach`: it was removed by
   * force without a signal, because it runs in another pid space, or because no process is proven to be its own.
   */
  readonly outcome: "shut-down" | "killed" | "gone" | "out-of-reach";
  /** The pids of processes that survived SIGKILL; usually empty. */
  readonly left: readonly number[];
  /** With `shut-down`: no process is proven to be its own, so whether it has ended is unknown. */
  readonly unproven?: true;
  /** Whether its worktree, if it had one, was removed or kept. */
  readonly worktree?: WorktreeEnd;
}

export interface KillOptions {
  readonly timeoutMs?: number;
  /** Sends signals without asking first. */
  readonly force?: boolean;
  /** Removes their worktrees with unsaved changes; the branches are kept. */
  readonly discardWorktrees?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Ends members: asks first, then sends signals to the whole process tree, closes the pane, ends the membership, and removes
 * the worktree if it has no unsaved changes.
 * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, INVALID_INPUT for the lead, WORKTREE_DIRTY; then nothing was changed. INTERRUPTED if
 * `signal` aborts while it asks, PERMISSION_DENIED if a member in another pid space has not agreed, ACTIVE_MEMBERS if no process is
 * proven to be that of a member that has not agreed; then no signal was sent
 */
export async function killTeammates(
  ctx: OperationContext,
  names: readonly string[],
  options: KillOptions = {},
): Promise<readonly KillReport[]> {
  requireLead(ctx, "end a teammate");
  const config = readTeam(ctx.ref);
  const found = names.map((name) => findMember(config, name));
  requireTeammates(ctx, found);
  if (!options.discardWorktrees) return withWorktreeEnds(ctx, found, await endMembers(ctx, found, options));
  const own = ownIdentity();
  const members = found.map(({ name }) => name);
  await setDiscard(ctx, members, own);
  try {
    return await withWorktreeEnds(ctx, found, await endMembers(ctx, found, options), own);
  } catch (error) {
    // Members that have not ended keep their worktrees.
    await setDiscard(ctx, members, undefined);
    throw error;
  }
}

/** @throws TeamError INVALID_INPUT for the lead, which ends with its run or is a person */
function requireTeammates({ ref }: OperationContext, found: readonly TeamMember[]): void {
  if (!found.some(({ name }) => name === LEAD_NAME)) return;
  throw new TeamError("INVALID_INPUT", `${LEAD_NAME} leads the team and cannot be killed alone.`, {
    hint: `To kill the whole team: teams kill --team ${operand(ref.team)}. To end a run, press Ctrl-C twice in its lead's pane.`,
  });
}

function endMembers(
  outer: OperationContext,
  members: readonly TeamMember[],
  options: KillOptions,
): Promise<readonly KillReport[]> {
  return batchClose(outer, (ctx) => endEachMember(ctx, members, options));
}

async function endEachMember(
  ctx: OperationContext,
  members: readonly TeamMember[],
  options: KillOptions,
): Promise<readonly KillReport[]> {
  const foreign = await liveForeignMembers(ctx, readTeam(ctx.ref));
  const living = members
    .map(({ name }) => name)
    .filter((name) => foreign.has(name) || isAlive(ctx, name) || isRemote(ctx, name));
  const ends = options.force ? [] : await requestAgreement(ctx, living, options);
  const agreed = ends.map(({ name }) => name);
  if (options.signal?.aborted && !options.force) requireAllAgreed(ctx.ref, living, agreed);
  if (!options.force) {
    requireReachable(ctx, living, agreed);
    requireProven(
      ctx.ref,
      living.filter((name) => !agreed.includes(name)),
      foreign,
    );
  }
  const signalled = living.filter((name) => !agreed.includes(name));
  return withKillClaim(ctx.ref, signalled, () =>
    settleAll(
      members.map((member) =>
        endMember(ctx, member, {
          agreed: ends.find(({ name }) => name === member.name),
          lived: living.includes(member.name),
          proof: foreign.get(member.name),
        }),
      ),
    ),
  );
}

/** Ends all teammates, and the commands that a killed lead left running. */
export async function killAllTeammates(
  ctx: OperationContext,
  options: KillOptions = {},
): Promise<readonly KillReport[]> {
  const names = readTeam(ctx.ref)
    .members.map((member) => member.name)
    .filter((name) => name !== LEAD_NAME);
  const reports = await killTeammates(ctx, names, options);
  await endDeadLeadCommands(ctx);
  return reports;
}

async function requestAgreement(
  ctx: OperationContext,
  living: readonly string[],
  options: KillOptions,
): Promise<readonly ShutdownReport[]> {
  if (living.length === 0) return [];
  const reports = await shutdownTeammates(ctx, living, {
    timeoutMs: options.timeoutMs ?? KILL_TIMEOUT,
    reason: "You are being ended.",
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  return reports.filter(({ outcome }) => outcome === "approved" || outcome === "gone");
}

/** An abort while it asks prevents the signals. @throws TeamError INTERRUPTED unless all members agreed */
function requireAllAgreed(ref: TeamRef, living: readonly string[], agreed: readonly string[]): void {
  const others = living.filter((name) => !agreed.includes(name));
  const [first] = others;
  if (first === undefined) return;
  throw new TeamError(
    "INTERRUPTED",
    `Interrupted while waiting for ${others.join(", ")} to agree to shut down; no signal was sent.`,
    {
      hint: `They may still agree. To end a member without asking: teams kill ${memberWord(ref, first)} --force`,
    },
  );
}

/** A pid of another pid space would name another process here, so no signal can be sent (S77). @throws TeamError PERMISSION_DENIED */
function requireReachable(ctx: OperationContext, living: readonly string[], agreed: readonly string[]): void {
  const others = living.filter((name) => !agreed.includes(name) && isRemote(ctx, name));
  const [first] = others;
  if (first === undefined) return;
  throw new TeamError(
    "PERMISSION_DENIED",
    `${others.join(", ")} did not agree to shut down. No signal from here reaches their machine or container; none was sent.`,
    {
      hint: `End the member on its machine or in its container. If that is gone for good, remove the member: teams kill ${memberWord(ctx.ref, first)} --force`,
    },
  );
}

/** Refuses to end what may be another program's process. @throws TeamError ACTIVE_MEMBERS */
function requireProven(
  ref: TeamRef,
  names: readonly string[],
  foreign: ReadonlyMap<string, ForeignProof>,
): void {
  const unproven = names.filter((name) => foreign.get(name)?.alive === null);
  const [first] = unproven;
  if (first === undefined) return;
  throw new TeamError(
    "ACTIVE_MEMBERS",
    `${unproven.join(", ")} did not agree to shut down, and no process is proven to be ${unproven.length > 1 ? "theirs" : "its own"}; nothing was ended.`,
    {
      hint: `Quit it in its own window, and repeat the command. If it no longer runs, remove it: teams kill ${memberWord(ref, first)} --force`,
      details: { active: unproven },
    },
  );
}

/** Milliseconds that another program has from SIGTERM to SIGKILL: it writes its files while it exits. */
const FOREIGN_GRACE_MS = 3_000;

interface MemberEnd {
  /** Its agreed end; undefined without one. */
  readonly agreed: ShutdownReport | undefined;
  readonly lived: boolean;
  /** For a living foreign member. */
  readonly proof: ForeignProof | undefined;
}

async function endMember(
  ctx: OperationContext,
  { name, joinedAt }: TeamMember,
  { agreed, lived, proof }: MemberEnd,
): Promise<KillReport> {
  if (agreed !== undefined)
    return { name, outcome: "shut-down", left: [], ...(agreed.unproven && { unproven: true }) };
  const holder = lookUpMember(readTeam(ctx.ref), name);
  // The member left while it was asked, and its name has a new holder.
  if (holder !== undefined && holder.joinedAt !== joinedAt) return { name, outcome: "gone", left: [] };
  if (proof !== undefined) {
    const left = proof.alive ? await endDescendants(proof.process, { graceMs: FOREIGN_GRACE_MS }) : [];
    await removeEndedMember(ctx, name, "killed");
    return { name, outcome: proof.alive ? "killed" : "out-of-reach", left };
  }
  const outcome = isRemote(ctx, name) ? "out-of-reach" : lived ? "killed" : "gone";
  const left = await endProcesses(ctx, name);
  await removeEndedMember(ctx, name, "killed");
  return { name, outcome, left };
}

export function isAlive(ctx: OperationContext, name: string): boolean {
  return livenessOfAgent(ctx.ref, name) === "alive";
}

/** Whether the member's process belongs to another pid space, so that its liveness is unknown here. */
export function isRemote(ctx: OperationContext, name: string): boolean {
  return livenessOfAgent(ctx.ref, name) === "unknown";
}
