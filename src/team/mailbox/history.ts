import { fileSize } from "../../os/files/fs.ts";
import { type DeliveryState, type InboxMessage, type JournalLine, journalLine } from "../../schema/inbox.ts";
import { sameName, splitAddress } from "../../schema/names.ts";
import { readJsonLines } from "../../store/jsonl.ts";
import { peekInbox } from "../inbox/inbox-file.ts";
import { messageKey } from "../inbox/inbox-format.ts";
import { isJournalled } from "../inbox/inbox-recovery.ts";
import { furthest, readJournal, statesOf } from "../inbox/journal.ts";
import { livenessOfAgent } from "../records/read-records.ts";
import type { TeamRef } from "../ref.ts";

/** A message as a person sees it. */
export type MessageView = InboxMessage & {
  readonly id: string;
  readonly to: string;
  readonly state: DeliveryState;
};

interface HistoryFilter {
  readonly unread?: boolean;
  readonly from?: string;
  /** Milliseconds since the epoch. */
  readonly since?: number;
  /** Also what has left the inbox, from the journal. */
  readonly all?: boolean;
}

function fits(view: MessageView, { unread, from, since }: HistoryFilter): boolean {
  if (unread && view.read) return false;
  if (from !== undefined && !sameName(splitAddress(view.from).name, splitAddress(from).name)) return false;
  return since === undefined || timeOf(view) >= since;
}

/** Milliseconds since the epoch; 0 where it says no time. */
function timeOf({ timestamp }: InboxMessage): number {
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
    const least = isJournalled(ref, agent) ? "queued" : "delivered";
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

/** Ids that are remembered beside those in the inbox: a foreign message is journalled when it is marked, long after it was seen. */
const MAX_SEEN = 10_000;

/** Messages to an agent as they come, each once, at the cost of what is new. */
export interface MailFeed {
  /** What has come since the last look, oldest first; at the first since the feed was opened, and what is in the inbox. */
  poll(): MessageView[];
  /** Leaves messages out that were shown otherwise. */
  skip(ids: Iterable<string>): void;
}

/**
 * Follows an inbox. One that is received and gone between two looks is in the journal, one of a foreign writer in the inbox:
 * both are looked at.
 */
export function openMailFeed(ref: TeamRef, agent: string, filter: Omit<HistoryFilter, "all">): MailFeed {
  const seen = new Set<string>();
  let offset = fileSize(ref.paths.journal) ?? 0;
  return {
    skip(ids) {
      for (const id of ids) seen.add(id);
    },
    poll() {
      // First the journal: what it names and the inbox behind it lacks has been received; what comes between is named next time.
      const { lines, offset: end } = readJsonLines(ref.paths.journal, journalLine, offset);
      offset = end;
      const waiting = peekInbox(ref, agent);
      const fresh = viewsOf(
        agent,
        lines.filter(({ to }) => to === agent),
        waiting,
      ).filter(({ id }) => !seen.has(id));
      for (const { id } of fresh) seen.add(id);
      forget(waiting);
      return fresh.filter((view) => fits(view, filter));
    },
  };

  function forget(waiting: readonly InboxMessage[]): void {
    if (seen.size <= MAX_SEEN + waiting.length) return;
    const kept = [...[...seen].slice(-MAX_SEEN), ...waiting.map(messageKey)];
    seen.clear();
    for (const id of kept) seen.add(id);
  }
}

/** What new lines of the journal and an inbox tell of messages, in the order in which they came. */
function viewsOf(
  agent: string,
  lines: readonly JournalLine[],
  waiting: readonly InboxMessage[],
): MessageView[] {
  const views = new Map<string, MessageView>();
  for (const { id, state, message } of lines) {
    const known = views.get(id);
    const further = furthest(state, "delivered");
    if (known !== undefined) views.set(id, { ...known, state: furthest(known.state, further) });
    else if (message !== undefined) views.set(id, { ...message, read: true, id, to: agent, state: further });
  }
  for (const message of waiting) {
    const id = messageKey(message);
    const state = message.read ? (views.get(id)?.state ?? "delivered") : "queued";
    views.set(id, { ...message, id, to: agent, state });
  }
  return [...views.values()];
}
