import { createHash } from "node:crypto";
import { isSystemError, messageOf, TeamError } from "../../errors.ts";
import { type Clock, systemClock } from "../../os/clock.ts";
import { newUuid } from "../../os/process/identity.ts";
import { ownSecrets, redactText } from "../../os/redact.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import type { EventSubject } from "../../schema/event.ts";
import { type InboxMessage, type JournalLine, TYPED } from "../../schema/inbox.ts";
import { LEAD_NAME, sameName, splitAddress } from "../../schema/names.ts";
import { recordEvent } from "../../telemetry/event-log.ts";
import { ring } from "../../wakeup/fifo-bell.ts";
import { readTeam } from "../config/config.ts";
import { changeInbox, type Warn, withoutConsumed } from "../inbox/inbox-file.ts";
import { messageKey } from "../inbox/inbox-format.ts";
import { appendJournal, deliveredEvents } from "../inbox/journal.ts";
import { eventSubject, findRecipient, isDown, lookUpMember } from "../members/members.ts";
import { readStatus } from "../records/read-records.ts";
import type { TeamRef } from "../ref.ts";

/** A message on its way into an inbox. */
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
  readonly written: Promise<void>;
}

/** Messages of this process that wait for an inbox's lock, by the path of the inbox. */
const batches = new Map<string, Batch>();

/**
 * Appends a message to an inbox, unless it is there already or, if it is about an event, was there before. Messages that
 * this process sends to the same agent while it waits for the lock are written together, in the order of the calls.
 * @throws TeamError TEAM_NOT_FOUND, LOCK_TIMEOUT, PERMISSION_DENIED; nothing is written in that case
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

/** @param close closes the batch; called before the messages are written, or if they cannot be */
async function writeBatch(
  ref: TeamRef,
  agent: string,
  postings: readonly Posting[],
  close: () => void,
): Promise<void> {
  let fresh: readonly Posting[] = [];
  let isFirstRun = true;
  try {
    await changeInbox(
      ref,
      agent,
      (entries) => {
        close();
        fresh = freshOf(ref, agent, entries, postings);
        if (fresh.length === 0) return undefined;
        // A second run is under the lock of foreign writers, where the journal must not be searched or synced.
        const kept = isFirstRun ? withoutConsumed(ref, agent, entries) : entries;
        isFirstRun = false;
        return [...kept, ...fresh.map(({ message }) => message)];
      },
      // Under the lock, so the recipient's journal lines about a message follow this one.
      { written: () => journalQueued(ref, agent, fresh), warn: (sentence) => warnAll(postings, sentence) },
    );
    for (const posting of fresh) recordMessage(ref, agent, posting);
  } finally {
    close();
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

/** Warns each sender once, however many messages it has in the batch. */
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
  const gone = deliveredEvents(
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
    // The messages are in the inbox, so sending them succeeded; the recipient journals what is missing here.
    if (!(error instanceof TeamError) || error.code !== "PERMISSION_DENIED") throw error;
  }
}

export interface OutgoingMessage {
  /** Set by the transport from the sender's identity, never from a model's text. */
  readonly from: string;
  /** `name` or `name@team`. */
  readonly to: string;
  /** Text of people and models must have passed through `plainText`. */
  readonly text: string;
  readonly summary?: string;
  readonly color?: string;
  /** Derived from an event, so that the message is sent only once; default: a new UUID. */
  readonly messageId?: string;
  /** A person typed it in the recipient's own pane. */
  readonly isTyped?: boolean;
}

export interface Delivery {
  readonly messageId: string;
  /** The recipient's name as it is spelled in the team. */
  readonly to: string;
  /** The recipient is down: the message waits for its restart. */
  readonly queuedForRestart: boolean;
}

/**
 * Writes a message into a member's inbox and rings its bell. When this resolves, the message is in the file.
 * @param warn called if the inbox was broken and has been repaired
 * @throws TeamError RECIPIENT_NOT_FOUND with the nearest names, RECIPIENT_INACTIVE, TEAM_NOT_FOUND, LOCK_TIMEOUT
 */
export async function sendMessage(
  ref: TeamRef,
  mail: OutgoingMessage,
  clock: Clock = systemClock,
  warn?: Warn,
): Promise<Delivery> {
  const config = readTeam(ref);
  return deliver(ref, config, findRecipient(config, mail.to), mail, { clock, warn });
}

interface PutOptions {
  readonly clock: Clock;
  /** Called if the inbox was broken and has been repaired. */
  readonly warn: Warn | undefined;
}

async function deliver(
  ref: TeamRef,
  config: TeamConfig,
  to: TeamMember,
  mail: OutgoingMessage,
  { clock, warn }: PutOptions,
): Promise<Delivery> {
  const message = compose(config, mail, clock);
  await appendMessage(ref, to.name, {
    message,
    sender: eventSubject(ref, config, mail.from),
    isOfEvent: mail.messageId !== undefined,
    at: clock.now(),
    warn,
  });
  return { messageId: messageKey(message), to: to.name, queuedForRestart: !ringBell(ref, to.name) };
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

/** Creates the inbox entry, with secrets redacted as in every file that `teams` writes. */
function compose(config: TeamConfig, mail: OutgoingMessage, clock: Clock): InboxMessage {
  const sender = lookUpMember(config, mail.from);
  const color = mail.color ?? (sender?.name === LEAD_NAME ? undefined : sender?.color);
  return {
    from: mail.from,
    text: redactText(mail.text, ownSecrets()),
    timestamp: new Date(clock.now()).toISOString(),
    ...(color === undefined ? {} : { color }),
    ...(mail.summary === undefined ? {} : { summary: redactText(mail.summary, ownSecrets()) }),
    msgV: 1,
    msg_id: mail.messageId ?? newUuid(),
    type: mail.isTyped ? TYPED : "message",
    read: false,
  };
}

/**
 * Sends a message to every member except the sender and members that are down; succeeds without recipients.
 * @returns the recipients, and the members that were skipped because they are down
 * @throws TeamError if an inbox could not be written; it names the members that have received the message
 */
export async function broadcast(
  ref: TeamRef,
  mail: Omit<OutgoingMessage, "to" | "messageId">,
  clock: Clock = systemClock,
  warn?: Warn,
): Promise<{ readonly recipients: string[]; readonly skipped: string[] }> {
  const config = readTeam(ref);
  const recipients: string[] = [];
  const skipped: string[] = [];
  for (const member of config.members) {
    if (sameName(member.name, splitAddress(mail.from).name)) continue;
    try {
      if (isDown(ref, member.name)) {
        skipped.push(member.name);
        continue;
      }
      await deliver(ref, config, member, { ...mail, to: member.name }, { clock, warn });
    } catch (error) {
      throw broadcastFailed(member.name, recipients, error);
    }
    recipients.push(member.name);
  }
  return { recipients, skipped };
}

function broadcastFailed(failed: string, reached: readonly string[], error: unknown): TeamError {
  const who = reached.length === 0 ? "no member" : reached.join(", ");
  return new TeamError(
    error instanceof TeamError ? error.code : "PERMISSION_DENIED",
    `The broadcast reached ${who} and stopped at ${failed}: ${messageOf(error)}`,
    {
      hint: "Send the message to the other members one by one.",
      details: { recipients: reached },
      cause: error,
    },
  );
}

/**
 * Derives the `msg_id` of a message about an event. Every process derives the same id for the same event, so a second
 * notification is dropped (protocol.md section 4). Returns a version 8 UUID of RFC 9562, made from a hash.
 * @param parts identify the event; their order matters
 */
export function eventMessageId(...parts: readonly string[]): string {
  const hash = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  const variant = ((Number.parseInt(hash.charAt(16), 16) & 3) | 8).toString(16);
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `${variant}${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join("-");
}
