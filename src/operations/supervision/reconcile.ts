import { livenessOf } from "../../os/process/identity.ts";
import type { TeamMember } from "../../schema/config.ts";
import type { Ending } from "../../schema/ending.ts";
import { readMetadata, withMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { claimEnding, endingId, unfinishedEndings } from "../../team/members/ending-claims.ts";
import { findForeignProcesses } from "../../team/members/foreign-process.ts";
import {
  type AgentExit,
  isDeliberate,
  judgeLiveness,
  toAgentExit,
} from "../../team/members/judge-liveness.ts";
import { hasKillClaim } from "../../team/members/kill-claims.ts";
import { lookUpMember } from "../../team/members/members.ts";
import { keepsOnExit } from "../../team/members/start-claims.ts";
import {
  livenessOfAgent,
  readCrash,
  readExit,
  readPlace,
  readStatus,
} from "../../team/records/read-records.ts";
import { unfinishedTasks } from "../../team/tasks/unassign.ts";
import type { OperationContext } from "../context.ts";
import { exitReason, lastLinesOf } from "../ending/last-lines.ts";
import { processEnding, reclaimEndings } from "../ending/process-ending.ts";
import {
  type ProvenEnd,
  type ReadUnfinishedTasks,
  removeEndedMember,
  UNPROVEN_EXIT_MS,
} from "../ending/remove-member.ts";
import { endDeadLeadWatches } from "../processes/dead-lead.ts";
import { recordedFacts } from "../processes/foreign-facts.ts";
import { isForeignMember, recordedProof } from "../processes/foreign-members.ts";
import { notifyForeignInterrupts } from "./foreign-interrupts.ts";
import { isExitPending } from "./pending-exits.ts";

/**
 * Claims an end that no process noticed before a person restarted the agent in its pane. The agent keeps its tasks. Of several
 * such ends in a row, only the last is known.
 * @returns undefined without such an end, or if it has been reported
 */
async function claimMissedCrash({ ref }: OperationContext, member: TeamMember): Promise<Ending | undefined> {
  const { name } = member;
  const status = readStatus(ref, name);
  if (status?.before === undefined) return undefined;
  const id = endingId({ ...status, process: status.before });
  const isReported = (one: TeamMember): boolean => {
    const last = readMetadata(one, "lastReportedEnd");
    return last === id || last === endingId(status);
  };
  if (isReported(member)) return undefined;
  const record = readCrash(ref, name);
  const exit = record !== undefined && record.instance === status.instance ? toAgentExit(record) : null;
  const verb = exit !== null && isDeliberate(exit) ? "ended" : "crashed";
  const news = `${name} ${verb}${exitReason(exit)} and was restarted in its pane.${lastLinesOf(exit)}`;
  return claimEnding(ref, { id, name, how: "restarted", news, tasks: [] }, (config) => {
    const known = lookUpMember(config, name);
    return known === undefined || isReported(known) ? undefined : config;
  });
}

/** An end that this process was the first to notice, or that it finished for another process. */
export interface NoticedEnd {
  readonly name: string;
  readonly how: "shutdown" | "crashed" | "exited" | "restarted";
  readonly exit: AgentExit | null;
}

/** The newest reconcile of each context. */
const running = new WeakMap<OperationContext, Promise<readonly NoticedEnd[]>>();

/**
 * Finds members whose process has ended and processes each end once across all processes: completes an agreed shutdown; after a
 * crash, unassigns the tasks and notifies the lead (protocol.md section 4). Finishes the work of a killed process. Sends the
 * idle notices of interrupted foreign members. Calls with one context run one after the other; when a call returns, the ends that it
 * found are reported.
 * @throws TeamError TEAM_NOT_FOUND
 */
export function reconcile(ctx: OperationContext): Promise<readonly NoticedEnd[]> {
  const before = running.get(ctx) ?? Promise.resolve([]);
  // The previous caller gets that error; this call reconciles again.
  const next = before.catch(() => []).then(() => reconcileOnce(ctx));
  running.set(ctx, next);
  return next;
}

async function reconcileOnce(ctx: OperationContext): Promise<readonly NoticedEnd[]> {
  const failures: unknown[] = [];
  const ends: NoticedEnd[] = [];
  const attempt = async (work: () => Promise<readonly NoticedEnd[]>): Promise<void> => {
    try {
      ends.push(...(await work()));
    } catch (error) {
      // Thrown below, so that one member's failure does not stop the others.
      failures.push(error);
    }
  };
  let read: ReturnType<ReadUnfinishedTasks> | undefined;
  const unfinished: ReadUnfinishedTasks = () => {
    read ??= unfinishedTasks(ctx.ref);
    return read;
  };
  const config = readTeam(ctx.ref);
  for (const unfinishedEnd of unfinishedEndings(config)) {
    await attempt(async () =>
      (await reclaimEndings(ctx, [unfinishedEnd])).map((ending) => toNoticedEnd(ctx, ending)),
    );
  }
  for (const member of config.members) await attempt(() => reconcileMember(ctx, member, unfinished));
  await attempt(() => endDeadLeadWatches(ctx).then(() => []));
  await attempt(() => notifyForeignInterrupts(ctx, config).then(() => []));
  if (failures.length > 0) throw failures[0];
  return ends;
}

async function reconcileMember(
  ctx: OperationContext,
  member: TeamMember,
  unfinished: ReadUnfinishedTasks,
): Promise<readonly NoticedEnd[]> {
  const { name } = member;
  const missed = await processClaimed(ctx, await claimMissedCrash(ctx, member));
  const end = unnoticedEnd(ctx, member);
  if (end === undefined) return missed;
  if (end.agreed) {
    const isFirst = await removeEndedMember(ctx, name, "shutdown", unfinished, end.known);
    return isFirst ? [...missed, { name, how: "shutdown", exit: null }] : missed;
  }
  if (isExitPending(ctx.ref, name, end.id)) return missed;
  return [...missed, ...(await processClaimed(ctx, await claimEnd(ctx, member, end, unfinished)))];
}

/** Processes an ending if this process has claimed it. */
async function processClaimed(
  ctx: OperationContext,
  ending: Ending | undefined,
): Promise<readonly NoticedEnd[]> {
  if (ending === undefined) return [];
  const end = toNoticedEnd(ctx, ending);
  await processEnding(ctx, ending);
  return [end];
}

function toNoticedEnd(ctx: OperationContext, { name, how }: Ending): NoticedEnd {
  if (how !== "crashed" && how !== "exited" && how !== "restarted")
    return { name, how: "shutdown", exit: null };
  const exit = how === "restarted" ? readCrash(ctx.ref, name) : readExit(ctx.ref, name);
  return { name, how, exit: exit === undefined ? null : toAgentExit(exit) };
}

/**
 * Reconciles unless the lead's process lives, which does so itself. Otherwise the lead could see an ending that another process
 * has only half processed, for example when it decides whether its run is over.
 */
export async function reconcileUnlessLed(ctx: OperationContext): Promise<readonly NoticedEnd[]> {
  return isLed(ctx) ? [] : reconcile(ctx);
}

/** Whether the lead's process lives. */
export function isLed({ ref }: Pick<OperationContext, "ref">): boolean {
  const { leadProcess } = readTeam(ref);
  return leadProcess !== undefined && livenessOf(leadProcess) === "alive";
}

interface UnnoticedEnd {
  /** The id of this end, as {@link endingId} computes it. */
  readonly id: string;
  /** It agreed to shut down, so it leaves the team. */
  readonly agreed: boolean;
  /** By default, the end of its process is proven. */
  readonly known?: ProvenEnd;
}

/** Returns the unprocessed end of a member; undefined while the member lives, and once its end is processed. */
export function unnoticedEnd(ctx: OperationContext, member: TeamMember): UnnoticedEnd | undefined {
  if (member.name === LEAD_NAME) return undefined;
  const status = readStatus(ctx.ref, member.name);
  if (status === undefined) return foreignEnd(ctx, member);
  if (livenessOfAgent(ctx.ref, member.name, status) !== "dead") return undefined;
  const id = endingId(status);
  // It may have agreed after the first read, and then ended.
  const last = readStatus(ctx.ref, member.name) ?? status;
  const hasAgreed = endingId(last) === id && last.state === "exited" && last.agreedToStop === true;
  const agreed = hasAgreed && !keepsOnExit(member);
  return !agreed && readMetadata(member, "lastReportedEnd") === id ? undefined : { id, agreed };
}

/**
 * Returns the end of a foreign member whose process was proven, and is gone. Without any proof, its agreement to shut down counts,
 * once it has had time to exit.
 */
function foreignEnd(ctx: OperationContext, member: TeamMember): UnnoticedEnd | undefined {
  if (!isForeignMember(ctx.ref, member)) return undefined;
  const proof = recordedProof(ctx.ref, member);
  if (proof.alive === true) return undefined;
  if (proof.alive === null) return agreedEnd(ctx, member);
  const id = `foreign/${proof.process.pid}/${proof.process.procStart}`;
  const agreed = recordedFacts(ctx, member)?.agreedToStop === true;
  return !agreed && readMetadata(member, "lastReportedEnd") === id ? undefined : { id, agreed };
}

/** Returns the end of a foreign member without a proven process; undefined unless it agreed to shut down. */
function agreedEnd(ctx: OperationContext, member: TeamMember): UnnoticedEnd | undefined {
  const { agreedToStop, saidAt = Number.POSITIVE_INFINITY } = recordedFacts(ctx, member) ?? {};
  if (agreedToStop !== true || ctx.clock.now() - saidAt < UNPROVEN_EXIT_MS) return undefined;
  // Reads the process table: the member's process may run although no command has looked for it.
  const running = findForeignProcesses(ctx.home.root, readTeam(ctx.ref), member);
  return running.length > 0 ? undefined : { id: `foreign/agreed/${saidAt}`, agreed: true, known: "unproven" };
}

/** Claims the ending. @returns undefined if another process did */
async function claimEnd(
  ctx: OperationContext,
  member: TeamMember,
  { id }: UnnoticedEnd,
  unfinished: ReadUnfinishedTasks,
): Promise<Ending | undefined> {
  const { name } = member;
  const status = readStatus(ctx.ref, name);
  const place = readPlace(ctx.ref, name);
  const { state, exit } = judgeLiveness(member, { status, place, exit: readExit(ctx.ref, name) });
  // A foreign member keeps no record of its exit, and had not agreed to end.
  const how = state === "crashed" || status === undefined ? "crashed" : "exited";
  const isDown = keepsOnExit(member) && how === "exited";
  const verb = how === "crashed" ? "crashed" : "ended";
  const news = `${name} ${isDown ? "is down until it is resumed" : `${verb}${exitReason(exit)}`}.${lastLinesOf(exit)}`;
  const tasks = [...(unfinished().get(name) ?? [])];
  return claimEnding(ctx.ref, { id, name, how, news, tasks, process: status?.process, place }, (config) => {
    const known = config.members.find((one) => one.name === name);
    // A person may have restarted it in its pane since its status was read.
    if (known === undefined || unnoticedEnd(ctx, known)?.id !== id || hasKillClaim(known)) return undefined;
    const next = withMetadata({ ...known, isActive: false }, { tasksToRestore: tasks });
    return { ...config, members: config.members.map((one) => (one === known ? next : one)) };
  });
}
