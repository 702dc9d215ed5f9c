import { fileSize } from "../../os/files/fs.ts";
import { journalForm } from "../../schema/guards/inbox.ts";
import type { DeliveryState, InboxMessage, JournalLine } from "../../schema/inbox.ts";
import { sameName, splitAddress } from "../../schema/names.ts";
import { readJsonLines } from "../../store/jsonl.ts";
import { peekInbox } from "../inbox/inbox-file.ts";
import { messageKey, sentAt } from "../inbox/inbox-format.ts";
import { isJournalled } from "../inbox/inbox-recovery.ts";
import { furthest, readJournal, statesOf } from "../inbox/journal.ts";
import { livenessOfAgent } from "../records/read-records.ts";
import type { TeamRef } from "../ref.ts";
import { withLastWords } from "./last-words.ts";

/** A message with its recipient and its state, for people. */
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
  /** Includes messages that have left the inbox, from the journal. */
  readonly all?: boolean;
}

function matches(view: MessageView, { unread, from, since }: HistoryFilter): boolean {
  if (unread && view.read) return false;
  if (from !== undefined && !sameName(splitAddress(view.from).name, splitAddress(from).name)) return false;
  return since === undefined || sentAt(view) >= since;
}

/**
 * Returns the messages to an agent, oldest first: those in its inbox, or with `all` every message since the team was
 * created. Without `all` the cost depends only on the size of the inbox, except for another program's member: that one may
 * remove each message that it takes, so its taken messages come from the journal.
 */
export async function history(
  ref: TeamRef,
  agent: string,
  filter: HistoryFilter = {},
): Promise<MessageView[]> {
  const views = new Map<string, MessageView>();
  const isOurs = isJournalled(ref, agent);
  if (filter.all || !(isOurs || filter.unread)) {
    // Another program's member removes a consumed message without a journal line: missing from the inbox means delivered.
    // Our own agents write that line first.
    const least = isOurs ? "queued" : "delivered";
    for (const { id, message, state: recorded } of readJournal(ref, agent).values()) {
      const state = furthest(recorded, least);
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
    .map((view) => withLastWords(ref, agent, view))
    .filter((view) => matches(view, filter))
    .sort((a, b) => sentAt(a) - sentAt(b));
}

/** True if the agent's process is known to have ended: no turn is running, and the next start continues the last one. */
function hasEnded(ref: TeamRef, agent: string): boolean {
  return livenessOfAgent(ref, agent) === "dead";
}

/** Returns the messages that are in the inbox now. */
function inboxViews(ref: TeamRef, agent: string): MessageView[] {
  const messages = peekInbox(ref, agent).map((message) => ({
    ...message,
    id: messageKey(message),
    to: agent,
  }));
  // For an unread message the journal has no later state, or the recipient is about to write it again.
  const consumed = messages.filter(({ read }) => read).map(({ id }) => id);
  const states = statesOf(ref, agent, consumed);
  return messages.map((message): MessageView => {
    if (!message.read) return { ...message, state: "queued" };
    return { ...message, state: furthest(states.get(message.id) ?? "delivered", "delivered") };
  });
}

/** Ids to remember besides those in the inbox: a foreign message is journalled only when it is marked as read, long after it was shown. */
const MAX_SEEN = 10_000;

/** Returns each new message to an agent once; the cost depends only on the number of new messages. */
export interface MailFeed {
  /** Returns the messages since the last poll, oldest first; the first poll includes the whole inbox. */
  poll(): MessageView[];
  /** Excludes messages that were shown in another way. */
  skip(ids: Iterable<string>): void;
}

/**
 * Follows an inbox. Polls read the journal as well: a message may arrive and be consumed between two polls. Messages of
 * other programs are only in the inbox.
 */
export function openMailFeed(ref: TeamRef, agent: string, filter: Omit<HistoryFilter, "all">): MailFeed {
  const seen = new Set<string>();
  let offset = fileSize(ref.paths.journal) ?? 0;
  return {
    skip(ids) {
      for (const id of ids) seen.add(id);
    },
    poll() {
      // Journal first: a message in it that is missing from the inbox read afterwards was received. A message that
      // arrives in between is reported by the next poll.
      const { lines, offset: end } = readJsonLines(ref.paths.journal, journalForm, offset);
      offset = end;
      const waiting = peekInbox(ref, agent);
      const fresh = viewsOf(
        agent,
        lines.filter(({ to }) => to === agent),
        waiting,
      ).filter(({ id }) => !seen.has(id));
      for (const { id } of fresh) seen.add(id);
      forget(waiting);
      return fresh.map((view) => withLastWords(ref, agent, view)).filter((view) => matches(view, filter));
    },
  };

  function forget(waiting: readonly InboxMessage[]): void {
    if (seen.size <= MAX_SEEN + waiting.length) return;
    const kept = [...[...seen].slice(-MAX_SEEN), ...waiting.map(messageKey)];
    seen.clear();
    for (const id of kept) seen.add(id);
  }
}

/** Combines new journal lines and an inbox into messages, in order of arrival. */
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
