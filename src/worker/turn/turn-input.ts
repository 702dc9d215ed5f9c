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

/** Precedes each line that a person typed. */
export const TYPED_MARK = "[typed by the user]\n";

/**
 * Composes one user turn: messages in their tags, then ends of background tasks, then instructions, then typed lines with their
 * mark (protocol.md section 3). Blank lines separate the parts.
 */
export function composeTurn({ entries, instructions, taskEnds }: TurnMaterial): TurnInput {
  const typed = entries.flatMap(({ message }) => (isTyped(message) ? [message.text] : []));
  const messages = entries.filter(({ message }) => !isTyped(message));
  const envelopes = messages.map(envelopeOf);
  const notices = taskEnds.map(noticeText);
  const parts = [
    ...(envelopes.length === 0 ? [] : [formatEnvelopes(envelopes)]),
    ...notices,
    ...instructions,
    ...typed.map((line) => `${TYPED_MARK}${line}`),
  ];
  const keys = entries.map((entry) => entry.key);
  const text = parts.join("\n\n");
  const alone = entries.length + instructions.length === 0 ? notices.at(-1) : undefined;
  const newest =
    alone === undefined ? newestText(messages, typed, instructions) : { text: alone, from: SYSTEM_NAME };
  return { text, keys, origin: { ...newest, ...requestsOf(entries) } };
}

/** The end of a background task in the format of protocol.md section 8; escaped, so that no command line can close a tag. */
function noticeText({ taskId, outputFile, status, what, how }: TaskNotice): string {
  const fields = { task_id: taskId, output_file: outputFile, status, summary: `${what}: ${how}` };
  const lines = Object.entries(fields).map(([tag, text]) => `<${tag}>${escapeBody(text)}</${tag}>`);
  return ["<task_notification>", ...lines, "</task_notification>"].join("\n");
}

function newestText(
  messages: readonly InboxEntry[],
  typed: readonly string[],
  instructions: readonly string[],
): Pick<InputOrigin, "text" | "from"> {
  const line = typed.at(-1) ?? instructions.at(-1);
  const newest = messages.at(-1);
  if (line !== undefined || newest === undefined) return { text: line ?? "", from: PERSON_NAME };
  const { protocol, message } = newest;
  return { text: protocol === undefined ? message.text : proseOf(protocol), from: message.from };
}

/** Types that need an answer from a model. */
const REQUEST_TYPES: ReadonlySet<ProtocolType> = new Set<ProtocolType>([
  "shutdown_request",
  "plan_approval_request",
  "question_request",
]);

/** Returns the id of the newest message that needs an answer, else of the newest with an id; and a shutdown request. */
function requestsOf(entries: readonly InboxEntry[]): Pick<InputOrigin, "requestId" | "shutdown"> {
  const protocols = entries.flatMap(({ protocol }) => protocol ?? []);
  const named = protocols.filter((protocol) => requestIdOf(protocol) !== undefined);
  const newest = named.findLast(({ type }) => REQUEST_TYPES.has(type)) ?? named.at(-1);
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
