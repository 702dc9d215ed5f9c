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
  const { journal } = ref.paths;
  const messages = readCached(ref, journal, () => messagesIn(readTail(journal, TAIL_BYTES)));
  return messages?.slice(-count) ?? [];
}

/**
 * Returns a function that returns the newest messages from and to a member, oldest first. It returns the same list until the journal
 * has changed.
 */
export function memberMessages({ paths }: TeamRef, name: string): () => readonly MessageLine[] {
  let known: { readonly text: string | undefined; readonly messages: readonly MessageLine[] } | undefined;
  return () => {
    const text = readTail(paths.journal, HISTORY_BYTES);
    if (known === undefined || known.text !== text) {
      const messages = messagesIn(text).filter(({ from, to }) => sameName(from, name) || sameName(to, name));
      known = { text, messages };
    }
    return known.messages;
  };
}

function messagesIn(journal: string | undefined): MessageLine[] {
  return (journal?.split("\n") ?? []).flatMap(parseMessage);
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
