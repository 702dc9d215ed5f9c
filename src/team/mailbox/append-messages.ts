import { isFileAccessError, isSystemError, TeamError } from "../../errors.ts";
import type { EventSubject } from "../../schema/event.ts";
import { journalForm } from "../../schema/guards/inbox.ts";
import type { InboxMessage, JournalLine } from "../../schema/inbox.ts";
import { recordEvent } from "../../telemetry/event-log.ts";
import { ring } from "../../wakeup/fifo-bell.ts";
import { changeInbox, type Warn, withoutConsumed } from "../inbox/inbox-file.ts";
import { messageKey } from "../inbox/inbox-format.ts";
import { appendJournal, deliveredEvents } from "../inbox/journal.ts";
import { isDown } from "../members/members.ts";
import { readStatus } from "../records/read-records.ts";
import type { TeamRef } from "../ref.ts";

/** A message to append to an inbox. */
interface Posting {
  readonly message: InboxMessage;
  readonly sender: EventSubject;
  /** Its id is derived from an event, so another process may have sent it already. */
  readonly isOfEvent: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly warn?: Warn | undefined;
}

/** Maximum number of messages in one write, which keeps the lock for a few milliseconds only. */
const MAX_BATCH = 500;

interface Batch {
  readonly postings: Posting[];
  readonly written: Promise<boolean>;
}

/** Messages of this process that wait for an inbox's lock, by the path of the inbox. */
const batches = new Map<string, Batch>();

/**
 * Appends a message to an inbox, unless the inbox contains it or, for a message about an event, has contained it; then rings the
 * recipient's bell. Messages that this process sends to the same agent while it waits for the lock are written together, in
 * the order of the calls. While another process of teams has the lock, that process may write them with its own.
 * @returns false if the recipient is known to be down
 * @throws TeamError TEAM_NOT_FOUND, LOCK_TIMEOUT, PERMISSION_DENIED; nothing is written in that case
 */
export function appendMessage(ref: TeamRef, agent: string, posting: Posting): Promise<boolean> {
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

/** @param close closes the batch; called before the messages are written or posted, or if they cannot be */
async function writeBatch(
  ref: TeamRef,
  agent: string,
  postings: readonly Posting[],
  close: () => void,
): Promise<boolean> {
  let fresh: readonly Posting[] = [];
  let carried: readonly JournalLine[] = [];
  let isUp: boolean | undefined;
  let isFirstRun = true;
  try {
    await changeInbox(
      ref,
      agent,
      (entries, waiting) => {
        close();
        fresh = freshOf(ref, agent, entries, postings);
        carried = missingIn(entries, linesIn(waiting));
        if (fresh.length === 0 && waiting.length === 0) return undefined;
        // A second run is under the lock of foreign writers, where the journal must not be searched or synced.
        const kept = isFirstRun ? withoutConsumed(ref, agent, entries) : entries;
        isFirstRun = false;
        return [...kept, ...messagesOf(carried, fresh)];
      },
      {
        append: (waiting) => {
          close();
          if (postings.some(({ isOfEvent }) => isOfEvent)) return undefined;
          fresh = postings;
          carried = linesIn(waiting);
          return messagesOf(carried, fresh);
        },
        offer: {
          text: () => {
            close();
            // Only its sender, under the lock, can check whether a message about an event must still be sent.
            const isOffered = postings.every(({ isOfEvent }) => !isOfEvent);
            return isOffered ? JSON.stringify(queuedLines(agent, postings)) : undefined;
          },
          accepts: (text) => parseLines(text)?.every(({ to }) => to === agent) === true,
          made: () => {
            fresh = postings;
          },
        },
        // Under the lock, so the recipient's journal lines about a message follow this one.
        written: () => journalQueued(ref, [...carried, ...queuedLines(agent, fresh)]),
        visible: () => {
          isUp = ringBell(ref, agent);
        },
        // One posting is enough: the others would report the same repair again.
        warn: (sentence) => postings[0]?.warn?.(sentence),
      },
    );
    for (const posting of fresh) recordMessage(ref, agent, posting);
    return isUp ?? ringBell(ref, agent);
  } finally {
    close();
  }
}

function messagesOf(carried: readonly JournalLine[], fresh: readonly Posting[]): InboxMessage[] {
  return [...carried.flatMap(({ message }) => message ?? []), ...fresh.map(({ message }) => message)];
}

/** Returns the journal lines of messages that are put into an inbox. */
function queuedLines(to: string, postings: readonly Posting[]): JournalLine[] {
  return postings.map(({ at, message }) => ({ at, id: messageKey(message), to, state: "queued", message }));
}

/** Returns the messages that other processes have posted, each as its journal line. */
function linesIn(waiting: readonly string[]): JournalLine[] {
  return waiting.flatMap((text) => parseLines(text) ?? []);
}

/** Returns undefined for a text that is incomplete or of another form. */
function parseLines(text: string): readonly JournalLine[] | undefined {
  try {
    const lines: unknown = JSON.parse(text);
    const isWhole = Array.isArray(lines) && lines.every((line) => journalForm.guard(line) && line.message);
    return isWhole ? lines : undefined;
  } catch {
    // Its process is writing it, or was killed while it did.
    return undefined;
  }
}

function missingIn(entries: readonly unknown[], lines: readonly JournalLine[]): readonly JournalLine[] {
  if (lines.length === 0) return lines;
  const present = new Set(entries.map((entry) => (entry as InboxMessage | null)?.msg_id));
  return lines.filter(({ id }) => !present.has(id));
}

/** Rings a member's bell. @returns false if the member is known to be down */
function ringBell(ref: TeamRef, agent: string): boolean {
  try {
    const status = readStatus(ref, agent);
    if (status?.bell !== undefined) ring(status.bell);
    return status === undefined || !isDown(ref, agent, status);
  } catch (error) {
    // The message is in the file: an error would make the sender send it again. Losing a bell is harmless.
    if (!isSystemError(error) && !(error instanceof TeamError)) throw error;
    return true;
  }
}

/** Runs after the lock is released, since other processes wait for it. */
function recordMessage(ref: TeamRef, to: string, { message, sender }: Posting): void {
  const { from, text } = message;
  recordEvent(ref, {
    type: "message",
    ...sender,
    messageId: messageKey(message),
    from,
    to,
    size: text.length,
    // Matches only the form that `teams` writes; no need to parse the text for an event.
    protocol: /^\{"type":"([a-z_]{1,64})"/.exec(text)?.[1],
  });
}

function freshOf(
  ref: TeamRef,
  agent: string,
  entries: readonly unknown[],
  postings: readonly Posting[],
): readonly Posting[] {
  const present = new Set(entries.map((entry) => (entry as InboxMessage | null)?.msg_id));
  const ofEvents = postings.filter(({ isOfEvent }) => isOfEvent).map(({ message }) => messageKey(message));
  const gone = deliveredEvents(
    ref,
    agent,
    ofEvents.filter((id) => !present.has(id)),
  );
  return postings.filter(({ message }) => {
    const id = messageKey(message);
    if (present.has(id) || gone.has(id)) return false;
    present.add(id);
    return true;
  });
}

function journalQueued(ref: TeamRef, lines: readonly JournalLine[]): void {
  try {
    appendJournal(ref, lines);
  } catch (error) {
    // The messages are in the inbox, so sending them succeeded; the recipient journals the entries that are missing here.
    if (!isFileAccessError(error)) throw error;
  }
}
