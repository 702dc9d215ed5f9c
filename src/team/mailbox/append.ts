import { TeamError } from "../../errors.ts";
import type { EventOf } from "../../schema/event.ts";
import type { InboxMessage, JournalLine } from "../../schema/inbox.ts";
import { recordEvent } from "../../telemetry/event-log.ts";
import { changeInbox, type Warn } from "../inbox/inbox-file.ts";
import { messageKey } from "../inbox/inbox-format.ts";
import { appendJournal, journalled } from "../inbox/journal.ts";
import type { TeamRef } from "../ref.ts";

/** A message on its way into an inbox. */
interface Posting {
  readonly message: InboxMessage;
  readonly sender: EventOf;
  /** Its id stands for an event: whoever else has told of that has sent this message. */
  readonly isOfEvent: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly warn?: Warn | undefined;
}

/** Messages that one replacement of the file puts in: keeps it at some milliseconds, while others wait for the lock. */
const MAX_BATCH = 500;

interface Batch {
  readonly postings: Posting[];
  readonly written: Promise<void>;
}

/** For each inbox the messages of this process that wait for its lock. */
const batches = new Map<string, Batch>();

/**
 * Puts a message behind the others, unless it is there or, told of an event, was there before. What one process sends to
 * one agent while the lock is waited for goes in together, in the order of the calls.
 * @throws TeamError TEAM_NOT_FOUND, LOCK_TIMEOUT, PERMISSION_DENIED; nothing was written then
 */
export function appendMessage(ref: TeamRef, agent: string, posting: Posting): Promise<void> {
  const path = ref.paths.inbox(agent);
  const open = batches.get(path);
  if (open !== undefined && open.postings.length < MAX_BATCH) {
    open.postings.push(posting);
    return open.written;
  }
  const postings = [posting];
  const written = writeBatch(ref, agent, postings, () => {
    if (batches.get(path)?.postings === postings) batches.delete(path);
  });
  batches.set(path, { postings, written });
  return written;
}

/** @param close called before the messages are written, or when they cannot be: no further one joins them */
async function writeBatch(
  ref: TeamRef,
  agent: string,
  postings: readonly Posting[],
  close: () => void,
): Promise<void> {
  let fresh: readonly Posting[] = [];
  try {
    await changeInbox(
      ref,
      agent,
      (entries) => {
        close();
        fresh = freshOf(ref, agent, entries, postings);
        return fresh.length === 0 ? undefined : [...entries, ...fresh.map(({ message }) => message)];
      },
      // Under the lock: the receiver's lines about a message stand behind this one.
      { written: () => journalQueued(ref, agent, fresh), warn: (sentence) => warnAll(postings, sentence) },
    );
    for (const posting of fresh) recordMessage(ref, agent, posting);
  } finally {
    close();
  }
}

/** Behind the lock, for which others wait. */
function recordMessage(ref: TeamRef, to: string, { message, sender }: Posting): void {
  const { from, text } = message;
  recordEvent(ref, {
    type: "message",
    ...sender,
    messageId: messageKey(message),
    from,
    to,
    size: text.length,
    // As we write them; whoever must know for sure parses the text.
    protocol: /^\{"type":"([a-z_]{1,64})"/.exec(text)?.[1],
  });
}

/** Each sender hears it, and one that sends many at once hears it once. */
function warnAll(postings: readonly Posting[], sentence: string): void {
  for (const warn of new Set(postings.map((posting) => posting.warn))) warn?.(sentence);
}

function freshOf(
  ref: TeamRef,
  agent: string,
  entries: readonly unknown[],
  postings: readonly Posting[],
): readonly Posting[] {
  const there = new Set(entries.map((entry) => (entry as InboxMessage | null)?.msg_id));
  const ofEvents = postings.filter(({ isOfEvent }) => isOfEvent).map(({ message }) => messageKey(message));
  const gone = journalled(
    ref,
    agent,
    ofEvents.filter((id) => !there.has(id)),
  );
  return postings.filter(({ message }) => {
    const id = messageKey(message);
    if (there.has(id) || gone.has(id)) return false;
    there.add(id);
    return true;
  });
}

function journalQueued(ref: TeamRef, agent: string, postings: readonly Posting[]): void {
  const lines = postings.map(({ at, message }): JournalLine => {
    return { at, id: messageKey(message), to: agent, state: "queued", message };
  });
  try {
    appendJournal(ref, lines);
  } catch (error) {
    // The messages are in the inbox, which is what their senders are told; the receiver journals what is missing here.
    if (!(error instanceof TeamError) || error.code !== "PERMISSION_DENIED") throw error;
  }
}
