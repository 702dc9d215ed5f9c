import { createHash } from "node:crypto";
import { messageOf, systemErrorCode, TeamError } from "../../errors.ts";
import { type Clock, systemClock } from "../../os/clock.ts";
import { newUuid } from "../../os/process/identity.ts";
import { ownSecrets, redactText } from "../../os/redact.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { type InboxMessage, TYPED } from "../../schema/inbox.ts";
import { LEAD_NAME, SYSTEM_NAME, sameName, splitAddress } from "../../schema/names.ts";
import { recordEvent } from "../../telemetry/event-log.ts";
import { wellFormed } from "../../text/characters/well-formed.ts";
import { readTeam } from "../config/config.ts";
import type { Warn } from "../inbox/inbox-file.ts";
import { messageKey } from "../inbox/inbox-format.ts";
import {
  currentEventSubject,
  eventSubject,
  findRecipient,
  isDown,
  lookUpMember,
} from "../members/members.ts";
import type { TeamRef } from "../ref.ts";
import { appendMessage } from "./append-messages.ts";

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

/** Whether a message failed because its recipient has left the team, or was never a member. */
export function hasNoRecipient(error: unknown): boolean {
  return error instanceof TeamError && /^RECIPIENT_(?:NOT_FOUND|INACTIVE)$/.test(error.code);
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
  const repairs: string[] = [];
  const isUp = await appendMessage(ref, to.name, {
    message,
    sender: eventSubject(ref, config, mail.from),
    isOfEvent: mail.messageId !== undefined,
    at: clock.now(),
    warn: (repair) => void repairs.push(repair),
  });
  await reportRepairs(ref, to.name, repairs, warn);
  return { messageId: messageKey(message), to: to.name, queuedForRestart: !isUp };
}

/**
 * Reports repairs of an inbox to the event log, to `warn` and, since a message may be lost, to the lead. Rejects only if the team was
 * deleted.
 * @param repairs one sentence for each repair
 */
export async function reportRepairs(
  ref: TeamRef,
  agent: string,
  repairs: readonly string[],
  warn: Warn | undefined,
): Promise<void> {
  for (const repair of repairs) {
    warn?.(repair);
    recordEvent(ref, { ...currentEventSubject(ref, agent), type: "inbox", what: "repaired", owner: agent });
    try {
      await sendMessage(ref, { from: SYSTEM_NAME, to: LEAD_NAME, text: repair });
    } catch (error) {
      if (!(error instanceof TeamError) || error.code === "TEAM_NOT_FOUND") throw error;
      // Another program's team may have no lead of that name.
      if (error.code !== "RECIPIENT_NOT_FOUND")
        warn?.(`The lead could not be notified of this repair: ${error.message}`);
    }
  }
}

/** Creates the inbox entry, well formed, with secrets redacted as in every file that `teams` writes. */
function compose(config: TeamConfig, mail: OutgoingMessage, clock: Clock): InboxMessage {
  const sender = lookUpMember(config, mail.from);
  const color = mail.color ?? (sender?.name === LEAD_NAME ? undefined : sender?.color);
  return {
    from: mail.from,
    text: wellFormed(redactText(mail.text, ownSecrets())),
    timestamp: new Date(clock.now()).toISOString(),
    ...(color === undefined ? {} : { color }),
    ...(mail.summary === undefined ? {} : { summary: wellFormed(redactText(mail.summary, ownSecrets())) }),
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
    error instanceof TeamError ? error.code : systemErrorCode(error),
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
