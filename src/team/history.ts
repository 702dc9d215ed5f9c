import type { DeliveryState, InboxMessage } from "../schema/inbox.ts";
import { sameName, splitAddress } from "../schema/names.ts";
import { livenessOfAgent } from "./alive.ts";
import { peekInbox } from "./inbox-file.ts";
import { isReadByUs } from "./inbox-lost.ts";
import { messageKey } from "./inbox-text.ts";
import { furthest, readJournal, statesOf } from "./journal.ts";
import type { TeamRef } from "./ref.ts";

/** A message as a person sees it. */
export type MessageView = InboxMessage & {
  readonly id: string;
  readonly to: string;
  readonly state: DeliveryState;
};

export interface HistoryFilter {
  readonly unread?: boolean;
  readonly from?: string;
  /** Milliseconds since the epoch. */
  readonly since?: number;
  /** Also what has left the inbox, from the journal. */
  readonly all?: boolean;
}

export function fits(view: MessageView, { unread, from, since }: HistoryFilter): boolean {
  if (unread && view.read) return false;
  if (from !== undefined && !sameName(splitAddress(view.from).name, splitAddress(from).name)) return false;
  return since === undefined || timeOf(view) >= since;
}

/** Milliseconds since the epoch; 0 where it says no time. */
export function timeOf({ timestamp }: InboxMessage): number {
  return Date.parse(timestamp) || 0;
}

/**
 * Messages to an agent, oldest first: those in its inbox, at the cost of what is in there; with `all` every one since the
 * team began.
 */
export async function history(
  ref: TeamRef,
  agent: string,
  filter: HistoryFilter = {},
): Promise<MessageView[]> {
  const views = new Map<string, MessageView>();
  if (filter.all) {
    // A foreign member that removes what it consumed says no more of it: gone means received. One of ours says it first.
    const least = isReadByUs(ref, agent) ? "queued" : "delivered";
    for (const { id, message, state: said } of readJournal(ref, agent).values()) {
      const state = furthest(said, least);
      if (message) views.set(id, { ...message, read: state !== "queued", id, to: agent, state });
    }
  }
  for (const view of inboxViews(ref, agent)) {
    const known = views.get(view.id);
    views.set(
      view.id,
      known === undefined || !view.read ? view : { ...view, state: furthest(view.state, known.state) },
    );
  }
  const isGone = hasEnded(ref, agent);
  return [...views.values()]
    .map((view) =>
      isGone && view.state === "turn_started" ? { ...view, state: "delivered" as const } : view,
    )
    .filter((view) => fits(view, filter))
    .sort((a, b) => timeOf(a) - timeOf(b));
}

/** Whether its process is known to have ended: nothing is in its turn, and its next start goes on with what was. */
function hasEnded(ref: TeamRef, agent: string): boolean {
  return livenessOfAgent(ref, agent) === "dead";
}

/** What is in the inbox right now. */
function inboxViews(ref: TeamRef, agent: string): MessageView[] {
  const messages = peekInbox(ref, agent).map((message) => ({
    ...message,
    id: messageKey(message),
    to: agent,
  }));
  // What the receiver has not marked it has not said more of, or is about to say it again.
  const consumed = messages.filter(({ read }) => read).map(({ id }) => id);
  const states = statesOf(ref, agent, consumed);
  return messages.map((message): MessageView => {
    if (!message.read) return { ...message, state: "queued" };
    return { ...message, state: furthest(states.get(message.id) ?? "delivered", "delivered") };
  });
}
