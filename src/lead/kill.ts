import { TeamError } from "../errors.ts";
import { livenessOf } from "../os/identity.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { readTeam } from "../team/config.ts";
import { findMember } from "../team/members.ts";
import { readStatus } from "../team/records.ts";
import { type LeadContext, requireLead } from "./context.ts";
import { endProcesses } from "./end-processes.ts";
import { finishMember } from "./finish-member.ts";
import { shutdownTeammates } from "./shutdown.ts";

/** Milliseconds that `kill` waits for an agreed shutdown before it goes on to signals (product.md). */
export const KILL_TIMEOUT = 5_000;

export interface KillReport {
  readonly name: string;
  /** `shut down` when it agreed in time, `killed` when signals ended it, `gone` when nothing ran any more. */
  readonly outcome: "shut down" | "killed" | "gone";
  /** Processes that outlived SIGKILL; empty when all went well. */
  readonly left: readonly number[];
}

export interface KillOptions {
  readonly timeoutMs?: number;
  /** Skips the asking. */
  readonly force?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Ends members: asks first, then signals to the whole process tree, then the pane and the membership.
 * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND; nothing was touched then. INTERRUPTED by the signal while it asks: nobody
 * was sent one
 */
export async function killTeammates(
  ctx: LeadContext,
  names: readonly string[],
  options: KillOptions = {},
): Promise<readonly KillReport[]> {
  requireLead(ctx, "end a teammate");
  const config = readTeam(ctx.ref);
  const members = names.map((name) => findMember(config, name).name).filter((name) => name !== LEAD_NAME);
  const living = members.filter((name) => isAlive(ctx, name));
  const agreed = options.force ? [] : await ask(ctx, living, options);
  if (options.signal?.aborted && !options.force) requireAll(living, agreed);
  return Promise.all(members.map((name) => end(ctx, name, agreed.includes(name), living.includes(name))));
}

/** Ends every member but the lead. */
export async function killEverybody(
  ctx: LeadContext,
  options: KillOptions = {},
): Promise<readonly KillReport[]> {
  const names = readTeam(ctx.ref)
    .members.map((member) => member.name)
    .filter((name) => name !== LEAD_NAME);
  return killTeammates(ctx, names, options);
}

async function ask(
  ctx: LeadContext,
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
function requireAll(living: readonly string[], agreed: readonly string[]): void {
  const others = living.filter((name) => !agreed.includes(name));
  if (others.length === 0) return;
  throw new TeamError("INTERRUPTED", `${others.join(", ")} had been asked to end; no signal was sent.`, {
    hint: "A request that was read may still be agreed to. To end them without asking: teams kill --force",
  });
}

async function end(ctx: LeadContext, name: string, agreed: boolean, lived: boolean): Promise<KillReport> {
  if (agreed) return { name, outcome: "shut down", left: [] };
  const left = await endProcesses(ctx, name);
  await finishMember(ctx, name, "killed");
  return { name, outcome: lived ? "killed" : "gone", left };
}

export function isAlive(ctx: LeadContext, name: string): boolean {
  const status = readStatus(ctx.ref, name);
  return status !== undefined && livenessOf(status.process) === "alive";
}
