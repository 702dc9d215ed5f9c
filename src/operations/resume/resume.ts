import { READY_TIMEOUT_MS } from "../../backend/await-start.ts";
import type { Backend } from "../../backend/backend.ts";
import type { TeammateMode } from "../../backend/choose-backend.ts";
import { TeamError } from "../../errors.ts";
import { steadyNow } from "../../os/clock.ts";
import { entryOf, removeFile } from "../../os/files/fs.ts";
import { envEntryMatcher, processTable } from "../../os/process/process-table.ts";
import { INSTANCE_VARIABLE } from "../../os/process/process-tree.ts";
import { transcriptPath } from "../../protocol/paths.ts";
import type { TeamMember } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { unreadCount } from "../../team/mailbox/receive.ts";
import { judgeLiveness } from "../../team/members/judge-liveness.ts";
import { findMember } from "../../team/members/members.ts";
import { claimStarts, hasStartClaim, releaseStartClaims } from "../../team/members/start-claims.ts";
import { livenessOfAgent, readExit, readPlace, readStatus } from "../../team/records/read-records.ts";
import { openTreeBell } from "../../wakeup/tree-bell.ts";
import { type OperationContext, requireLead } from "../context.ts";
import { presentInstances } from "../processes/present-instances.ts";
import { type LeadOutcome, takeOverLead } from "../run/take-over-lead.ts";
import { reconcile } from "../supervision/reconcile.ts";
import { type RestartResult, restartClaimed } from "./restart-members.ts";

interface ResumeOptions {
  /** Where those live that are started again; where they lived without it. */
  readonly mode?: TeammateMode;
  /** Whether the caller stays, and can hold agents in its own process; one that ends by default. */
  readonly command?: "run" | "single";
  /** Takes the lead also where nobody can see from here whether the lead's process lives. */
  readonly force?: boolean;
  /** Told of work that goes on behind the starts (the shell snapshot): a command that ends waits for it. */
  readonly background?: (work: Promise<unknown>) => void;
}

export interface ResumedMember {
  readonly name: string;
  readonly color: string | null;
  /**
   * `alive` is left as it is; `restarted` by this call; `failed` could not be; `down` is one that another call had begun with
   * and did not start; `unknown` cannot be judged from here (a foreign peer, another machine's).
   */
  readonly outcome: "alive" | "restarted" | "failed" | "down" | "unknown";
  readonly backend: string | null;
  readonly paneId: string | null;
  /** The agent's own process. */
  readonly pid: number | null;
  /** Of a restarted one: the session that it goes on with; null where it had none. */
  readonly conversation: string | null;
  /** Of a restarted one: the tasks that are its own again. */
  readonly taskIds: readonly string[];
  readonly error: { readonly code: string; readonly message: string; readonly hint: string | null } | null;
}

export interface ResumeReport {
  readonly lead: LeadOutcome;
  /** Messages that wait for the lead. */
  readonly unread: number;
  readonly members: readonly ResumedMember[];
}

/**
 * Takes a team up again: what lives stays as it is; what died is started with its conversation, its unread messages and the
 * tasks that nobody else has; a lead whose process has died is followed by the caller. Done twice, or by two at once, it
 * starts each member once.
 * @throws TeamError NOT_LEAD, TMUX_NOT_FOUND, INVALID_INPUT; nothing was started then
 */
export async function resumeTeam(ctx: OperationContext, options: ResumeOptions = {}): Promise<ResumeReport> {
  requireLead(ctx, "resume the team");
  await awaitHangups(ctx);
  await adoptInterruptedRestarts(ctx);
  // Who agreed to end leaves, and of the others the lead is told, before anything of their runs is taken away.
  await reconcile(ctx);
  const backendOf = await chooseBackends(ctx, options);
  const lead = await takeOverLead(ctx, options.force ?? false);
  const claims = await claimStarts(ctx.ref, (member) =>
    backendOf(member) === undefined ? undefined : restartableSession(ctx, member),
  );
  const restarted = await restartClaimed(ctx, claims, backendOf, options.background);
  await waitWhile(ctx, () => teammatesOf(ctx).some(hasStartClaim), OTHER_RESUME_MS);
  return {
    lead,
    unread: unreadCount(ctx.ref, LEAD_NAME),
    members: teammatesOf(ctx).map((member) => report(ctx, member, restarted.get(member.name))),
  };
}

/**
 * As {@link resumeTeam} of one member; who leads the team is left as it is.
 * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, TMUX_NOT_FOUND, INVALID_INPUT; nothing was started then
 */
export async function resumeMember(
  ctx: OperationContext,
  given: string,
  options: Omit<ResumeOptions, "force"> = {},
): Promise<ResumedMember> {
  requireLead(ctx, "start a teammate again");
  await adoptInterruptedRestarts(ctx);
  await reconcile(ctx);
  const { name } = findMember(readTeam(ctx.ref), given);
  const backendOf = await chooseBackends(ctx, options, [name]);
  const claims = await claimStarts(ctx.ref, (member) =>
    member.name === name && backendOf(member) !== undefined ? restartableSession(ctx, member) : undefined,
  );
  const restarted = await restartClaimed(ctx, claims, backendOf, options.background);
  return report(ctx, findMember(readTeam(ctx.ref), name), restarted.get(name));
}

/** Milliseconds that an agent has to end once its terminal is gone: its shell commands have two. */
const HANGUP_MS = 5_000;
/** Milliseconds that another who resumes the same team at the same time has: a start is given up after 30 s. */
const OTHER_RESUME_MS = 45_000;
/** Longest wait between two looks, in milliseconds: one that is killed with its launch script changes no file. */
const POLL_MS = 250;

/** An agent whose pane was closed just now, or died with its server, is about to end, and is not taken for a living one. */
async function awaitHangups(ctx: OperationContext): Promise<void> {
  const living = teammatesOf(ctx).flatMap(({ name }) => (isAlive(ctx, name) ? [name] : []));
  const places = living.map((name) => ({ name, place: readPlace(ctx.ref, name) }));
  const present = await presentInstances(
    ctx,
    places.flatMap(({ place }) => place ?? []),
  );
  const hungUp = places.flatMap(({ name, place }) =>
    place !== undefined && !present.has(place.instance) ? [name] : [],
  );
  await waitWhile(ctx, () => hungUp.some((name) => isAlive(ctx, name)), HANGUP_MS);
}

function isAlive({ ref }: OperationContext, name: string): boolean {
  return livenessOfAgent(ref, name) === "alive";
}

/** @param forMs it is given up then */
async function waitWhile(ctx: OperationContext, isSo: () => boolean, forMs: number): Promise<void> {
  if (!isSo()) return;
  const bell = openTreeBell([ctx.ref.paths.dir]);
  const deadline = steadyNow() + forMs;
  try {
    while (isSo() && steadyNow() < deadline) await bell.wait({ timeoutMs: POLL_MS });
  } finally {
    bell.close();
  }
}

/** Every member but the lead, as the config has them now. */
function teammatesOf({ ref }: OperationContext): readonly TeamMember[] {
  return readTeam(ref).members.filter(({ name }) => name !== LEAD_NAME);
}

/**
 * Where each of those that are down is started again; asked before anything is changed.
 * @param only of these
 * @throws TeamError TMUX_NOT_FOUND, INVALID_INPUT
 */
async function chooseBackends(
  ctx: OperationContext,
  { mode, command = "single" }: ResumeOptions,
  only: readonly string[] = teammatesOf(ctx).map(({ name }) => name),
): Promise<(member: TeamMember) => Backend | undefined> {
  const chosen = new Map<TeammateMode, Backend>();
  for (const member of teammatesOf(ctx).filter(({ name }) => only.includes(name))) {
    const wanted = mode ?? backendModeOf(member, command);
    if (chosen.has(wanted) || restartableSession(ctx, member) === undefined) continue;
    chosen.set(wanted, (await ctx.backends.choose(wanted, command)).backend);
  }
  return (member) => chosen.get(mode ?? backendModeOf(member, command));
}

/** Where it lived; who lived in the process of a lead that is none now, or with a program of which nothing is known, gets what there is. */
function backendModeOf({ backendType }: TeamMember, command: "run" | "single"): TeammateMode {
  if (backendType === "in-process" && command === "run") return backendType;
  return backendType === "tmux" || backendType === "process" || backendType === "iterm2"
    ? backendType
    : "auto";
}

/** What is known of a member that may be started; undefined for one that lives, or that cannot be judged from here. */
function restartableSession(
  { ref, home }: OperationContext,
  member: TeamMember,
): { readonly session: string | undefined } | undefined {
  const { name } = member;
  const records = { status: readStatus(ref, name), place: readPlace(ref, name), exit: readExit(ref, name) };
  const begun = readMetadata(member, "startClaim");
  const { alive } = judgeLiveness(member, records);
  // A killed process had begun to start one that had no place, as an imported one has none; it has said nothing yet.
  const isHalfStarted = begun !== undefined && records.status === undefined && records.place === undefined;
  if (alive !== false && !isHalfStarted) return undefined;
  return { session: existingSession(home.root, records.status?.sessionId ?? begun?.session) };
}

/** The session, if it has begun; its id, read from a file, becomes the name of one. */
function existingSession(root: string, id: string | undefined): string | undefined {
  if (id === undefined || !/^[\w-]{1,128}$/.test(id)) return undefined;
  return entryOf(transcriptPath(root, id)) === undefined ? undefined : id;
}

/**
 * An agent that a killed process had begun to start again, and that is about to speak, is waited for as long as a start may
 * take; one that lives is a member's start like any other, though nobody wrote down where it was put.
 */
async function adoptInterruptedRestarts(ctx: OperationContext): Promise<void> {
  const { ref } = ctx;
  const left = teammatesOf(ctx).flatMap((member) => {
    const claim = readMetadata(member, "startClaim");
    return claim === undefined || hasStartClaim(member) ? [] : [{ name: member.name, claim }];
  });
  const speaks = ({ name, claim }: (typeof left)[number]): boolean =>
    readStatus(ref, name)?.instance === claim.instance && isAlive(ctx, name);
  for (const one of left) {
    const isStarting = (): boolean => !speaks(one) && hasMarkedProcess(one.claim.instance);
    await waitWhile(ctx, isStarting, one.claim.at + READY_TIMEOUT_MS - ctx.clock.now());
  }
  const begun = left.filter(speaks);
  if (begun.length === 0) return;
  for (const { name, claim } of begun) {
    // The old start's place would make the new one look dead.
    if (readPlace(ref, name)?.instance !== claim.instance) removeFile(ref.paths.agent(name).place);
  }
  const paneOf = (name: string) => ({ tmuxPaneId: readStatus(ref, name)?.paneId ?? "" });
  await releaseStartClaims(
    ref,
    new Map(begun.map(({ name, claim }) => [name, claim])),
    new Map(begun.map(({ name }) => [name, paneOf(name)])),
  );
}

/** Whether anything runs that a start has begun. */
function hasMarkedProcess(instance: string): boolean {
  const isStarted = envEntryMatcher(`${INSTANCE_VARIABLE}=${instance}`);
  return processTable().some(({ pid }) => isStarted(pid));
}

function report(
  ctx: OperationContext,
  member: TeamMember,
  restarted: RestartResult | undefined,
): ResumedMember {
  const { ref } = ctx;
  const { name } = member;
  const status = readStatus(ref, name);
  const place = readPlace(ref, name);
  const { alive } = judgeLiveness(member, { status, place, exit: readExit(ref, name) });
  const lives = alive === true;
  return {
    name,
    color: member.color ?? null,
    outcome: restarted?.outcome ?? (alive === null ? "unknown" : lives ? "alive" : "down"),
    backend: member.backendType ?? null,
    paneId: lives ? (place?.paneId ?? status?.paneId ?? null) : null,
    pid: lives ? (status?.process.pid ?? null) : null,
    conversation: restarted?.conversation ?? null,
    taskIds: restarted?.taskIds ?? [],
    error: restarted?.error === undefined ? null : errorOf(restarted.error),
  };
}

function errorOf(error: Error): NonNullable<ResumedMember["error"]> {
  const known = error instanceof TeamError ? error : undefined;
  return { code: known?.code ?? "SPAWN_FAILED", message: error.message, hint: known?.hint ?? null };
}
