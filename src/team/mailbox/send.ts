import { isSystemError, messageOf, TeamError } from "../../errors.ts";
import { type Clock, systemClock } from "../../os/clock.ts";
import { maskText, ownSecrets } from "../../os/redact.ts";
import { newUuid } from "../../os/uuid.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { type InboxMessage, TYPED } from "../../schema/inbox.ts";
import { LEAD_NAME, sameName, splitAddress } from "../../schema/names.ts";
import { ring } from "../../wakeup/fifo-bell.ts";
import { readTeam } from "../config/config.ts";
import type { Warn } from "../inbox/inbox-file.ts";
import { messageKey } from "../inbox/inbox-format.ts";
import { eventSubject } from "../members/event-subject.ts";
import { lookUpMember } from "../members/members.ts";
import { readStatus } from "../records/read-records.ts";
import type { TeamRef } from "../ref.ts";
import { appendMessage } from "./append.ts";
import { isDown, recipientOf } from "./recipients.ts";

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
function compose(config: TeamConfig, mail: OutgoingMessage, clock: Clock): InboxMessage {
  const sender = lookUpMember(config, mail.from);
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
