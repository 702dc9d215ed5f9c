import { watchFile } from "../os/files/followed-file.ts";
import { appendPrivate } from "../os/files/fs.ts";
import { type OpenLines, openLines } from "../os/files/whole-lines.ts";
import { ownSecrets, redactText } from "../os/redact.ts";
import { headlineOf } from "../protocol/render.ts";
import { journalForm } from "../schema/guards/inbox.ts";
import type { JournalLine } from "../schema/inbox.ts";
import { parseJsonLine } from "../store/jsonl.ts";
import { shortened } from "../text/characters/cut-text.ts";
import { gridText } from "../text/terminal-text.ts";
import type { Recording } from "./recording.ts";

/** Maximum characters of a marker. */
const MAX_LABEL = 160;

/** The messages to one agent, as markers. */
export interface MessageMarkers {
  /** Reports the messages since the last call, for a file system that cannot be watched. */
  poll(): void;
  close(): void;
}

/**
 * Reports each message to an agent, from the team's journal: first those that it had not taken when the recording began, then every
 * new one. Reads only when the journal changes.
 */
export function followMessages(
  { journal, agent, startedAt }: Pick<Recording, "journal" | "agent" | "startedAt">,
  onMarker: (label: string) => void,
): MessageMarkers {
  const lines = openJournal(journal);
  if (lines === undefined) return { poll: () => undefined, close: () => undefined };
  const mark = (message: JournalLine["message"]): void => {
    if (message !== undefined) onMarker(labelOf(message));
  };
  const waiting = new Map<string, JournalLine["message"]>();
  for (const { id, at, state, message } of linesTo(lines.read(), agent)) {
    if (message !== undefined && state === "queued") waiting.set(id, message);
    // An agent may take its prompt before its recorder runs.
    else if (at < startedAt) waiting.delete(id);
  }
  for (const message of waiting.values()) mark(message);
  const poll = (): void => {
    for (const { message } of linesTo(lines.read(), agent)) mark(message);
  };
  const watch = watchFile(journal, poll);
  return {
    poll,
    close() {
      watch?.close();
      lines.close();
    },
  };
}

/** Creates the journal of a team without messages, since a missing file cannot be watched. */
function openJournal(path: string): OpenLines | undefined {
  try {
    appendPrivate(path, "");
    return openLines(path);
  } catch {
    // The team was already deleted, or its disk cannot be written: the screen is recorded without markers.
    return undefined;
  }
}

const parseLine = parseJsonLine(journalForm);

function linesTo(texts: readonly string[], agent: string): JournalLine[] {
  const to = `"to":${JSON.stringify(agent)}`;
  return texts
    .filter((text) => text.includes(to))
    .flatMap(parseLine)
    .filter((line) => line.to === agent);
}

/** Returns one line without control characters: the sender, and the summary or the first line of its message. */
function labelOf({ from, text, summary }: NonNullable<JournalLine["message"]>): string {
  const label = `${from}: ${headlineOf(text, summary)}`;
  return shortened(gridText(redactText(label, ownSecrets())), MAX_LABEL);
}
