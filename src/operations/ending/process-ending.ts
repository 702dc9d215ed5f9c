import { messageOf } from "../../errors.ts";
import { steadyNow } from "../../os/clock.ts";
import { formatProtocol } from "../../protocol/messages.ts";
import type { Ending, EndingKind } from "../../schema/ending.ts";
import { withMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME, SYSTEM_NAME, sameName } from "../../schema/names.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import type { Task } from "../../schema/task.ts";
import { readTeam } from "../../team/config/config.ts";
import { eventMessageId, hasNoRecipient, sendMessage } from "../../team/mailbox/send.ts";
import { sendReportsOf } from "../../team/mailbox/unsent-reports.ts";
import {
  finishEnding,
  isStillEnded,
  reclaimEnding,
  unfinishedEndings,
} from "../../team/members/ending-claims.ts";
import { readPlace, readStatus, removeRun } from "../../team/records/read-records.ts";
import { tryRemoveSessionEnv } from "../../team/records/session-env.ts";
import { removeUnkeptLine } from "../../team/records/status-line.ts";
import type { TeamRef } from "../../team/ref.ts";
import { removeStaleFifos } from "../../team/repair/stale-fifos.ts";
import { defaultOf } from "../../team/requests/answers.ts";
import { closeRequest, listRequests, requestsOf } from "../../team/requests/requests.ts";
import { unassignTasks } from "../../team/tasks/unassign.ts";
import { openTreeBell } from "../../wakeup/tree-bell.ts";
import type { OperationContext } from "../context.ts";
import { endStartProcesses } from "../processes/end-processes.ts";
import { cleanUpAfterEnding } from "../worktrees/remove-worktree.ts";

/** The endings after which the member leaves the team and its run files are removed. */
const LEAVING_KINDS: ReadonlySet<EndingKind> = new Set(["shutdown", "killed", "dismissed"]);

/**
 * The steps that need git or tmux, for the worktree and the pane, are given up after this many attempts. All others are repeated until
 * they succeed: without them tasks stay assigned, or the lead waits for a member that has ended.
 */
const MAX_CLEAN_UPS = 3;

/**
 * Carries out all consequences of a claimed ending: closes the member's requests, unassigns its tasks and notifies the lead. For a
 * member that left for good, also ends its remaining processes, removes its worktree if it has no unsaved changes, closes its
 * pane and removes its run files. Every step is idempotent: if this process is killed, the next reconcile repeats them.
 * @throws the error of a failed step, even if this attempt gives the step up
 */
export async function processEnding(ctx: OperationContext, ending: Ending): Promise<void> {
  const { ref } = ctx;
  const isLeaving = LEAVING_KINDS.has(ending.how);
  let givenUp: Failure | undefined;
  const work = async (): Promise<void> => {
    const nextStart = startOfNext(ref, ending);
    closeRequestsOf(ref, ending.name, nextStart);
    if (isLeaving) deleteRequestsOf(ref, ending.name, nextStart);
    const freed = await unassignTasks(ref, ending, () => isStillEnded(ref, ending));
    let worktreeNote: string | undefined;
    const worktree = await attempt(async () => {
      if (isLeaving) worktreeNote = await cleanUpAfterEnding(ctx, ending);
    });
    if (worktree !== undefined) worktreeNote = worktreeLeft(ending, worktree);
    const notes = [worktreeNote ?? [], isLeaving ? removeVariables(ctx, ending) : []].flat();
    // The clean-up removes the files of its unsent reports.
    await sendLastReports(ctx, ending);
    const unnotified = await attempt(() => notifyLead(ctx, ending, newsOf(ending, freed, notes)));
    // Runs even if the lead could not be notified, so that each attempt tries every step.
    const place = await attempt(() => (isLeaving ? cleanUpStart(ctx, ending) : removeFifos(ctx, ending)));
    removeUnkeptLine(ref, ending.name);
    const cleanUp = worktree ?? place;
    if (unnotified !== undefined) throw unnotified.error;
    if (cleanUp !== undefined && ending.tries < MAX_CLEAN_UPS) throw cleanUp.error;
    givenUp = cleanUp;
  };
  await finishEnding(ref, ending, work, (config) => ({
    ...config,
    members: config.members.map((member) =>
      member.name === ending.name && !isLeaving
        ? withMetadata(member, { lastReportedEnd: ending.id })
        : member,
    ),
  }));
  if (givenUp !== undefined) throw givenUp.error;
}

interface Failure {
  readonly error: unknown;
}

async function attempt(step: () => Promise<unknown>): Promise<Failure | undefined> {
  try {
    await step();
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** Returns the text of the notification: the news, the unassigned tasks and remaining parts, then the last lines. */
function newsOf({ news }: Ending, freed: readonly Task[], notes: readonly string[]): string {
  const list = freed.map((task) => `#${task.id} ${task.subject}`).join(", ");
  const [first = "", ...lines] = news.split("\n");
  const summary = list === "" ? first : `${first} Unassigned tasks: ${list}.`;
  return [summary, ...notes, ...lines].join("\n");
}

function worktreeLeft({ worktree }: Ending, { error }: Failure): string {
  return `Its worktree ${worktree?.path} could not be checked or removed: ${messageOf(error)}`;
}

async function removeFifos({ ref }: OperationContext, { name }: Ending): Promise<void> {
  await removeStaleFifos(ref, name);
}

/**
 * Closes the open plans, permissions and questions of an ended member, which no longer waits for answers. Questions with a deadline
 * stay.
 * @param before closes only older requests (milliseconds since the epoch); all by default
 */
export function closeRequestsOf(ref: TeamRef, name: string, before = Number.POSITIVE_INFINITY): void {
  for (const request of listRequests(ref)) {
    if (request.from !== name || request.at >= before) continue;
    // Its default is the answer for the next process of the member.
    if (defaultOf(request)?.deadline === undefined) closeRequest(ref, request.id);
  }
}

/** Deletes the requests of a member that left, including answers that it will never read. */
function deleteRequestsOf(ref: TeamRef, name: string, before: number): void {
  for (const { id, at } of requestsOf(ref, name)) if (at < before) closeRequest(ref, id);
}

/**
 * Returns when the next process with the name of an ended member started, in milliseconds since the epoch: later requests
 * belong to that process. Infinity without one.
 */
function startOfNext(ref: TeamRef, { name, process, place }: Ending): number {
  const status = readStatus(ref, name);
  if (status === undefined) return Number.POSITIVE_INFINITY;
  const isItsProcess = status.process.pid === process?.pid && status.process.procStart === process.procStart;
  const isItsStart = place === undefined || status.instance === place.instance;
  return isItsProcess && isItsStart ? Number.POSITIVE_INFINITY : status.startedAt;
}

async function notifyLead(ctx: OperationContext, { id, name }: Ending, message: string): Promise<void> {
  const text = formatProtocol({ type: "teammate_terminated", message, name }, new Date(ctx.clock.now()));
  const messageId = eventMessageId("ended", id);
  await ifLeadExists(() => sendMessage(ctx.ref, { from: SYSTEM_NAME, to: LEAD_NAME, text, messageId }));
}

/** Sends messages that the member could not deliver itself. A member that a person restarted sends them itself. */
async function sendLastReports({ ref }: OperationContext, { name, how }: Ending): Promise<void> {
  if (how !== "restarted") await ifLeadExists(() => sendReportsOf(ref, name));
}

/** Ignores the error of a missing lead: a team of another program may have none. */
async function ifLeadExists(send: () => Promise<unknown>): Promise<void> {
  try {
    await send();
  } catch (error) {
    if (!hasNoRecipient(error)) throw error;
  }
}

async function cleanUpStart(ctx: OperationContext, ending: Ending): Promise<void> {
  const { name, how, process, place } = ending;
  // Ends background commands of an agent that left on its own; after this step, no record leads to them. A kill has
  // already ended them.
  if (how !== "killed") await endStartProcesses(ctx, { process, place, instance: place?.instance });
  if (place !== undefined) await closePlace(ctx, place);
  if (areRecordsOfStart(ctx.ref, ending)) removeRun(ctx.ref, name);
}

/** Removes what the hooks of a member that left have set for its commands. @returns a line for each directory that stays */
function removeVariables({ home, ref }: OperationContext, ending: Ending): readonly string[] {
  const { name } = ending;
  const former = readTeam(ref).former?.findLast((one) => sameName(one.name, name));
  const status = areRecordsOfStart(ref, ending) ? readStatus(ref, name) : undefined;
  const left: string[] = [];
  for (const id of new Set([former?.sessionId, status?.sessionId]))
    tryRemoveSessionEnv(home, id, (text) => left.push(text));
  return left;
}

/** Whether the records of this name belong to the start that ended, complete or partly removed. */
function areRecordsOfStart(ref: TeamRef, { name, process, place }: Ending): boolean {
  const now = { place: readPlace(ref, name), process: readStatus(ref, name)?.process };
  if (now.place !== undefined && now.place.instance !== place?.instance) return false;
  return now.process === undefined || now.process.procStart === process?.procStart;
}

/** Closes the pane of a place (or removes its log), if this program supports its backend. */
export async function closePlace(ctx: OperationContext, place: PlaceRecord): Promise<void> {
  await ctx.backends.of(place.backend)?.close([place]);
}

/** Milliseconds to wait while another process handles an ending; ending its processes may take 2 s twice. */
const WAIT_MS = 10_000;
/** Longest time between two polls, in milliseconds: if that process dies, no file changes. */
const POLL_MS = 1_000;

/**
 * Waits until no unfinished ending is left for this name, and reclaims endings whose process died. Gives up after 10 s, which is
 * safe: the remaining steps change no tasks, requests or records of a later start of the same name.
 */
export async function awaitEndingDone(
  ctx: OperationContext,
  name: string,
  signal?: AbortSignal,
): Promise<void> {
  const open = (): readonly Ending[] =>
    unfinishedEndings(readTeam(ctx.ref)).filter((one) => sameName(one.name, name));
  if (open().length === 0) return;
  const bell = openTreeBell([ctx.ref.paths.dir]);
  const deadline = steadyNow() + WAIT_MS;
  const isOver = (): boolean => steadyNow() >= deadline || signal?.aborted === true;
  try {
    for (let unfinished = open(); unfinished.length > 0 && !isOver(); unfinished = open()) {
      await reclaimEndings(ctx, unfinished);
      if (open().length > 0) await bell.wait({ timeoutMs: POLL_MS, ...(signal && { signal }) });
    }
  } finally {
    bell.close();
  }
}

/** Processes endings whose claimers died or gave up. @returns the processed endings */
export async function reclaimEndings(
  ctx: OperationContext,
  endings: readonly Ending[],
): Promise<readonly Ending[]> {
  const processed: Ending[] = [];
  for (const unfinished of endings) {
    const ending = await reclaimEnding(ctx.ref, unfinished);
    if (ending === undefined) continue;
    await processEnding(ctx, ending);
    processed.push(ending);
  }
  return processed;
}
