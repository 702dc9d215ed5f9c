import { livenessOf } from "../os/identity.ts";
import type { TeamMember } from "../schema/config.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { readTeam, updateTeam } from "../team/config.ts";
import { type AgentExit, judge } from "../team/liveness.ts";
import { readExit, readPlace, readStatus } from "../team/records.ts";
import { releaseTasks } from "../team/tasks.ts";
import type { LeadContext } from "./context.ts";
import { closeRequestsOf, finishMember, freedSentence, tellLead } from "./finish-member.ts";

/** One death that this look was the first to notice. */
export interface NoticedEnd {
  readonly name: string;
  readonly how: "shutdown" | "crashed" | "exited";
  readonly exit: AgentExit | null;
}

/** Key in a member's metadata: the process whose end was noticed, so that what follows is done once. */
const NOTICED = "_endNoticed";

/** The look that this process has under way. */
const looking = new WeakMap<LeadContext, Promise<readonly NoticedEnd[]>>();

/**
 * Looks for members whose process has ended and does what follows, once for each end, whoever notices first: an agreed
 * shutdown completes; of a crash the tasks come free and the lead is told (protocol.md section 4). Of one context the
 * looks follow each other: once it returns, what was found is told.
 * @throws TeamError TEAM_NOT_FOUND
 */
export function reconcile(ctx: LeadContext): Promise<readonly NoticedEnd[]> {
  const before = looking.get(ctx) ?? Promise.resolve([]);
  // Whoever asked for the look before hears of its failure; this one is a look of its own.
  const next = before.catch(() => []).then(() => look(ctx));
  looking.set(ctx, next);
  return next;
}

async function look(ctx: LeadContext): Promise<readonly NoticedEnd[]> {
  const ends: NoticedEnd[] = [];
  for (const member of readTeam(ctx.ref).members) {
    const { name } = member;
    const end = unnoticedEnd(ctx, member);
    if (end === undefined) continue;
    if (end.agreed) {
      if (await finishMember(ctx, name, "shutdown")) ends.push({ name, how: "shutdown", exit: null });
    } else if (!isRecording(ctx, name) && (await notice(ctx, name, end.id))) {
      ends.push(await tellOfEnd(ctx, member, end.id));
    }
  }
  return ends;
}

/**
 * As {@link reconcile}, for who is not the lead: where the lead's process lives it does so itself, and what it looks at
 * in between (has everybody been heard?) is never half done by another.
 */
export async function reconcileUnlessLed(ctx: LeadContext): Promise<readonly NoticedEnd[]> {
  const { leadProcess } = readTeam(ctx.ref);
  return leadProcess !== undefined && livenessOf(leadProcess) === "alive" ? [] : reconcile(ctx);
}

export interface UnnoticedEnd {
  /** Names this very end: a start that is started again in its pane keeps its instance, its process does not. */
  readonly id: string;
  /** It ended because it had agreed to. */
  readonly agreed: boolean;
}

/** The end of a member that nothing has followed from yet; undefined while it lives, or when all has been done. */
export function unnoticedEnd(ctx: LeadContext, member: TeamMember): UnnoticedEnd | undefined {
  if (member.name === LEAD_NAME) return undefined;
  const status = readStatus(ctx.ref, member.name);
  if (status === undefined || livenessOf(status.process) !== "dead") return undefined;
  const id = `${status.instance ?? ""}/${status.process.pid}.${status.process.procStart}`;
  const agreed = status.state === "exited" && status.agreedToStop === true;
  return !agreed && member.metadata?.[NOTICED] === id ? undefined : { id, agreed };
}

/** Whether its launch script still lives and has not written how the agent ended: it is about to, and rings then. */
function isRecording(ctx: LeadContext, name: string): boolean {
  const place = readPlace(ctx.ref, name);
  if (place?.panePid === undefined || readExit(ctx.ref, name) !== undefined) return false;
  return livenessOf({ pid: place.panePid, procStart: place.paneProcStart }) === "alive";
}

/** Claims the event under the config's lock. @returns whether this caller is the one. */
async function notice(ctx: LeadContext, name: string, end: string): Promise<boolean> {
  let mine = false;
  await updateTeam(ctx.ref, (config) => {
    const member = config.members.find((one) => one.name === name);
    mine = member !== undefined && member.metadata?.[NOTICED] !== end;
    if (!mine) return undefined;
    return {
      ...config,
      members: config.members.map((one) =>
        one.name === name ? { ...one, isActive: false, metadata: { ...one.metadata, [NOTICED]: end } } : one,
      ),
    };
  });
  return mine;
}

async function tellOfEnd(ctx: LeadContext, member: TeamMember, end: string): Promise<NoticedEnd> {
  const { name } = member;
  const { state, exit } = judge(member, {
    status: readStatus(ctx.ref, name),
    place: readPlace(ctx.ref, name),
    exit: readExit(ctx.ref, name),
  });
  const how = state === "crashed" ? "crashed" : "exited";
  closeRequestsOf(ctx.ref, name);
  const freed = await releaseTasks(ctx.ref, name);
  const message = `${name} ${howSentence(how, exit)}.${freedSentence(freed)}${lastLines(exit)}`;
  await tellLead(ctx, name, message, end);
  return { name, how, exit };
}

function howSentence(how: "crashed" | "exited", exit: AgentExit | null): string {
  const reason = exit?.signal ?? (exit?.code == null ? undefined : `exit code ${exit.code}`);
  return `${how === "crashed" ? "crashed" : "ended"}${reason === undefined ? "" : ` (${reason})`}`;
}

function lastLines(exit: AgentExit | null): string {
  const lines = exit?.lastLines.filter((line) => line.trim() !== "") ?? [];
  return lines.length === 0 ? "" : `\nIts last lines:\n${lines.join("\n")}`;
}
