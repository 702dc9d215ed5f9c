import { isSystemError, messageOf, TeamError } from "../../errors.ts";
import { type Clock, systemClock } from "../../os/clock.ts";
import { ownSecrets, redactText } from "../../os/redact.ts";
import { newUuid } from "../../os/uuid.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import type { EventSubject } from "../../schema/event.ts";
import { type InboxMessage, type JournalLine, TYPED } from "../../schema/inbox.ts";
import { LEAD_NAME, sameName, splitAddress } from "../../schema/names.ts";
import { recordEvent } from "../../telemetry/event-log.ts";
import { ring } from "../../wakeup/fifo-bell.ts";
import { readTeam } from "../config/config.ts";
import { changeInbox, type Warn } from "../inbox/inbox-file.ts";
import { messageKey } from "../inbox/inbox-format.ts";
import { appendJournal, journalled } from "../inbox/journal.ts";
import { eventSubject, findRecipient, isDown, lookUpMember } from "../members/members.ts";
import { readStatus } from "../records/read-records.ts";
import type { TeamRef } from "../ref.ts";

/** A message on its way into an inbox. */
interface Posting {
  readonly message: InboxMessage;
  readonly sender: EventSubject;
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

export interface OutgoingMessage {
  /** Set by the transport from the sender's own identity, never from what a model wrote. */
  readonly from: string;
  /** `name` or `name@team`. */
  readonly to: string;
  /** What people and models wrote has been through `plainText` already. */
  readonly text: string;
  readonly summary?: string;
  readonly color?: string;
  /** Derived from an event, so that its message is sent once whoever notices it; else a new uuid. */
  readonly messageId?: string;
  /** A person typed it in the recipient's own pane. */
  readonly isTyped?: boolean;
}

export interface Delivery {
  readonly messageId: string;
  /** The recipient's name as the team has it. */
  readonly to: string;
  /** It crashed or went down with its server: the message waits for its restart. */
  readonly queuedForRestart: boolean;
}

/**
 * Puts a message into a member's inbox and rings its bell. When this resolves, the message is in the file.
 * @param warn hears of an inbox that was broken, and repaired on the way
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
  /** Hears of a broken inbox that was repaired on the way. */
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

/** Rings a member's bell. @returns false when it is known to be down */
function ringBell(ref: TeamRef, agent: string): boolean {
  try {
    const status = readStatus(ref, agent);
    if (status?.bell !== undefined) ring(status.bell);
    return status === undefined || !isDown(ref, agent, status);
  } catch (error) {
    // The message is in the file, and whoever was told otherwise would send it twice; a bell may be lost.
    if (!isSystemError(error) && !(error instanceof TeamError)) throw error;
    return true;
  }
}

/** An inbox is a file of ours: a secret that somebody says is in none. */
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
 * Writes to every living member but the sender; with nobody there it succeeds.
 * @returns who has it, and who was left out because it is down
 * @throws TeamError when an inbox could not be written, naming who has the message by then
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
  const who = reached.length === 0 ? "nobody" : reached.join(", ");
  return new TeamError(
    error instanceof TeamError ? error.code : "PERMISSION_DENIED",
    `The broadcast reached ${who} and stopped at ${failed}: ${messageOf(error)}`,
    { hint: "Send to the others one by one.", details: { recipients: reached }, cause: error },
  );
}
