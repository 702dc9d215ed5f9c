import { TeamError } from "../../errors.ts";
import { steadyNow } from "../../os/clock.ts";
import { livenessOf } from "../../os/process/identity.ts";
import { formatProtocol, type ProtocolMessage, parseProtocol } from "../../protocol/messages.ts";
import { shutdownRequestId } from "../../protocol/request-ids.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { history } from "../../team/mailbox/history.ts";
import { markAsRead, unreadMessages } from "../../team/mailbox/receive.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import { judgeLiveness } from "../../team/members/judge-liveness.ts";
import { findMember } from "../../team/members/members.ts";
import { readExit, readPlace, readStatus } from "../../team/records/read-records.ts";
import { operand } from "../../text/shell-quote.ts";
import type { Bell } from "../../wakeup/bell.ts";
import { openTreeBell } from "../../wakeup/tree-bell.ts";
import type { OperationContext } from "../context.ts";
import { requireLead } from "../context.ts";
import { batchClose } from "../processes/batch-close.ts";
import { removeEndedMember } from "./remove-member.ts";

/** Milliseconds that `shutdown` waits until a teammate has agreed and ended (product.md). */
export const SHUTDOWN_TIMEOUT = 30_000;

type ShutdownOutcome = "approved" | "rejected" | "timed_out" | "gone";

export interface ShutdownReport {
  readonly name: string;
  readonly outcome: ShutdownOutcome;
  /** Why the teammate refused. */
  readonly reason?: string;
}

export interface ShutdownOptions {
  readonly timeoutMs?: number;
  readonly reason?: string;
  readonly signal?: AbortSignal;
  /** Handles a teammate that has ended; by default it is removed from the team. */
  readonly onEnded?: (name: string) => Promise<unknown>;
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
  ctx: OperationContext,
  names: readonly string[],
  options: ShutdownOptions,
): Promise<readonly ShutdownReport[]> {
  const { ref } = ctx;
  // The answer goes to an inbox, the end to the exit record; both are files below this directory, so both ring the bell.
  const bell = openTreeBell([ref.paths.dir]);
  const deadline = steadyNow() + (options.timeoutMs ?? SHUTDOWN_TIMEOUT);
  const ended = options.onEnded ?? ((name: string) => removeEndedMember(ctx, name, "shutdown"));
  try {
    const waiting = new Map(await requestShutdown(ctx, names, options.reason));
    const reports = new Map<string, ShutdownReport>();
    for (;;) {
      for (const [name, requestId] of waiting) {
        const report = await checkShutdown(ctx, name, requestId, ended);
        if (report === undefined) continue;
        reports.set(name, report);
        waiting.delete(name);
      }
      if (waiting.size === 0) break;
      if (!(await waitFor(bell, deadline - steadyNow(), options.signal))) break;
    }
    for (const name of waiting.keys()) reports.set(name, { name, outcome: "timed_out" });
    return [...reports.values()];
  } finally {
    bell.close();
  }
}

/** Longest time between two polls, in milliseconds, for an end without an exit record (SIGKILL of the launch script, too). */
const POLL_MS = 1_000;

async function waitFor(bell: Bell, remainingMs: number, signal?: AbortSignal): Promise<boolean> {
  if (remainingMs <= 0 || signal?.aborted) return false;
  const timeoutMs = Math.min(remainingMs, POLL_MS);
  await bell.wait({ timeoutMs, ...(signal === undefined ? {} : { signal }) });
  return true;
}

async function checkShutdown(
  ctx: OperationContext,
  name: string,
  requestId: string,
  ended: (name: string) => Promise<unknown>,
): Promise<ShutdownReport | undefined> {
  const member = readTeam(ctx.ref).members.find((one) => one.name === name);
  if (member === undefined) return { name, outcome: "approved" };
  // Liveness is read before the answer: a teammate that agreed has sent its answer before it ends.
  const { alive } = judgeLiveness(member, {
    status: readStatus(ctx.ref, name),
    place: readPlace(ctx.ref, name),
    exit: readExit(ctx.ref, name),
  });
  const answer = await answerTo(ctx, name, requestId);
  if (answer?.type === "shutdown_rejected") return { name, outcome: "rejected", reason: answer.reason };
  const agreed = answer?.type === "shutdown_approved";
  // If liveness is unknown here (a foreign member), only its answer counts.
  if (alive === true || (alive === null && !agreed)) return undefined;
  await ended(name);
  return { name, outcome: agreed ? "approved" : "gone" };
}

/**
 * Finds the answer to this request in the lead's inbox. Without a lead process, the caller is the lead, so the answer is marked
 * as read here.
 */
async function answerTo(
  ctx: OperationContext,
  name: string,
  requestId: string,
): Promise<ProtocolMessage | undefined> {
  const { ref } = ctx;
  const isAnswer = (message: ProtocolMessage | undefined): boolean =>
    (message?.type === "shutdown_approved" || message?.type === "shutdown_rejected") &&
    message.requestId === requestId;
  const entry = (await unreadMessages(ref, LEAD_NAME)).find(({ protocol }) => isAnswer(protocol));
  if (entry !== undefined) {
    const lead = readTeam(ref).leadProcess;
    const led = lead !== undefined && livenessOf(lead) === "alive";
    if (!led) await markAsRead(ref, LEAD_NAME, [entry.key]);
    return entry.protocol;
  }
  for (const past of await history(ref, LEAD_NAME, { from: name })) {
    const message = parseProtocol(past.text);
    if (isAnswer(message)) return message;
  }
  return undefined;
}
