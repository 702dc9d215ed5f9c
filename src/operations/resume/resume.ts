import { READY_TIMEOUT_MS } from "../../backend/await-start.ts";
import type { Backend } from "../../backend/backend.ts";
import type { TeammateMode } from "../../backend/choose-backend.ts";
import { TeamError } from "../../errors.ts";
import { removeFile } from "../../os/files/fs.ts";
import { envSnapshot, processTable } from "../../os/process/process-table.ts";
import { INSTANCE_VARIABLE } from "../../os/process/process-tree.ts";
import type { TeamMember } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { unreadCount } from "../../team/mailbox/receive.ts";
import { judgeLiveness } from "../../team/members/judge-liveness.ts";
import { findMember } from "../../team/members/members.ts";
import {
  claimStarts,
  hasStartClaim,
  releaseStartClaims,
  remainingStartMs,
} from "../../team/members/start-claims.ts";
import { readHook } from "../../team/records/hook-record.ts";
import {
  livenessOfAgent,
  readExit,
  readLastStatus,
  readPlace,
  readStatus,
} from "../../team/records/read-records.ts";
import { type OperationContext, requireLead } from "../context.ts";
import { presentInstances } from "../processes/present-instances.ts";
import { requireSocket } from "../processes/require-socket.ts";
import { isConversation, type LeadOutcome, takeOverLead } from "../run/take-over-lead.ts";
import { reconcile } from "../supervision/reconcile.ts";
import { type RestartResult, restartClaimed } from "./restart-members.ts";
import { waitWhile } from "./wait-while.ts";

interface ResumeOptions {
  /** Where restarted members run; by default where they ran before. */
  readonly mode?: TeammateMode;
  /** `run` if the caller keeps running and can hold agents in its own process; `single` by default. */
  readonly command?: "run" | "single";
  /** Takes over the lead even if the liveness of the lead's process is unknown here. */
  readonly force?: boolean;
  /** Receives work that continues after the starts (the shell snapshot); a command waits for it before it exits. */
  readonly background?: (work: Promise<unknown>) => void;
  /** Aborts the starts: a member that is not ready yet is `failed`, and stays as it was. */
  readonly signal?: AbortSignal;
}

export interface ResumedMember {
  readonly name: string;
  readonly color: string | null;
  /**
   * `alive`: was already running. `restarted`: by this call. `failed`: this call could not restart it. `down`: another call claimed it
   * and did not start it. `unknown`: cannot be judged from here (a foreign member, or another machine's).
   */
  readonly outcome: "alive" | "restarted" | "failed" | "down" | "unknown";
  readonly backend: string | null;
  readonly paneId: string | null;
  /** The agent's own process. */
  readonly pid: number | null;
  /** The session that a restarted member continues; null if it had none. */
  readonly conversation: string | null;
  /** The tasks that were reassigned to a restarted member. */
  readonly taskIds: readonly string[];
  readonly error: { readonly code: string; readonly message: string; readonly hint: string | null } | null;
}

export interface ResumeReport {
  readonly lead: LeadOutcome;
  /** The number of unread messages to the lead. */
  readonly unread: number;
  readonly members: readonly ResumedMember[];
}

/**
 * Resumes a team: running members continue; dead ones restart with their conversation, their unread messages and their tasks that
 * are still unassigned. The caller takes over from a dead lead. Idempotent; concurrent calls restart each member once.
 * @throws TeamError NOT_LEAD, TMUX_NOT_FOUND, INVALID_INPUT, INTERRUPTED before the first start; then nothing was started
 */
export async function resumeTeam(ctx: OperationContext, options: ResumeOptions = {}): Promise<ResumeReport> {
  requireLead(ctx, "resume the team");
  const { signal } = options;
  await awaitHangups(ctx, signal);
  await adoptInterruptedRestarts(ctx, signal);
  // Before any record of the previous runs is removed: members that agreed to shut down leave, other ends are reported.
  await reconcile(ctx);
  const backendOf = await chooseBackends(ctx, options);
  refuseAborted(signal);
  const lead = await takeOverLead(ctx, options.force ?? false);
  const claims = await claimStarts(ctx.ref, (member) =>
    backendOf(member) === undefined ? undefined : restartableSession(ctx, member),
  );
  const restarted = await restartClaimed(ctx, claims, backendOf, options);
  await waitWhile(ctx, () => teammatesOf(ctx).some(hasStartClaim), OTHER_RESUME_MS, signal);
  return {
    lead,
    unread: unreadCount(ctx.ref, LEAD_NAME),
    members: teammatesOf(ctx).map((member) => report(ctx, member, restarted.get(member.name))),
  };
}

/**
 * Resumes one member like {@link resumeTeam}, without taking over the lead.
 * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, TMUX_NOT_FOUND, INVALID_INPUT, INTERRUPTED before the start; then nothing was started
 */
export async function resumeMember(
  ctx: OperationContext,
  memberName: string,
  options: Omit<ResumeOptions, "force"> = {},
): Promise<ResumedMember> {
  requireLead(ctx, "start a teammate again");
  await adoptInterruptedRestarts(ctx, options.signal);
  await reconcile(ctx);
  const { name } = findMember(readTeam(ctx.ref), memberName);
  const backendOf = await chooseBackends(ctx, options, [name]);
  refuseAborted(options.signal);
  const claims = await claimStarts(ctx.ref, (member) =>
    member.name === name && backendOf(member) !== undefined ? restartableSession(ctx, member) : undefined,
  );
  const restarted = await restartClaimed(ctx, claims, backendOf, options);
  return report(ctx, findMember(readTeam(ctx.ref), name), restarted.get(name));
}

/** @throws TeamError INTERRUPTED */
function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted)
    throw new TeamError("INTERRUPTED", "Interrupted before the first start; nothing was started.");
}

/** Milliseconds to wait for an agent whose terminal is gone to end; its shell commands get 2 s of that. */
const HANGUP_MS = 5_000;
/** Milliseconds to wait for a concurrent resume of the same team; a start fails after 30 s. */
const OTHER_RESUME_MS = 45_000;

/** Waits for agents whose pane was just closed, or whose tmux server died: they are about to end. */
async function awaitHangups(ctx: OperationContext, signal?: AbortSignal): Promise<void> {
  const living = teammatesOf(ctx).flatMap(({ name }) => (isAlive(ctx, name) ? [name] : []));
  const places = living.map((name) => ({ name, place: readPlace(ctx.ref, name) }));
  const present = await presentInstances(
    ctx,
    places.flatMap(({ place }) => place ?? []),
  );
  const hungUp = places.flatMap(({ name, place }) =>
    place !== undefined && !present.has(place.instance) ? [name] : [],
  );
  await waitWhile(ctx, () => hungUp.some((name) => isAlive(ctx, name)), HANGUP_MS, signal);
}

function isAlive({ ref }: OperationContext, name: string): boolean {
  return livenessOfAgent(ref, name) === "alive";
}

/** Reads all members but the lead from the config. */
function teammatesOf({ ref }: OperationContext): readonly TeamMember[] {
  return readTeam(ref).members.filter(({ name }) => name !== LEAD_NAME);
}

/**
 * Chooses the backend of each member that is down, before anything is changed.
 * @param only considers only these members
 * @throws TeamError TMUX_NOT_FOUND, INVALID_INPUT
 */
async function chooseBackends(
  ctx: OperationContext,
  { mode, command = "single" }: ResumeOptions,
  only: readonly string[] = teammatesOf(ctx).map(({ name }) => name),
): Promise<(member: TeamMember) => Backend | undefined> {
  const chosen = new Map<TeammateMode, Backend>();
  for (const member of teammatesOf(ctx).filter(({ name }) => only.includes(name))) {
    const memberMode = modeOf(member, mode, command);
    if (chosen.has(memberMode) || restartableSession(ctx, member) === undefined) continue;
    const { backend } = await ctx.backends.choose(memberMode, command);
    if (backend.type === "tmux") await requireSocket(ctx);
    chosen.set(memberMode, backend);
  }
  return (member) => chosen.get(modeOf(member, mode, command));
}

/** A program in a pane of a person is reached by a process without a pane. */
function modeOf(
  member: TeamMember,
  given: TeammateMode | undefined,
  command: "run" | "single",
): TeammateMode {
  return readMetadata(member, "adopted") === undefined
    ? (given ?? backendModeOf(member, command))
    : "process";
}

/** Returns the member's previous mode; `auto` if it ran in a lead's process that is gone, or in an unknown backend. */
function backendModeOf({ backendType }: TeamMember, command: "run" | "single"): TeammateMode {
  if (backendType === "in-process" && command === "run") return backendType;
  return backendType === "tmux" || backendType === "process" || backendType === "iterm2"
    ? backendType
    : "auto";
}

/** Whether a member has stopped, and can be restarted from here. */
export function isStopped(ctx: OperationContext, member: TeamMember): boolean {
  return member.name !== LEAD_NAME && restartableSession(ctx, member) !== undefined;
}

/** Returns the session to resume for a member that is down; undefined if it lives or cannot be judged from here. */
function restartableSession(
  { ref, home }: OperationContext,
  member: TeamMember,
): { readonly session: string | undefined } | undefined {
  const { name } = member;
  const records = { status: readStatus(ref, name), place: readPlace(ref, name), exit: readExit(ref, name) };
  const claim = readMetadata(member, "startClaim");
  const { alive } = judgeLiveness(member, records);
  // A killed process had begun to start a member without a place (such as an imported one), which has no status yet.
  const isHalfStarted = claim !== undefined && records.status === undefined && records.place === undefined;
  if (alive !== false && !isHalfStarted) return undefined;
  // A CLI that reads its inbox itself continues its own conversation.
  if (readMetadata(member, "ownInbox") === true)
    return { session: readMetadata(member, "conversation") ?? readHook(ref, name)?.conversation };
  // The status may be lost in a power cut or on a full disk. A member of an older version has its session only there.
  const known = [readMetadata(member, "session"), readLastStatus(ref, name)?.sessionId, claim?.session];
  return { session: known.find((id) => isConversation(home.root, id)) };
}

/**
 * Adopts agents whose restart was cut off because the restarting process died. Waits for agents that are still starting, at most
 * as long as a start may take. A running agent becomes the member's current start, although its place was never recorded.
 */
async function adoptInterruptedRestarts(ctx: OperationContext, signal?: AbortSignal): Promise<void> {
  const { ref } = ctx;
  const interrupted = teammatesOf(ctx).flatMap((member) => {
    const claim = readMetadata(member, "startClaim");
    return claim === undefined || hasStartClaim(member) ? [] : [{ name: member.name, claim }];
  });
  const isReporting = ({ name, claim }: (typeof interrupted)[number]): boolean =>
    readStatus(ref, name)?.instance === claim.instance && isAlive(ctx, name);
  for (const one of interrupted) {
    const isStarting = (): boolean => !isReporting(one) && hasMarkedProcess(one.claim.instance);
    await waitWhile(ctx, isStarting, remainingStartMs(one.claim, READY_TIMEOUT_MS, ctx.clock.now()), signal);
  }
  const running = interrupted.filter(isReporting);
  if (running.length === 0) return;
  for (const { name, claim } of running) {
    // The place record of the old start would make the new start seem dead.
    if (readPlace(ref, name)?.instance !== claim.instance) removeFile(ref.paths.agent(name).place);
  }
  const paneOf = (name: string) => ({ tmuxPaneId: readStatus(ref, name)?.paneId ?? "" });
  await releaseStartClaims(
    ref,
    new Map(running.map(({ name, claim }) => [name, claim])),
    new Map(running.map(({ name }) => [name, paneOf(name)])),
  );
}

/** Whether a process with the marker of this start runs. */
function hasMarkedProcess(instance: string): boolean {
  const env = envSnapshot();
  const isStarted = (pid: number): boolean => env(pid, `${INSTANCE_VARIABLE}=${instance}`);
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
