import { systemClock } from "../os/clock.ts";
import { parseProtocol, plainText } from "../protocol/messages.ts";
import { shownProse } from "../protocol/render.ts";
import { markRead, requireMayMark } from "../runtime/commands/mark-read.ts";
import { noteRedacted } from "../runtime/commands/redaction-note.ts";
import { agentIdentity, memberByAddress } from "../runtime/select-team.ts";
import { defined } from "../schema/defined.ts";
import { splitAddress } from "../schema/names.ts";
import { history, type MessageView } from "../team/mailbox/history.ts";
import { broadcast, sendMessage } from "../team/mailbox/send.ts";
import type { TeamAccess } from "./access.ts";
import { requireText, requireTexts, timeOf } from "./checks.ts";
import type { InboxOptions, SendOptions } from "./options.ts";
import type { Broadcast, Delivery, Message } from "./values.ts";

/** Sends a message from the acting member to another member. */
export async function send(
  access: TeamAccess,
  to: string,
  text: string,
  { summary }: SendOptions = {},
): Promise<Delivery> {
  requireText(text, "message");
  requireTexts({ summary });
  const { ref, config, actor } = access.open();
  const { name } = splitAddress(to);
  // Refuses the address of another team. The mailbox refuses a missing member, with the nearest names.
  if (name !== to) memberByAddress(ref, config, to);
  const mail = { from: actor, to: name, text: plainText(text), ...defined({ summary }) };
  const sent = await sendMessage(ref, mail, systemClock, access.host.note);
  noteRedacted(text, access.host);
  return sent;
}

/** Sends a message from the acting member to all other running members. */
export async function sendToAll(
  access: TeamAccess,
  text: string,
  { summary }: SendOptions = {},
): Promise<Broadcast> {
  requireText(text, "message");
  requireTexts({ summary });
  const { ref, actor } = access.open();
  const mail = { from: actor, text: plainText(text), ...defined({ summary }) };
  const sent = await broadcast(ref, mail, systemClock, access.host.note);
  noteRedacted(text, access.host);
  return sent;
}

/** Returns the messages to a member, oldest first. */
export async function readInbox(
  access: TeamAccess,
  name: string,
  { unread = false, from, since, all = false, markRead: marks = false }: InboxOptions = {},
): Promise<readonly Message[]> {
  const open = access.open();
  if (marks) requireMayMark(open, name, agentIdentity(access.host.env) !== undefined);
  const sender = from === undefined ? undefined : splitAddress(from).name;
  const found = await history(open.ref, name, {
    ...{ unread, all },
    ...defined({ from: sender, since: timeOf(since) }),
  });
  if (marks) await markRead(open.ref, name, found, access.host.note);
  return found.map(messageOf);
}

function messageOf({ id, from, to, text, summary, timestamp, read, state }: MessageView): Message {
  const protocol = parseProtocol(text);
  return {
    ...{ id, from, to, timestamp, read, state },
    text: protocol === undefined ? text : shownProse(protocol),
    ...defined({ summary }),
    protocol: protocol?.type ?? null,
  };
}
