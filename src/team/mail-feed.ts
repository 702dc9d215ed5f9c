import { fileSize } from "../os/fs.ts";
import { type InboxMessage, type JournalLine, journalLine } from "../schema/inbox.ts";
import { readJsonLines } from "../store/jsonl.ts";
import { fits, type HistoryFilter, type MessageView } from "./history.ts";
import { peekInbox } from "./inbox-file.ts";
import { messageKey } from "./inbox-text.ts";
import { furthest } from "./journal.ts";
import type { TeamRef } from "./ref.ts";

/** Ids that are remembered beside those in the inbox: a foreign message is journalled when it is marked, long after it was seen. */
const MAX_SEEN = 10_000;

/** Messages to an agent as they come, each once, at the cost of what is new. */
export interface MailFeed {
  /** What has come since the last look, oldest first; at the first since the feed was opened, and what is in the inbox. */
  look(): MessageView[];
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
    look() {
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
