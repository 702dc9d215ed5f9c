import type { TurnInput } from "../agent/agent.ts";
import type { InputOrigin } from "../agent/model/model.ts";
import { type Envelope, formatEnvelopes } from "../protocol/envelope.ts";
import { proseOf } from "../protocol/prose.ts";
import type { InboxEntry } from "../team/mailbox.ts";

/** Who a typed line is from, for a playbook's `{{message.from}}`. */
export const PERSON = "user";

/**
 * Messages and typed lines as one user turn: messages in their tags, joined by blank lines; what a person typed as it
 * is, behind them, marked as the person's (protocol.md section 3). What hooks said stands between the two.
 */
export function composeTurn(
  entries: readonly InboxEntry[],
  typed: readonly string[],
  remarks: readonly string[] = [],
): TurnInput {
  const envelopes = entries.map(envelopeOf);
  const parts = [
    ...(envelopes.length === 0 ? [] : [formatEnvelopes(envelopes)]),
    ...remarks,
    ...typed.map((line) => `[typed in your pane by the user]\n${line}`),
  ];
  const keys = entries.map((entry) => entry.key);
  const text = parts.join("\n\n");
  return { text, keys, origin: { ...newestWords(entries, typed, remarks), ...newestRequest(entries) } };
}

function newestWords(
  entries: readonly InboxEntry[],
  typed: readonly string[],
  remarks: readonly string[],
): Pick<InputOrigin, "text" | "from"> {
  const line = typed.at(-1) ?? remarks.at(-1);
  const newest = entries.at(-1);
  if (line !== undefined || newest === undefined) return { text: line ?? "", from: PERSON };
  const { protocol, message } = newest;
  return { text: protocol === undefined ? message.text : proseOf(protocol), from: message.from };
}

/** The newest message that asks for an answer by its id; without one the newest protocol message. */
function newestRequest(entries: readonly InboxEntry[]): Pick<InputOrigin, "protocolType" | "requestId"> {
  const protocols = entries.flatMap(({ protocol }) => protocol ?? []);
  const asking = protocols.findLast((protocol) => requestIdOf(protocol) !== undefined) ?? protocols.at(-1);
  if (asking === undefined) return {};
  const requestId = requestIdOf(asking);
  return { protocolType: asking.type, ...(requestId === undefined ? {} : { requestId }) };
}

function envelopeOf(entry: InboxEntry): Envelope {
  const { from, text, color, summary } = entry.message;
  return { from, color, summary, body: entry.protocol === undefined ? text : proseOf(entry.protocol) };
}

function requestIdOf(protocol: NonNullable<InboxEntry["protocol"]>): string | undefined {
  if ("requestId" in protocol && typeof protocol.requestId === "string") return protocol.requestId;
  return "request_id" in protocol && typeof protocol.request_id === "string"
    ? protocol.request_id
    : undefined;
}
