import { authenticProtocol } from "../../protocol/authenticate.ts";
import { formatProtocol } from "../../protocol/messages.ts";
import type { InboxMessage } from "../../schema/inbox.ts";
import { LEAD_NAME, splitAddress } from "../../schema/names.ts";
import { readLastWords } from "../records/hook-record.ts";
import type { TeamRef } from "../ref.ts";

/** Maximum milliseconds between the hook at the end of a turn and the idle notice of that turn: claude waits for the hook. */
const SAME_END_MS = 30_000;

/**
 * Adds the last words of a turn to its idle notice, if the notice has none: claude writes them itself only since 2.1.299, but its
 * hooks report them. Changes no file, since the content of a message may be its only id.
 * @param reader the member whose inbox contains the message
 */
export function withLastWords<T extends InboxMessage>(ref: TeamRef, reader: string, message: T): T {
  if (reader !== LEAD_NAME || !message.text.includes('"idle_notification"')) return message;
  const notice = authenticProtocol(message, reader);
  if (notice?.type !== "idle_notification" || notice.result) return message;
  // Another end of a turn has no last words.
  if (notice.idleReason !== undefined && notice.idleReason !== "available") return message;
  const at = Date.parse(message.timestamp);
  const { name } = splitAddress(message.from);
  const words = readLastWords(ref, name).findLast((turn) => turn.at <= at);
  if (words === undefined || words.at < at - SAME_END_MS) return message;
  return { ...message, text: formatProtocol({ ...notice, result: words.text }, new Date(at)) };
}
