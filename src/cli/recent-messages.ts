import { readTail } from "../os/files/fs.ts";
import { parseShape } from "../schema/guards/guard.ts";
import { journalForm } from "../schema/guards/inbox.ts";
import type { MessageLine } from "../sidebar/data.ts";
import { readCached, type TeamRef } from "../team/ref.ts";

/** How much of the journal's end is read: far more than a screen of messages. */
const TAIL_BYTES = 64 * 1024;

/** Returns the newest messages of a team, oldest first. The cost does not depend on the length of the journal. */
export function recentMessages(ref: TeamRef, count: number): MessageLine[] {
  const { journal } = ref.paths;
  const messages = readCached(ref, journal, () =>
    (readTail(journal, TAIL_BYTES)?.split("\n") ?? []).flatMap(parseMessage),
  );
  return messages?.slice(-count) ?? [];
}

/** Parses a line of the journal; nothing for a line that does not parse, or that only records a message's progress. */
function parseMessage(text: string): MessageLine[] {
  if (!text.includes('"message"')) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // A torn line: its writer is not done, and rings the bell when it is.
    return [];
  }
  const { data } = parseShape(journalForm, value);
  if (data?.message === undefined) return [];
  const { from, text: body, summary } = data.message;
  return [{ from, to: data.to, text: body, summary, at: data.at }];
}
