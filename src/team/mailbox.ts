import { isSystemError, messageOf, TeamError } from "../errors.ts";
import { type Clock, systemClock } from "../os/clock.ts";
import { maskText, ownSecrets } from "../os/secrets.ts";
import { newUuid } from "../os/uuid.ts";
import type { ProtocolMessage } from "../protocol/messages.ts";
import { authenticProtocol } from "../protocol/senders.ts";
import type { TeamConfig, TeamMember } from "../schema/config.ts";
import { type InboxMessage, type JournalLine, TYPED } from "../schema/inbox.ts";
import { LEAD_NAME, sameName, splitAddress } from "../schema/names.ts";
import { ring } from "../wakeup/fifo-bell.ts";
import { readTeam } from "./config.ts";
import { eventOf } from "./event-of.ts";
import { appendMessage } from "./inbox-append.ts";
import { changeInbox, peekInbox, readInbox, setAsideBad, type Warn } from "./inbox-file.ts";
import { isReadByUs } from "./inbox-lost.ts";
import { consumedBeyondTail } from "./inbox-tail.ts";
import { messageKey, readEntry } from "./inbox-text.ts";
import { appendJournal, journalled } from "./journal.ts";
import { memberOf } from "./members.ts";
import { isDown, recipientOf } from "./recipients.ts";
import { readStatus } from "./records.ts";
import type { TeamRef } from "./ref.ts";

export interface Mail {
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
export async function deliver(
  ref: TeamRef,
  mail: Mail,
  clock: Clock = systemClock,
  warn?: Warn,
): Promise<Delivery> {
  const config = readTeam(ref);
  return put(ref, config, recipientOf(config, mail.to), mail, { clock, warn });
}

interface PutOptions {
  readonly clock: Clock;
  /** Hears of a broken inbox that was repaired on the way. */
  readonly warn: Warn | undefined;
}

async function put(
  ref: TeamRef,
  config: TeamConfig,
  to: TeamMember,
  mail: Mail,
  { clock, warn }: PutOptions,
): Promise<Delivery> {
  const message = compose(config, mail, clock);
  await appendMessage(ref, to.name, {
    message,
    sender: eventOf(ref, config, mail.from),
    isOfEvent: mail.messageId !== undefined,
    at: clock.now(),
    warn,
  });
  return { messageId: messageKey(message), to: to.name, queuedForRestart: !wake(ref, to.name) };
}

/** Rings a member's bell. @returns false when it is known to be down */
function wake(ref: TeamRef, agent: string): boolean {
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
function compose(config: TeamConfig, mail: Mail, clock: Clock): InboxMessage {
  const sender = memberOf(config, mail.from);
  const color = mail.color ?? (sender?.name === LEAD_NAME ? undefined : sender?.color);
  return {
    from: mail.from,
    text: maskText(mail.text, ownSecrets()),
    timestamp: new Date(clock.now()).toISOString(),
    ...(color === undefined ? {} : { color }),
    ...(mail.summary === undefined ? {} : { summary: maskText(mail.summary, ownSecrets()) }),
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
  mail: Omit<Mail, "to" | "messageId">,
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
      await put(ref, config, member, { ...mail, to: member.name }, { clock, warn });
    } catch (error) {
      throw halfSent(member.name, recipients, error);
    }
    recipients.push(member.name);
  }
  return { recipients, skipped };
}

function halfSent(failed: string, reached: readonly string[], error: unknown): TeamError {
  const who = reached.length === 0 ? "nobody" : reached.join(", ");
  return new TeamError(
    error instanceof TeamError ? error.code : "PERMISSION_DENIED",
    `The broadcast reached ${who} and stopped at ${failed}: ${messageOf(error)}`,
    { hint: "Send to the others one by one.", details: { recipients: reached }, cause: error },
  );
}

export interface InboxEntry {
  /** By what the receiver knows it again: its id, or a hash of what it says. */
  readonly key: string;
  readonly message: InboxMessage;
  /** Set when the text is a protocol message that this sender may send to this reader; else it is plain text. */
  readonly protocol: ProtocolMessage | undefined;
}

/**
 * What an agent has not consumed yet, oldest first. A broken file is repaired and a bad entry set aside on the way; both
 * are told to `warn`. The receiver handles each key once.
 */
export async function pending(
  ref: TeamRef,
  agent: string,
  options: { readonly warn?: Warn } = {},
): Promise<InboxEntry[]> {
  let entries = readInbox(ref, agent);
  if (entries === undefined) {
    await changeInbox(ref, agent, () => undefined, options);
    entries = readInbox(ref, agent) ?? [];
  }
  const messages = entries.flatMap((entry) => readEntry(entry) ?? []);
  if (messages.length < entries.length) await setAsideBad(ref, agent, options.warn);
  return messages
    .filter(({ read }) => !read)
    .map((message) => ({
      key: messageKey(message),
      message,
      protocol: authenticProtocol(message, agent),
    }));
}

/**
 * Marks messages as consumed, once they are in the receiver's conversation on disk, and keeps only a short tail of what
 * was consumed. The inbox of a foreign member is only marked: its owner may count on the order of its entries.
 */
export async function acknowledge(
  ref: TeamRef,
  agent: string,
  keys: Iterable<string>,
  clock: Clock = systemClock,
): Promise<void> {
  const wanted = new Set(keys);
  if (wanted.size === 0) return;
  const mayDrop = isReadByUs(ref, agent);
  await changeInbox(ref, agent, (entries) => {
    const items = entries.map((entry) => marked(entry, wanted));
    if (!items.some(({ isNew }) => isNew)) return undefined;
    const dropped = mayDrop ? consumedBeyondTail(items.map(({ message }) => message)) : NOTHING;
    journalConsumed(
      ref,
      agent,
      items.filter(({ isNew }, at) => isNew || dropped.has(at)),
      { at: clock.now(), sync: dropped.size > 0 },
    );
    return items.filter((_, at) => !dropped.has(at)).map(({ entry }) => entry);
  });
}

const NOTHING: ReadonlySet<number> = new Set();

interface Item {
  readonly entry: unknown;
  /** undefined: nobody can read it. */
  readonly message: InboxMessage | undefined;
  /** It was not consumed before. */
  readonly isNew: boolean;
}

function marked(entry: unknown, wanted: ReadonlySet<string>): Item {
  const message = readEntry(entry);
  const isNew = message !== undefined && !message.read && wanted.has(messageKey(message));
  if (!isNew) return { entry, message, isNew };
  return { entry: { ...(entry as object), read: true }, message: { ...message, read: true }, isNew };
}

/** Writes down what was consumed just now, and what leaves the array without having been written down. */
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
    return [{ ...line, message }];
  });
  appendJournal(ref, lines, { sync });
}

/** Notes that the turn which a message started has begun, or is over. */
export async function noteProgress(
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

/** How many messages wait for an agent. */
export function unreadCount(ref: TeamRef, agent: string): number {
  return peekInbox(ref, agent).filter(({ read }) => !read).length;
}
