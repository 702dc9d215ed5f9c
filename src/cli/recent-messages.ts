import { readTail } from "../os/files/fs.ts";
import { journalLine } from "../schema/inbox.ts";
import type { MessageLine } from "../sidebar/data.ts";
import type { TeamRef } from "../team/ref.ts";

/** As much of the journal's end as is looked at: far more than a screen of messages. */
const TAIL_BYTES = 64 * 1024;

/** The newest messages of a team, oldest first. Costs the same however long the journal is. */
export function recentMessages(ref: TeamRef, count: number): MessageLine[] {
  const lines = readTail(ref.paths.journal, TAIL_BYTES)?.split("\n") ?? [];
  return lines.flatMap(parseMessage).slice(-count);
}

/** A line that does not parse (a torn last one) or only tells of a message's progress is left out. */
function parseMessage(text: string): MessageLine[] {
  if (!text.includes('"message"')) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Torn: its writer is not done, and rings when it is.
    return [];
  }
  const { data } = journalLine.safeParse(value);
  if (data?.message === undefined) return [];
  const { from, text: body, summary } = data.message;
  return [{ from, to: data.to, text: body, summary, at: data.at }];
}
