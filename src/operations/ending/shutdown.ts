import { TeamError } from "../../errors.ts";
import { steadyNow } from "../../os/clock.ts";
import { livenessOf } from "../../os/process/identity.ts";
import { formatProtocol, type ProtocolMessage, parseProtocol } from "../../protocol/messages.ts";
import { shutdownRequestId } from "../../protocol/request-ids.ts";
import type { TeamMember } from "../../schema/config.ts";
import { LEAD_NAME, sameName, splitAddress } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { keptConfig } from "../../team/config/kept-config.ts";
import { history } from "../../team/mailbox/history.ts";
import { markAsRead, unreadMessages } from "../../team/mailbox/receive.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import { judgeLiveness } from "../../team/members/judge-liveness.ts";
import { findMember } from "../../team/members/members.ts";
import { readExit, readPlace, readStatus } from "../../team/records/read-records.ts";
import type { KeptConfig } from "../../team/ref.ts";
import { operand } from "../../text/shell-quote.ts";
import type { Bell } from "../../wakeup/bell.ts";
import { openTreeBell } from "../../wakeup/tree-bell.ts";
import type { OperationContext } from "../context.ts";
import { requireLead } from "../context.ts";
import { batchClose } from "../processes/batch-close.ts";
import { type ForeignProof, proveForeignMembers } from "../processes/foreign-members.ts";
import { settleAll } from "../processes/settle-all.ts";
import { type ProvenEnd, removeEndedMember, UNPROVEN_EXIT_MS } from "./remove-member.ts";

/** Milliseconds that `shutdown` waits until a teammate has agreed and ended (product.md). */
export const SHUTDOWN_TIMEOUT = 30_000;

type ShutdownOutcome = "approved" | "rejected" | "timed-out" | "gone";

export interface ShutdownReport {
  readonly name: string;
  readonly outcome: ShutdownOutcome;
  /** Why the teammate refused. */
  readonly reason?: string;
  /** It agreed, but no process is proven to be its own: whether it has ended is unknown. */
  readonly unproven?: true;
}

export interface ShutdownOptions {
  readonly timeoutMs?: number;
  readonly reason?: string;
  readonly signal?: AbortSignal;
  /** Handles a teammate that has ended; by default it is removed from the team. */
  readonly onEnded?: (name: string, end: ProvenEnd) => Promise<unknown>;
}

/**
 * Sends a shutdown request to each teammate, without waiting.
 * @returns the request ids by name
 * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, INVALID_INPUT for the lead; then no request was sent
 */
export async function requestShutdown(
  ctx: OperationContext,
  names: readonly string[],
  reason?: string,
): Promise<ReadonlyMap<string, string>> {
  requireLead(ctx, "ask for a shutdown");
  const config = readTeam(ctx.ref);
  const asked = names.map((given) => findMember(config, given).name);
  if (asked.includes(LEAD_NAME)) throw leadNotShutDown(ctx);
  const ids = new Map<string, string>();
  for (const name of asked) {
    const requestId = shutdownRequestId(name, ctx.clock.now());
    const why = reason === undefined ? {} : { reason };
    const text = formatProtocol(
      { type: "shutdown_request", requestId, from: LEAD_NAME, ...why },
      new Date(ctx.clock.now()),
    );
    await sendMessage(ctx.ref, { from: LEAD_NAME, to: name, text });
    ids.set(name, requestId);
  }
  return ids;
}

function leadNotShutDown({ ref }: OperationContext): TeamError {
  return new TeamError("INVALID_INPUT", "The lead cannot be shut down by a request; no request was sent.", {
    hint: `Press Ctrl-C twice in its pane to end its run, or kill the whole team: teams kill --team ${operand(ref.team)}`,
  });
}

/**
 * Asks teammates to shut down, waits until they agree and end, and removes those that ended. A teammate that refuses, or that has
 * not ended by the deadline, is left as it is (protocol.md section 4).
 */
export function shutdownTeammates(
  outer: OperationContext,
  names: readonly string[],
  options: ShutdownOptions = {},
): Promise<readonly ShutdownReport[]> {
  return batchClose(outer, (ctx) => requestAndAwait(ctx, names, options));
}

async function requestAndAwait(
  outer: OperationContext,
  names: readonly string[],
  options: ShutdownOptions,
): Promise<readonly ShutdownReport[]> {
  const { ref } = outer;
  const ctx = { ...outer, ref: { ...ref, keptConfig: ref.keptConfig ?? configWhileTheyExit() } };
  // The answer goes to an inbox, the end to the exit record; both are files below this directory, so both ring the bell.
  const bell = openTreeBell([ref.paths.dir]);
  const deadline = steadyNow() + (options.timeoutMs ?? SHUTDOWN_TIMEOUT);
  const ended =
    options.onEnded ??
    ((name: string, end: ProvenEnd) => removeEndedMember(ctx, name, "shutdown", undefined, end));
  try {
    const waiting = new Map(await requestShutdown(outer, names, options.reason));
    const reports = new Map<string, ShutdownReport>();
    for (;;) {
      for (const report of await checkShutdowns(ctx, waiting, ended)) {
        reports.set(report.name, report);
        waiting.delete(report.name);
      }
      if (waiting.size === 0) break;
      if (!(await waitFor(bell, deadline - steadyNow(), options.signal))) break;
    }
    for (const name of waiting.keys()) reports.set(name, { name, outcome: "timed-out" });
    return [...reports.values()];
  } finally {
    bell.close();
  }
}

/** A program that writes the config in place can leave it empty while it exits. It is restored once that program has ended. */
function configWhileTheyExit(): KeptConfig {
  return keptConfig(() => undefined);
}

/** Longest time between two polls, in milliseconds, for an end without an exit record (SIGKILL of the launch script, too). */
const POLL_MS = 1_000;

async function waitFor(bell: Bell, remainingMs: number, signal?: AbortSignal): Promise<boolean> {
  if (remainingMs <= 0 || signal?.aborted) return false;
  const timeoutMs = Math.min(remainingMs, POLL_MS);
  await bell.wait({ timeoutMs, ...(signal === undefined ? {} : { signal }) });
  return true;
}

/**
 * Handles all ended teammates concurrently: the steps for each wait for the disk and for processes.
 * @param requests the ids of open requests, by name
 * @returns the reports of the teammates that refused or ended
 * @throws the first error of `ended`, after it has handled the others
 */
async function checkShutdowns(
  ctx: OperationContext,
  requests: ReadonlyMap<string, string>,
  ended: (name: string, end: ProvenEnd) => Promise<unknown>,
): Promise<readonly ShutdownReport[]> {
  const config = readTeam(ctx.ref);
  const { members } = config;
  // Proven while they run, so that their end is known.
  const foreign = await proveForeignMembers(
    ctx,
    config,
    members.filter(({ name }) => requests.has(name)),
  );
  // Liveness is read before the answers: a teammate that agreed has sent its answer before it ends.
  const alive = new Map(
    members.flatMap((member) =>
      requests.has(member.name) ? [[member.name, isAlive(ctx, member, foreign)]] : [],
    ),
  );
  const answers = await answersTo(ctx, requests);
  const reports = [...requests.keys()].flatMap((name): ShutdownReport[] => {
    const lives = alive.get(name);
    if (lives === undefined) return [{ name, outcome: "approved" }];
    const answer = answers.get(name);
    if (answer?.type === "shutdown_rejected") return [{ name, outcome: "rejected", reason: answer.reason }];
    const agreed = answer?.type === "shutdown_approved";
    // If liveness is unknown here (an unproven foreign member), only its answer counts, once it has had time to exit: a peer writes
    // the config while it exits, and would restore its entry.
    const hasLeft = agreed && ctx.clock.now() - answeredAt(answer) >= UNPROVEN_EXIT_MS;
    if (lives === true || (lives === null && (!hasLeft || isAmbiguous(foreign.get(name))))) return [];
    if (lives === null) return [{ name, outcome: "approved", unproven: true }];
    return [{ name, outcome: agreed ? "approved" : "gone" }];
  });
  const gone = reports.filter(({ name, outcome }) => outcome !== "rejected" && alive.has(name));
  await settleAll(gone.map(({ name, unproven }) => ended(name, unproven === true ? "unproven" : "proven")));
  return reports;
}

/** Whether several running processes could be the member's own; then it has not ended. */
function isAmbiguous(proof: ForeignProof | undefined): boolean {
  return proof?.alive === null && proof.why === "ambiguous";
}

function answeredAt(answer: ShutdownAnswer | undefined): number {
  const at = Date.parse(String(answer?.timestamp ?? ""));
  return Number.isNaN(at) ? 0 : at;
}

function isAlive(
  { ref }: OperationContext,
  member: TeamMember,
  foreign: ReadonlyMap<string, ForeignProof>,
): boolean | null {
  const { name } = member;
  const proof = foreign.get(name);
  if (proof !== undefined) return proof.alive;
  const records = { status: readStatus(ref, name), place: readPlace(ref, name), exit: readExit(ref, name) };
  return judgeLiveness(member, records).alive;
}

type ShutdownAnswer = Extract<ProtocolMessage, { type: "shutdown_approved" | "shutdown_rejected" }>;

/**
 * Finds the answers to these requests in the lead's inbox. Without a lead process, the caller is the lead, so the answers are
 * marked as read here.
 * @returns the answers by teammate
 */
async function answersTo(
  ctx: OperationContext,
  requests: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, ShutdownAnswer>> {
  const { ref } = ctx;
  const names = new Map([...requests].map(([name, requestId]) => [requestId, name]));
  const answers = new Map<string, ShutdownAnswer>();
  const take = (message: ProtocolMessage | undefined, from?: string): boolean => {
    if (message?.type !== "shutdown_approved" && message?.type !== "shutdown_rejected") return false;
    const name = names.get(message.requestId);
    if (name === undefined || (from !== undefined && !sameName(splitAddress(from).name, name))) return false;
    if (!answers.has(name)) answers.set(name, message);
    return true;
  };
  const unread = (await unreadMessages(ref, LEAD_NAME)).filter(({ protocol }) => take(protocol));
  const lead = readTeam(ref).leadProcess;
  const led = lead !== undefined && livenessOf(lead) === "alive";
  if (!led) {
    await markAsRead(
      ref,
      LEAD_NAME,
      unread.map(({ key }) => key),
    );
  }
  if (answers.size === requests.size) return answers;
  for (const past of await history(ref, LEAD_NAME)) take(parseProtocol(past.text), past.from);
  return answers;
}
