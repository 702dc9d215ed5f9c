import { livenessOf } from "../../os/process/identity.ts";
import type { TeamMember } from "../../schema/config.ts";
import type { Ending } from "../../schema/ending.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { claimEnding, endingId, unfinishedEndings } from "../../team/members/ending-claims.ts";
import {
  type AgentExit,
  isDeliberate,
  judgeLiveness,
  launchScriptOf,
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
import { removeEndedMember, type Unfinished } from "../ending/remove-member.ts";
import { processEnding, reclaimEndings } from "../ending/settle-ending.ts";
import { endDeadLeadWatches } from "../processes/dead-lead.ts";

/**
 * Claims a crash, or another end, that nobody had noticed when a person started the program again in its pane. It goes on
 * with what it had; of several such in a row only the last is known.
 * @returns undefined when there is none, or it was told
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
  const news = `${name} ${verb}${exitReason(exit)} and was started again in its pane.${lastLinesOf(exit)}`;
  return claimEnding(ref, { id, name, how: "restarted", news, tasks: [] }, (config) => {
    const known = lookUpMember(config, name);
    return known === undefined || isReported(known) ? undefined : config;
  });
}

/** One death that this look was the first to notice, or to see through. */
export interface NoticedEnd {
  readonly name: string;
  readonly how: "shutdown" | "crashed" | "exited" | "restarted";
  readonly exit: AgentExit | null;
}

/** The look that this process has under way. */
const looking = new WeakMap<OperationContext, Promise<readonly NoticedEnd[]>>();

/**
 * Looks for members whose process has ended and does what follows, once for each end, whoever notices first: an agreed
 * shutdown completes; of a crash the tasks come free and the lead is told (protocol.md section 4). What a killed process
 * left half done is gone on with. Of one context the looks follow each other: once it returns, what was found is told.
 * @throws TeamError TEAM_NOT_FOUND
 */
export function reconcile(ctx: OperationContext): Promise<readonly NoticedEnd[]> {
  const before = looking.get(ctx) ?? Promise.resolve([]);
  // Whoever asked for the look before hears of its failure; this one is a look of its own.
  const next = before.catch(() => []).then(() => look(ctx));
  looking.set(ctx, next);
  return next;
}

async function look(ctx: OperationContext): Promise<readonly NoticedEnd[]> {
  const failures: unknown[] = [];
  const ends: NoticedEnd[] = [];
  const one = async (work: () => Promise<readonly NoticedEnd[]>): Promise<void> => {
    try {
      ends.push(...(await work()));
    } catch (error) {
      // Said below: what is wrong with one keeps nobody from the others.
      failures.push(error);
    }
  };
  let read: ReturnType<Unfinished> | undefined;
  const unfinished: Unfinished = () => {
    read ??= unfinishedTasks(ctx.ref);
    return read;
  };
  const config = readTeam(ctx.ref);
  for (const left of unfinishedEndings(config)) {
    await one(async () => (await reclaimEndings(ctx, [left])).map((taken) => noticed(ctx, taken)));
  }
  for (const member of config.members) await one(() => lookAt(ctx, member, unfinished));
  await one(() => endDeadLeadWatches(ctx).then(() => []));
  if (failures.length > 0) throw failures[0];
  return ends;
}

async function lookAt(
  ctx: OperationContext,
  member: TeamMember,
  unfinished: Unfinished,
): Promise<readonly NoticedEnd[]> {
  const { name } = member;
  const missed = await settled(ctx, await claimMissedCrash(ctx, member));
  const end = unnoticedEnd(ctx, member);
  if (end === undefined) return missed;
  if (end.agreed) {
    const isFirst = await removeEndedMember(ctx, name, "shutdown", unfinished);
    return isFirst ? [...missed, { name, how: "shutdown", exit: null }] : missed;
  }
  if (isRecording(ctx, name)) return missed;
  return [...missed, ...(await settled(ctx, await claimCrash(ctx, member, end, unfinished)))];
}

/** Does what follows from a claimed end; nothing from one that somebody else has. */
async function settled(ctx: OperationContext, taken: Ending | undefined): Promise<readonly NoticedEnd[]> {
  if (taken === undefined) return [];
  const found = noticed(ctx, taken);
  await processEnding(ctx, taken);
  return [found];
}

function noticed(ctx: OperationContext, { name, how }: Ending): NoticedEnd {
  if (how !== "crashed" && how !== "exited" && how !== "restarted")
    return { name, how: "shutdown", exit: null };
  const exit = how === "restarted" ? readCrash(ctx.ref, name) : readExit(ctx.ref, name);
  return { name, how, exit: exit === undefined ? null : toAgentExit(exit) };
}

/**
 * As {@link reconcile}, for who is not the lead: where the lead's process lives it does so itself, and what it looks at
 * in between (has everybody been heard?) is never half done by another.
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
  /** Names this very end, as `endOf` does. */
  readonly id: string;
  /** It ended because it had agreed to, and leaves the team. */
  readonly agreed: boolean;
}

/** The end of a member that nothing has followed from yet; undefined while it lives, or when all has been done. */
export function unnoticedEnd(ctx: OperationContext, member: TeamMember): UnnoticedEnd | undefined {
  if (member.name === LEAD_NAME) return undefined;
  const status = readStatus(ctx.ref, member.name);
  if (status === undefined || livenessOfAgent(ctx.ref, member.name, status) !== "dead") return undefined;
  const id = endingId(status);
  const agreed = status.state === "exited" && status.agreedToStop === true && !keepsOnExit(member);
  return !agreed && readMetadata(member, "lastReportedEnd") === id ? undefined : { id, agreed };
}

/** Whether its launch script still lives and has not written how the agent ended: it is about to, and rings then. */
function isRecording(ctx: OperationContext, name: string): boolean {
  const place = readPlace(ctx.ref, name);
  const script = launchScriptOf(place);
  return script !== undefined && readExit(ctx.ref, name) === undefined && livenessOf(script) === "alive";
}

/** Claims the event. @returns undefined when somebody else did */
async function claimCrash(
  ctx: OperationContext,
  member: TeamMember,
  { id }: UnnoticedEnd,
  unfinished: Unfinished,
): Promise<Ending | undefined> {
  const { name } = member;
  const status = readStatus(ctx.ref, name);
  const place = readPlace(ctx.ref, name);
  const { state, exit } = judgeLiveness(member, { status, place, exit: readExit(ctx.ref, name) });
  const how = state === "crashed" ? "crashed" : "exited";
  const isDown = keepsOnExit(member) && how === "exited";
  const verb = how === "crashed" ? "crashed" : "ended";
  const news = `${name} ${isDown ? "is down until it is resumed" : `${verb}${exitReason(exit)}`}.${lastLinesOf(exit)}`;
  const tasks = [...(unfinished().get(name) ?? [])];
  return claimEnding(ctx.ref, { id, name, how, news, tasks, process: status?.process, place }, (config) => {
    const known = config.members.find((one) => one.name === name);
    if (known === undefined || readMetadata(known, "lastReportedEnd") === id || hasKillClaim(known))
      return undefined;
    const members = config.members.map((one) => (one === known ? { ...one, isActive: false } : one));
    return { ...config, members };
  });
}
