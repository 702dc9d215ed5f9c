import { readTail } from "../../os/files/file-parts.ts";
import { journalForm } from "../../schema/guards/inbox.ts";
import { sameName } from "../../schema/names.ts";
import type { MessageLine } from "../../sidebar/data.ts";
import { parseJsonLine } from "../../store/jsonl.ts";
import { readCached, type TeamRef } from "../../team/ref.ts";

/** Bytes to read from the end of the journal: far more than a screen of messages. */
const TAIL_BYTES = 64 * 1024;

/** Bytes to read from the end of the journal for the messages of one member. */
const HISTORY_BYTES = 1024 * 1024;

/** Returns the newest messages of a team, oldest first. The cost does not depend on the length of the journal. */
export function recentMessages(ref: TeamRef, count: number): MessageLine[] {
  const messages = readCached(ref, ref.paths.journal, () => lastMessages(ref, TAIL_BYTES));
  return messages?.slice(-count) ?? [];
}

/** Returns the newest messages from and to a member, oldest first. */
export function memberMessages(ref: TeamRef, name: string): MessageLine[] {
  return lastMessages(ref, HISTORY_BYTES).filter(
    ({ from, to }) => sameName(from, name) || sameName(to, name),
  );
}

function lastMessages({ paths }: TeamRef, bytes: number): MessageLine[] {
  return (readTail(paths.journal, bytes)?.split("\n") ?? []).flatMap(parseMessage);
}

const parseLine = parseJsonLine(journalForm);

/** Parses a line of the journal. Returns an empty list if it does not parse, or only records a message's progress. */
function parseMessage(text: string): MessageLine[] {
  if (!text.includes('"message"')) return [];
  return parseLine(text).flatMap(({ to, at, message }) => {
    if (message === undefined) return [];
    const { from, text: body, summary } = message;
    return [{ from, to, text: body, summary, at }];
  });
}
