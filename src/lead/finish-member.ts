import { formatProtocol } from "../protocol/messages.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { PlaceRecord } from "../schema/status.ts";
import type { Task } from "../schema/task.ts";
import { deliver } from "../team/mailbox.ts";
import { retireMember } from "../team/members.ts";
import { readPlace, removeRun } from "../team/records.ts";
import type { TeamRef } from "../team/ref.ts";
import { closeRequest, listRequests } from "../team/requests.ts";
import { releaseTasks } from "../team/tasks.ts";
import type { LeadContext } from "./context.ts";
import { endProcesses } from "./end-processes.ts";

/** How a member left: the word that stands in `former`. */
export type Ending = "shutdown" | "killed" | "dismissed";

const SENTENCE: Readonly<Record<Ending, string>> = {
  shutdown: "has shut down.",
  killed: "was ended.",
  dismissed: "had crashed and was dismissed.",
};

/**
 * What follows when a member has left for good: it goes to `former`, its tasks come free, the lead is told, what it had
 * started ends, its pane is closed, its files of this run go. Done once, whoever notices first: the one that moves it to `former` does the rest.
 * @returns false when somebody else already did
 */
export async function finishMember(ctx: LeadContext, name: string, how: Ending): Promise<boolean> {
  const { ref } = ctx;
  const place = readPlace(ref, name);
  if (!(await retireMember(ref, name, how, ctx.clock.now()))) return false;
  closeRequestsOf(ref, name);
  const freed = await releaseTasks(ref, name);
  await tellLead(ctx, name, `${name} ${SENTENCE[how]}${freedSentence(freed)}`, place?.instance);
  // What an agent that left by itself had started in the background; nothing would know it as its own any more.
  if (how !== "killed") await endProcesses(ctx, name);
  if (place !== undefined) await closePlace(ctx, place);
  removeRun(ref, name);
  return true;
}

/** Whoever has ended waits for no answer: its plans, permissions and questions leave the list. */
export function closeRequestsOf(ref: TeamRef, name: string): void {
  for (const { id, from, kind } of listRequests(ref)) {
    if (from === name && kind !== "crash") closeRequest(ref, id);
  }
}

/** Closes the pane (or drops the log) of a place, if this program drives its kind. */
export async function closePlace(ctx: LeadContext, place: PlaceRecord): Promise<void> {
  await ctx.backends.of(place.backend)?.close([place]);
}

/** The news that a teammate is gone; its id comes from the event, so that telling it twice is telling it once. */
export async function tellLead(
  ctx: LeadContext,
  name: string,
  message: string,
  instance: string | undefined,
): Promise<void> {
  const text = formatProtocol({ type: "teammate_terminated", message, name }, new Date(ctx.clock.now()));
  const messageId = instance === undefined ? {} : { messageId: `terminated-${instance}` };
  await deliver(ctx.ref, { from: "system", to: LEAD_NAME, text, ...messageId });
}

/** ` These tasks are free again: #3 Largest files.` or nothing. */
export function freedSentence(freed: readonly Task[]): string {
  if (freed.length === 0) return "";
  const list = freed.map((task) => `#${task.id} ${task.subject}`).join(", ");
  return ` Free again: ${list}.`;
}
