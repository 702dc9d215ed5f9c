import { type ProtocolType, parseProtocol } from "../../../src/protocol/messages.ts";
import { TYPED } from "../../../src/schema/inbox.ts";
import { LEAD_NAME, PERSON_NAME } from "../../../src/schema/names.ts";
import type { InboxEntry } from "../../../src/team/mailbox/receive.ts";

let count = 0;

/** A message as its recipient reads it. */
export function entry(from: string, text: string, fields: Partial<InboxEntry["message"]> = {}): InboxEntry {
  count += 1;
  const timestamp = new Date(count).toISOString();
  return {
    key: `k${count}`,
    message: { from, text, timestamp, read: false, ...fields },
    protocol: parseProtocol(text),
  };
}

export function protocolEntry(
  from: string,
  message: { readonly type: ProtocolType } & Record<string, unknown>,
): InboxEntry {
  return entry(from, JSON.stringify(message));
}

/** A line that the user typed in the recipient's pane. */
export const typed = (line: string): InboxEntry => entry(PERSON_NAME, line, { type: TYPED });

export const shutdownRequest = (requestId = "shutdown-1@dev"): InboxEntry =>
  protocolEntry(LEAD_NAME, { type: "shutdown_request", requestId, from: LEAD_NAME });

/** A teammate's idle notice after a turn with this many tool calls. */
export const idleNotice = (from: string, toolCalls: number, result = "thanks"): InboxEntry =>
  protocolEntry(from, { type: "idle_notification", from, idleReason: "available", result, toolCalls });
