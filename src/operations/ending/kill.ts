import { TeamError } from "../../errors.ts";
import { ownIdentity } from "../../os/process/identity.ts";
import type { TeamMember } from "../../schema/config.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { withKillClaim } from "../../team/members/kill-claims.ts";
import { findMember } from "../../team/members/members.ts";
import { livenessOfAgent } from "../../team/records/read-records.ts";
import { operand } from "../../text/shell-quote.ts";
import { type OperationContext, requireLead } from "../context.ts";
import { batchClose } from "../processes/batch-close.ts";
import { endDeadLeadCommands } from "../processes/dead-lead.ts";
import { endProcesses } from "../processes/end-processes.ts";
import { setDiscard } from "../worktrees/discard-worktree.ts";
import type { WorktreeEnd } from "../worktrees/remove-worktree.ts";
import { removeEndedMember } from "./remove-member.ts";
import { shutdownTeammates } from "./shutdown.ts";
import { withWorktreeEnds } from "./worktree-report.ts";

/** Milliseconds that `kill` waits for an agreed shutdown before it goes on to signals (product.md). */
export const KILL_TIMEOUT = 5_000;

export interface KillReport {
  readonly name: string;
  /**
   * `shut down` when it agreed in time, `killed` when signals ended it, `gone` when nothing ran any more, `out of reach`
   * when it left the team by force and no signal could be sent to where it was (another pid space).
   */
  readonly outcome: "shut down" | "killed" | "gone" | "out of reach";
  /** Processes that outlived SIGKILL; empty when all went well. */
  readonly left: readonly number[];
  /** What became of its worktree, where it had one. */
  readonly worktree?: WorktreeEnd;
}

export interface KillOptions {
  readonly timeoutMs?: number;
  /** Skips the asking. */
  readonly force?: boolean;
  /** Their worktrees go with all that is in them; the branches stay. */
  readonly discardWorktrees?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Ends members: asks first, then signals to the whole process tree, then the pane and the membership, and the worktree if
 * nothing is unsaved in it.
 * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, INVALID_INPUT for the lead, WORKTREE_DIRTY; nothing was touched then. INTERRUPTED by the signal while it
 * asks, and PERMISSION_DENIED when one that lives in another pid space has not agreed: nobody was sent one
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
  const members = found.map(({ name }) => name);
  if (!options.discardWorktrees) return withWorktreeEnds(ctx, found, await endMembers(ctx, members, options));
  const own = ownIdentity();
  await setDiscard(ctx, members, own);
  try {
    return await withWorktreeEnds(ctx, found, await endMembers(ctx, members, options), own);
  } catch (error) {
    // Who has not ended keeps its worktree as any other.
    await setDiscard(ctx, members, undefined);
    throw error;
  }
}

/** A lead ends with its run, or is a person. */
function requireTeammates({ ref }: OperationContext, found: readonly TeamMember[]): void {
  if (!found.some(({ name }) => name === LEAD_NAME)) return;
  throw new TeamError("INVALID_INPUT", `${LEAD_NAME} leads the team, and is not killed alone.`, {
    hint: `All of the team: teams kill --team ${operand(ref.team)}. A run ends by Ctrl-C in its lead's pane.`,
  });
}

function endMembers(
  outer: OperationContext,
  members: readonly string[],
  options: KillOptions,
): Promise<readonly KillReport[]> {
  return batchClose(outer, (ctx) => endEachMember(ctx, members, options));
}

async function endEachMember(
  ctx: OperationContext,
  members: readonly string[],
  options: KillOptions,
): Promise<readonly KillReport[]> {
  const living = members.filter((name) => isAlive(ctx, name) || isRemote(ctx, name));
  const agreed = options.force ? [] : await requestAgreement(ctx, living, options);
  if (options.signal?.aborted && !options.force) requireAllAgreed(living, agreed);
  if (!options.force) requireReachable(ctx, living, agreed);
  const signalled = living.filter((name) => !agreed.includes(name));
  return withKillClaim(ctx.ref, signalled, () =>
    Promise.all(members.map((name) => endMember(ctx, name, agreed.includes(name), living.includes(name)))),
  );
}

/** Ends every member but the lead, and what a lead that was killed has left running. */
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
): Promise<readonly string[]> {
  if (living.length === 0) return [];
  const reports = await shutdownTeammates(ctx, living, {
    timeoutMs: options.timeoutMs ?? KILL_TIMEOUT,
    reason: "The team is being ended.",
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  return reports
    .filter(({ outcome }) => outcome === "approved" || outcome === "gone")
    .map(({ name }) => name);
}

/** Who is told to stop in the middle of asking does not go on to signals. */
function requireAllAgreed(living: readonly string[], agreed: readonly string[]): void {
  const others = living.filter((name) => !agreed.includes(name));
  if (others.length === 0) return;
  throw new TeamError("INTERRUPTED", `${others.join(", ")} had been asked to end; no signal was sent.`, {
    hint: "A request that was read may still be agreed to. To end them without asking: teams kill --force",
  });
}

/** A signal goes by a pid, and the pid of another pid space is somebody else's here (S77). */
function requireReachable(ctx: OperationContext, living: readonly string[], agreed: readonly string[]): void {
  const others = living.filter((name) => !agreed.includes(name) && isRemote(ctx, name));
  if (others.length === 0) return;
  throw new TeamError(
    "PERMISSION_DENIED",
    `${others.join(", ")} did not agree to end, and runs on another machine or in another container, where no signal from here arrives; none was sent.`,
    { hint: "End it there. If that place is gone for good, take it out of the team with --force." },
  );
}

async function endMember(
  ctx: OperationContext,
  name: string,
  agreed: boolean,
  lived: boolean,
): Promise<KillReport> {
  if (agreed) return { name, outcome: "shut down", left: [] };
  const outcome = isRemote(ctx, name) ? "out of reach" : lived ? "killed" : "gone";
  const left = await endProcesses(ctx, name);
  await removeEndedMember(ctx, name, "killed");
  return { name, outcome, left };
}

export function isAlive(ctx: OperationContext, name: string): boolean {
  return livenessOfAgent(ctx.ref, name) === "alive";
}

/** Whether it cannot be judged from here whether its process lives: that belongs to another pid space. */
export function isRemote(ctx: OperationContext, name: string): boolean {
  return livenessOfAgent(ctx.ref, name) === "unknown";
}
