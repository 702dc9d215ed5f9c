import { randomUUID } from "node:crypto";
import { messageOf, systemCode, TeamError } from "../errors.ts";
import { type Clock, systemClock } from "../os/clock.ts";
import { fileSize } from "../os/fs.ts";
import type { ProtocolMessage } from "../protocol/messages.ts";
import { authenticProtocol } from "../protocol/senders.ts";
import type { TeamConfig, TeamMember } from "../schema/config.ts";
import type { DeliveryState, InboxMessage, JournalLine } from "../schema/inbox.ts";
import { LEAD_NAME, sameName, splitAddress } from "../schema/names.ts";
import { ring } from "../wakeup/fifo-bell.ts";
import { readTeam } from "./config.ts";
import { changeInbox, peekInbox, readInbox, setAsideBad, type Warn } from "./inbox-file.ts";
import { consumedBeyondTail } from "./inbox-tail.ts";
import { messageKey, readEntry } from "./inbox-text.ts";
import { appendJournal, furthest, readJournal, recentJournal } from "./journal.ts";
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
 * @throws TeamError RECIPIENT_NOT_FOUND with the nearest names, RECIPIENT_INACTIVE, TEAM_NOT_FOUND, LOCK_TIMEOUT
 */
export async function deliver(ref: TeamRef, mail: Mail, clock: Clock = systemClock): Promise<Delivery> {
  const config = readTeam(ref);
  return put(ref, config, recipientOf(config, mail.to), mail, clock);
}

async function put(
  ref: TeamRef,
  config: TeamConfig,
  to: TeamMember,
  mail: Mail,
  clock: Clock,
): Promise<Delivery> {
  const message = compose(config, mail, clock);
  const id = messageKey(message);
  let isNew = true;
  await changeInbox(ref, to.name, (entries) => {
    isNew = !entries.some((entry) => (entry as InboxMessage | null)?.msg_id === id);
    return isNew ? [...entries, message] : undefined;
  });
  if (isNew) journalQueued(ref, { at: clock.now(), id, to: to.name, state: "queued", message });
  const status = readStatus(ref, to.name);
  if (status?.bell !== undefined) ring(status.bell);
  return { messageId: id, to: to.name, queuedForRestart: isDown(ref, to.name) };
}

function compose(config: TeamConfig, mail: Mail, clock: Clock): InboxMessage {
  const sender = memberOf(config, mail.from);
  const color = mail.color ?? (sender?.name === LEAD_NAME ? undefined : sender?.color);
  return {
    from: mail.from,
    text: mail.text,
    timestamp: new Date(clock.now()).toISOString(),
    ...(color === undefined ? {} : { color }),
    ...(mail.summary === undefined ? {} : { summary: mail.summary }),
    msgV: 1,
    msg_id: mail.messageId ?? randomUUID(),
    type: "message",
    read: false,
  };
}

function journalQueued(ref: TeamRef, line: JournalLine): void {
  try {
    appendJournal(ref, [line]);
  } catch (error) {
    // The message is in the inbox, which is what the sender is told; its receiver journals what is missing here.
    if (systemCode(error) === undefined) throw error;
  }
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
): Promise<{ readonly recipients: string[]; readonly skipped: string[] }> {
  const config = readTeam(ref);
  const recipients: string[] = [];
  const skipped: string[] = [];
  for (const member of config.members) {
    if (sameName(member.name, splitAddress(mail.from).name)) continue;
    if (isDown(ref, member.name)) {
      skipped.push(member.name);
      continue;
    }
    try {
      await put(ref, config, member, { ...mail, to: member.name }, clock);
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
    await changeInbox(ref, agent, () => undefined, options.warn);
    entries = readInbox(ref, agent) ?? [];
  }
  if (entries.some((entry) => readEntry(entry) === undefined)) await setAsideBad(ref, agent, options.warn);
  return entries.flatMap((entry) => {
    const message = readEntry(entry);
    if (message === undefined || message.read) return [];
    return [{ key: messageKey(message), message, protocol: authenticProtocol(message, agent) }];
  });
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
    const isJournalled = recentJournal(ref);
    const lines: JournalLine[] = [];
    const marked = entries.map((entry) => {
      const message = readEntry(entry);
      const id = message === undefined ? "" : messageKey(message);
      if (message === undefined || message.read || !wanted.has(id)) return entry;
      lines.push(journalLine(agent, message, "delivered", clock, isJournalled(id)));
      return { ...(entry as object), read: true };
    });
    if (lines.length === 0) return undefined;
    const dropped = mayDrop ? consumedBeyondTail(marked) : new Set<unknown>();
    for (const entry of dropped) {
      const message = readEntry(entry);
      if (message === undefined || isJournalled(messageKey(message))) continue;
      lines.push(journalLine(agent, message, "delivered", clock, false));
    }
    appendJournal(ref, lines, { sync: dropped.size > 0 });
    return marked.filter((entry) => !dropped.has(entry));
  });
}

function journalLine(
  to: string,
  message: InboxMessage,
  state: DeliveryState,
  clock: Clock,
  isJournalled: boolean,
): JournalLine {
  const line = { at: clock.now(), id: messageKey(message), to, state };
  return isJournalled ? line : { ...line, message };
}

/** An agent of ours keeps a status; a lead without one is a person at a command line, if the team is ours. */
function isReadByUs(ref: TeamRef, agent: string): boolean {
  if (readStatus(ref, agent) !== undefined) return true;
  return agent === LEAD_NAME && readTeam(ref).schemaVersion !== undefined;
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

/** Messages to an agent, oldest first: those in its inbox, with `all` every one since the team began. */
export async function history(
  ref: TeamRef,
  agent: string,
  filter: HistoryFilter = {},
): Promise<MessageView[]> {
  const journal = readJournal(ref, agent);
  const views = new Map<string, MessageView>();
  if (filter.all) {
    for (const { id, message, state } of journal.values()) {
      // Who removes what it consumed says no more of it: gone means received.
      if (message)
        views.set(id, { ...message, read: true, id, to: agent, state: furthest(state, "delivered") });
    }
  }
  for (const message of peekInbox(ref, agent)) {
    const id = messageKey(message);
    const known = journal.get(id)?.state ?? "queued";
    const state = message.read ? furthest(known, "delivered") : known;
    views.set(id, { ...message, id, to: agent, state });
  }
  return [...views.values()].filter((view) => fits(view, filter)).sort((a, b) => timeOf(a) - timeOf(b));
}

function fits(view: MessageView, { unread, from, since }: HistoryFilter): boolean {
  if (unread && view.read) return false;
  if (from !== undefined && !sameName(splitAddress(view.from).name, splitAddress(from).name)) return false;
  return since === undefined || timeOf(view) >= since;
}

function timeOf({ timestamp }: InboxMessage): number {
  return Date.parse(timestamp) || 0;
}

/** How many messages wait for an agent. */
export function unreadCount(ref: TeamRef, agent: string): number {
  return peekInbox(ref, agent).filter(({ read }) => !read).length;
}

/** Makes an agent's inbox, empty, where it has none. */
export async function ensureInbox(ref: TeamRef, agent: string): Promise<void> {
  if (fileSize(ref.paths.inbox(agent)) !== undefined) return;
  await changeInbox(ref, agent, (entries) => (entries.length === 0 ? entries : undefined));
}
