import { TeamError } from "../../errors.ts";
import { steadyNow } from "../../os/clock.ts";
import { formatProtocol } from "../../protocol/messages.ts";
import type { TeamMember } from "../../schema/config.ts";
import type { Ending, EndingKind } from "../../schema/ending.ts";
import { withMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME, SYSTEM_NAME, sameName } from "../../schema/names.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { readTeam } from "../../team/config/config.ts";
import { eventMessageId } from "../../team/mailbox/event-message-id.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import { finishEnding, reclaimEnding, unfinishedEndings } from "../../team/members/ending-claims.ts";
import { readPlace, readStatus, removeRun } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import { removeStaleFifos } from "../../team/repair/stale-fifos.ts";
import { closeRequest, listRequests, requestsOf } from "../../team/requests/requests.ts";
import { unassignTasks } from "../../team/tasks/unassign.ts";
import { openTreeBell } from "../../wakeup/tree-bell.ts";
import type { OperationContext } from "../context.ts";
import { endStarted } from "../processes/end-processes.ts";
import { settleWorktree } from "../worktrees/remove-worktree.ts";

/** Those after which nothing of the member's run is kept. */
const FOR_GOOD: ReadonlySet<EndingKind> = new Set(["shutdown", "killed", "dismissed"]);

/**
 * Does everything that follows from a claimed end: requests are closed, tasks come free, the lead is told; of a member
 * that left for good, what it had started ends, its worktree goes if nothing is unsaved in it, its pane is closed and its
 * files go. Every step may be done twice: one whose process was killed in between is gone on with by the next look.
 */
export function processEnding(ctx: OperationContext, taken: Ending): Promise<void> {
  const { ref } = ctx;
  const work = async (): Promise<void> => {
    closeRequestsOf(ref, taken.name, taken.how === "restarted" ? startOfRun(ref, taken.name) : undefined);
    if (FOR_GOOD.has(taken.how)) forgetRequestsOf(ref, taken.name);
    const freed = await unassignTasks(ref, taken);
    const stays = FOR_GOOD.has(taken.how) ? await settleWorktree(ctx, taken) : undefined;
    const list = freed.map((task) => `#${task.id} ${task.subject}`).join(", ");
    const [first = "", ...lines] = taken.news.split("\n");
    const told = list === "" ? first : `${first} Free again: ${list}.`;
    const news = [told, ...(stays === undefined ? [] : [stays]), ...lines].join("\n");
    await notifyLead(ctx, taken, news);
    if (FOR_GOOD.has(taken.how)) await clearAway(ctx, taken);
    else await removeStaleFifos(ref, taken.name);
  };
  const told = (member: TeamMember): TeamMember => {
    const noticed = withMetadata(member, { lastReportedEnd: taken.id });
    // One that is at work again has what it had.
    return taken.how === "restarted" ? noticed : withMetadata(noticed, { tasksToRestore: taken.tasks });
  };
  return finishEnding(ref, taken, work, (config) => ({
    ...config,
    members: config.members.map((member) =>
      member.name === taken.name && !FOR_GOOD.has(taken.how) ? told(member) : member,
    ),
  }));
}

/**
 * Whoever has ended waits for no answer: its plans, permissions and questions leave the list.
 * @param before those of earlier than this, in milliseconds since the epoch; all without it
 */
export function closeRequestsOf(ref: TeamRef, name: string, before = Number.POSITIVE_INFINITY): void {
  for (const { id, from, at } of listRequests(ref)) {
    if (from === name && at < before) closeRequest(ref, id);
  }
}

/** Answers that it has not read by now it never will. */
function forgetRequestsOf(ref: TeamRef, name: string): void {
  for (const { id } of requestsOf(ref, name)) closeRequest(ref, id);
}

/** When the process that runs now began: what was asked before that, nobody waits for. */
function startOfRun(ref: TeamRef, name: string): number {
  return readStatus(ref, name)?.startedAt ?? 0;
}

async function notifyLead(ctx: OperationContext, { id, name }: Ending, message: string): Promise<void> {
  const text = formatProtocol({ type: "teammate_terminated", message, name }, new Date(ctx.clock.now()));
  try {
    await sendMessage(ctx.ref, {
      from: SYSTEM_NAME,
      to: LEAD_NAME,
      text,
      messageId: eventMessageId("ended", id),
    });
  } catch (error) {
    // A foreign team may have no lead of that name: nobody is there to be told.
    if (!(error instanceof TeamError) || !NOBODY_THERE.has(error.code)) throw error;
  }
}

const NOBODY_THERE: ReadonlySet<string> = new Set(["RECIPIENT_NOT_FOUND", "RECIPIENT_INACTIVE"]);

async function clearAway(ctx: OperationContext, taken: Ending): Promise<void> {
  const { name, how, process, place } = taken;
  // What an agent that left by itself had started in the background; nothing would know it as its own any more.
  if (how !== "killed") await endStarted(ctx, { process, place, instance: place?.instance });
  if (place !== undefined) await closePlace(ctx, place);
  if (isOfThisStart(ctx.ref, taken)) removeRun(ctx.ref, name);
}

/** Whether the records under this name are those of the start that ended, or what a half done removal left of them. */
function isOfThisStart(ref: TeamRef, { name, process, place }: Ending): boolean {
  const now = { place: readPlace(ref, name), process: readStatus(ref, name)?.process };
  if (now.place !== undefined && now.place.instance !== place?.instance) return false;
  return now.process === undefined || now.process.procStart === process?.procStart;
}

/** Closes the pane (or drops the log) of a place, if this program drives its kind. */
export async function closePlace(ctx: OperationContext, place: PlaceRecord): Promise<void> {
  await ctx.backends.of(place.backend)?.close([place]);
}

/** Milliseconds to wait for another who settles an end: what it started has 2 s to go, twice. */
const WAIT_MS = 10_000;
/** Longest wait between two looks, in milliseconds: one that dies over it changes no file. */
const POLL_MS = 1_000;

/**
 * Sees to it that no end of this name is half settled any more: waits for whoever is at it, takes over from one that
 * died. Past 10 s it gives up: what is left of the work touches nothing of another start.
 */
export async function awaitEndingDone(ctx: OperationContext, name: string): Promise<void> {
  const open = (): readonly Ending[] =>
    unfinishedEndings(readTeam(ctx.ref)).filter((one) => sameName(one.name, name));
  if (open().length === 0) return;
  const bell = openTreeBell([ctx.ref.paths.dir]);
  const deadline = steadyNow() + WAIT_MS;
  try {
    for (let left = open(); left.length > 0 && steadyNow() < deadline; left = open()) {
      await reclaimEndings(ctx, left);
      if (open().length > 0) await bell.wait({ timeoutMs: POLL_MS });
    }
  } finally {
    bell.close();
  }
}

/** Settles those that their claimers left. @returns the settled ones */
export async function reclaimEndings(
  ctx: OperationContext,
  endings: readonly Ending[],
): Promise<readonly Ending[]> {
  const settled: Ending[] = [];
  for (const left of endings) {
    const taken = await reclaimEnding(ctx.ref, left);
    if (taken === undefined) continue;
    await processEnding(ctx, taken);
    settled.push(taken);
  }
  return settled;
}
