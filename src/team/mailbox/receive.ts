import { type Clock, systemClock } from "../../os/clock.ts";
import { authenticProtocol } from "../../protocol/authenticate.ts";
import type { ProtocolMessage } from "../../protocol/messages.ts";
import type { InboxMessage, JournalLine } from "../../schema/inbox.ts";
import {
  changeInbox,
  consumedBeyondTail,
  peekInbox,
  readInbox,
  settleEntries,
  type Warn,
} from "../inbox/inbox-file.ts";
import { messageKey, readEntry } from "../inbox/inbox-format.ts";
import { isJournalled } from "../inbox/inbox-recovery.ts";
import { appendJournal, journalled } from "../inbox/journal.ts";
import { hasBadEntries } from "../inbox/original-copies.ts";
import type { TeamRef } from "../ref.ts";
import { withLastWords } from "./last-words.ts";
import { reportRepairs } from "./send.ts";

export interface InboxEntry {
  /** Identifies the message for its recipient: its id, or a hash of its content. */
  readonly key: string;
  readonly message: InboxMessage;
  /** Set if the text is a protocol message that this sender may send to this reader; otherwise it is plain text. */
  readonly protocol: ProtocolMessage | undefined;
}

/**
 * Returns the unread messages of an agent, oldest first. Repairs a broken file, and quarantines unreadable entries; the lead, the
 * event log and `warn` are notified of both, but only `warn` while a list of earlier unreadable entries exists. The recipient must
 * handle each key only once.
 */
export async function unreadMessages(
  ref: TeamRef,
  agent: string,
  options: { readonly warn?: Warn } = {},
): Promise<InboxEntry[]> {
  const repairs: string[] = [];
  const warn = (repair: string): void => void repairs.push(repair);
  let entries = readInbox(ref, agent);
  if (entries === undefined) {
    await changeInbox(ref, agent, () => undefined, { warn });
    entries = readInbox(ref, agent) ?? [];
  }
  let messages = entries.flatMap((entry) => readEntry(entry) ?? []);
  if (messages.length < entries.length) {
    // Only the first is reported to all: a program that adds such entries regularly would fill the lead's inbox.
    await settleEntries(ref, agent, hasBadEntries(ref, agent) ? options.warn : warn);
    messages = readInbox(ref, agent)?.flatMap((entry) => readEntry(entry) ?? []) ?? messages;
  }
  await reportRepairs(ref, agent, repairs, options.warn);
  return messages
    .filter(({ read }) => !read)
    .map((message) => {
      const complete = withLastWords(ref, agent, message);
      return { key: messageKey(message), message: complete, protocol: authenticProtocol(complete, agent) };
    });
}

/**
 * Marks messages as read, and drops all but the newest read messages from the inbox. Call it once they are in the
 * recipient's conversation on disk. Nothing is dropped from the inbox of another program's member, which may rely on
 * the order of its entries.
 * @param warn called if the inbox was broken and has been repaired; the lead and the event log are notified too
 * @returns the keys that this call has marked: the others were marked before, or are not in the inbox
 */
export async function markAsRead(
  ref: TeamRef,
  agent: string,
  keys: Iterable<string>,
  clock: Clock = systemClock,
  warn?: Warn,
): Promise<ReadonlySet<string>> {
  const wanted = new Set(keys);
  if (wanted.size === 0) return wanted;
  let marked: ReadonlySet<string> = new Set();
  const mayDrop = isJournalled(ref, agent);
  const repairs: string[] = [];
  const change = (entries: readonly unknown[]): unknown[] | undefined => {
    const items = entries.map((entry) => markItem(entry, wanted));
    marked = new Set(
      items.flatMap(({ message, isNew }) => (isNew && message !== undefined ? [messageKey(message)] : [])),
    );
    if (marked.size === 0) return undefined;
    const dropped = mayDrop ? consumedBeyondTail(items.map(({ message }) => message)) : NOTHING;
    journalConsumed(
      ref,
      agent,
      items.filter(({ isNew }, at) => isNew || dropped.has(at)),
      { at: clock.now(), sync: dropped.size > 0 },
    );
    return items.filter((_, at) => !dropped.has(at)).map(({ entry }) => entry);
  };
  await changeInbox(ref, agent, change, { warn: (repair) => void repairs.push(repair) });
  await reportRepairs(ref, agent, repairs, warn);
  return marked;
}

const NOTHING: ReadonlySet<number> = new Set();

interface Item {
  readonly entry: unknown;
  /** Undefined if the entry is unreadable. */
  readonly message: InboxMessage | undefined;
  /** Was unread until now. */
  readonly isNew: boolean;
}

function markItem(entry: unknown, wanted: ReadonlySet<string>): Item {
  const message = readEntry(entry);
  const isNew = message !== undefined && !message.read && wanted.has(messageKey(message));
  if (!isNew) return { entry, message, isNew };
  return { entry: { ...(entry as object), read: true }, message: { ...message, read: true }, isNew };
}

/** Journals messages that were just read, and dropped ones that the journal lacks. */
function journalConsumed(
  ref: TeamRef,
  agent: string,
  items: readonly Item[],
  { at, sync }: { readonly at: number; readonly sync: boolean },
): void {
  const messages = items.flatMap(({ message, isNew }) =>
    message === undefined ? [] : [{ message, isNew, id: messageKey(message) }],
  );
  const known = journalled(
    ref,
    agent,
    messages.map(({ id }) => id),
  );
  const lines = messages.flatMap(({ message, isNew, id }): JournalLine[] => {
    const line = { at, id, to: agent, state: "delivered" as const };
    if (known.has(id)) return isNew ? [line] : [];
    return [{ ...line, message: withLastWords(ref, agent, message) }];
  });
  appendJournal(ref, lines, { sync });
}

/** Records that a turn with these messages has started or ended. */
export async function recordProgress(
  ref: TeamRef,
  agent: string,
  keys: Iterable<string>,
  state: "turn_started" | "done",
  clock: Clock = systemClock,
): Promise<void> {
  const at = clock.now();
  appendJournal(
    ref,
    [...keys].map((id) => ({ at, id, to: agent, state })),
  );
}

export function unreadCount(ref: TeamRef, agent: string): number {
  return peekInbox(ref, agent).filter(({ read }) => !read).length;
}
