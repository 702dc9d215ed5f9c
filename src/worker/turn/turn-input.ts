import type { TurnInput } from "../../agent/agent.ts";
import type { TaskNotice } from "../../agent/background/background-tasks.ts";
import type { InputOrigin } from "../../agent/model/model.ts";
import { type Envelope, escapeBody, formatEnvelopes } from "../../protocol/envelope.ts";
import type { ProtocolMessage, ProtocolType } from "../../protocol/messages.ts";
import { proseOf } from "../../protocol/render.ts";
import { defined } from "../../schema/defined.ts";
import { isTyped } from "../../schema/inbox.ts";
import { PERSON_NAME, SYSTEM_NAME } from "../../schema/names.ts";
import type { InboxEntry } from "../../team/mailbox/receive.ts";
import type { TurnMaterial } from "../turn-queue.ts";

/** Stands above what a person typed. */
export const TYPED_MARK = "[typed by the user]\n";

/**
 * What waits as one user turn: messages in their tags, joined by blank lines; what a person typed as it is, behind them,
 * marked as the person's (protocol.md section 3). What ended in the background and what hooks said stands between the two.
 */
export function composeTurn({ entries, instructions: remarks, taskEnds: ended }: TurnMaterial): TurnInput {
  const typed = entries.flatMap(({ message }) => (isTyped(message) ? [message.text] : []));
  const messages = entries.filter(({ message }) => !isTyped(message));
  const envelopes = messages.map(envelopeOf);
  const notices = ended.map(noticeText);
  const parts = [
    ...(envelopes.length === 0 ? [] : [formatEnvelopes(envelopes)]),
    ...notices,
    ...remarks,
    ...typed.map((line) => `${TYPED_MARK}${line}`),
  ];
  const keys = entries.map((entry) => entry.key);
  const text = parts.join("\n\n");
  const alone = entries.length + remarks.length === 0 ? notices.at(-1) : undefined;
  const words =
    alone === undefined ? newestWords(messages, typed, remarks) : { text: alone, from: SYSTEM_NAME };
  return { text, keys, origin: { ...words, ...requestsOf(entries) } };
}

/** The end of something in the background, as protocol.md section 8 has it; no command line can close a tag. */
function noticeText({ taskId, outputFile, status, what, how }: TaskNotice): string {
  const fields = { task_id: taskId, output_file: outputFile, status, summary: `${what}: ${how}` };
  const lines = Object.entries(fields).map(([tag, text]) => `<${tag}>${escapeBody(text)}</${tag}>`);
  return ["<task_notification>", ...lines, "</task_notification>"].join("\n");
}

function newestWords(
  messages: readonly InboxEntry[],
  typed: readonly string[],
  remarks: readonly string[],
): Pick<InputOrigin, "text" | "from"> {
  const line = typed.at(-1) ?? remarks.at(-1);
  const newest = messages.at(-1);
  if (line !== undefined || newest === undefined) return { text: line ?? "", from: PERSON_NAME };
  const { protocol, message } = newest;
  return { text: protocol === undefined ? message.text : proseOf(protocol), from: message.from };
}

/** Types that ask a model for an answer. */
const ASKING: ReadonlySet<ProtocolType> = new Set<ProtocolType>([
  "shutdown_request",
  "plan_approval_request",
  "question_request",
]);

/** The id of the newest message that asks for an answer, else of the newest that has one; and a shutdown request. */
function requestsOf(entries: readonly InboxEntry[]): Pick<InputOrigin, "requestId" | "shutdown"> {
  const protocols = entries.flatMap(({ protocol }) => protocol ?? []);
  const named = protocols.filter((protocol) => requestIdOf(protocol) !== undefined);
  const newest = named.findLast(({ type }) => ASKING.has(type)) ?? named.at(-1);
  const shutdown = protocols.findLast((protocol) => protocol.type === "shutdown_request");
  return defined({
    requestId: newest && requestIdOf(newest),
    shutdown: shutdown && { requestId: shutdown.requestId, text: proseOf(shutdown) },
  });
}

function envelopeOf(entry: InboxEntry): Envelope {
  const { from, text, color, summary } = entry.message;
  return { from, color, summary, body: entry.protocol === undefined ? text : proseOf(entry.protocol) };
}

function requestIdOf(protocol: ProtocolMessage): string | undefined {
  if ("requestId" in protocol && typeof protocol.requestId === "string") return protocol.requestId;
  return "request_id" in protocol && typeof protocol.request_id === "string"
    ? protocol.request_id
    : undefined;
}
