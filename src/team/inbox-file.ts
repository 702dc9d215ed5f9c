import { pauseSync, systemClock } from "../os/clock.ts";
import { createWhole } from "../os/create.ts";
import { fileSize, readText, removeFile, replaceFile } from "../os/fs.ts";
import type { InboxMessage, JournalLine } from "../schema/inbox.ts";
import { formatJson, SECOND_LOOK_MS } from "../store/json-file.ts";
import { appendJsonLines } from "../store/jsonl.ts";
import { messageKey, parseEntries, readEntry, salvageEntries } from "./inbox-text.ts";
import { appendJournal, recentJournal } from "./journal.ts";
import type { TeamRef } from "./ref.ts";
import { lockInTeam } from "./team-lock.ts";

/** Hears in one sentence of what was repaired or set aside. */
export type Warn = (sentence: string) => void;

/**
 * Changes an inbox under its lock: the raw entries as they are now, also those that we do not understand, and what they
 * become; undefined means no change. A file that is broken, and not just being written, is repaired on the way: its whole
 * entries are kept, and the original beside it.
 */
export function changeInbox(
  ref: TeamRef,
  agent: string,
  change: (entries: readonly unknown[]) => readonly unknown[] | undefined,
  warn?: Warn,
): Promise<void> {
  const path = ref.paths.inbox(agent);
  return lockInTeam(ref, path, (held) => {
    const { entries, broken } = load(path);
    if (broken !== undefined && broken.trim() !== "") keepOriginal(path, broken, entries.length, warn);
    const next = change(entries) ?? (broken === undefined ? undefined : entries);
    if (next === undefined) return;
    replaceFile(path, formatJson(next), { beforeRename: () => held.assertOwned() });
  });
}

/** The entries without a lock, or undefined when the file is broken or being written at this moment. */
export function readInbox(ref: TeamRef, agent: string): unknown[] | undefined {
  const text = readText(ref.paths.inbox(agent));
  return text === undefined ? [] : parseEntries(text);
}

/** The entries as far as they can be read right now; for whoever only looks, and repairs nothing. */
export function peekInbox(ref: TeamRef, agent: string): InboxMessage[] {
  const text = readText(ref.paths.inbox(agent)) ?? "";
  return (parseEntries(text) ?? salvageEntries(text)).flatMap((entry) => readEntry(entry) ?? []);
}

/** Takes entries that nobody can read out of the array, so that they are warned of once and block nothing. */
export function setAsideBad(ref: TeamRef, agent: string, warn?: Warn): Promise<void> {
  const aside = ref.paths.inbox(agent).replace(/\.json$/, ".bad.jsonl");
  return changeInbox(ref, agent, (entries) => {
    const bad = entries.filter((entry) => readEntry(entry) === undefined);
    if (bad.length === 0) return undefined;
    appendJsonLines(
      aside,
      bad.map((entry) => ({ at: systemClock.now(), entry })),
      { sync: true },
    );
    warn?.(`${bad.length} of the entries in ${agent}'s inbox cannot be read; set aside in ${aside}.`);
    return entries.filter((entry) => !bad.includes(entry));
  });
}

/**
 * Empties an inbox for a new holder of its name: what the former one never read is journalled as bounced, what it read as
 * delivered where the journal lacks it.
 */
export async function resetInbox(ref: TeamRef, agent: string): Promise<void> {
  if (fileSize(ref.paths.inbox(agent)) === undefined) return;
  await changeInbox(ref, agent, (entries) => {
    if (entries.length === 0) return undefined;
    journalEntries(ref, agent, entries);
    return [];
  });
}

/** Removes an inbox together with its lock's last trace; what was in it is in the journal. */
export async function dropInbox(ref: TeamRef, agent: string): Promise<void> {
  const path = ref.paths.inbox(agent);
  if (fileSize(path) === undefined) return;
  await lockInTeam(ref, path, (held) => {
    journalEntries(ref, agent, load(path).entries);
    held.assertOwned();
    removeFile(path);
  });
}

function journalEntries(ref: TeamRef, agent: string, entries: readonly unknown[]): void {
  const isJournalled = recentJournal(ref);
  const at = systemClock.now();
  const lines = entries.flatMap((entry): JournalLine[] => {
    const message = readEntry(entry);
    if (message === undefined) return [];
    const id = messageKey(message);
    if (message.read && isJournalled(id)) return [];
    return [{ at, id, to: agent, state: message.read ? "delivered" : "bounced", message }];
  });
  appendJournal(ref, lines, { sync: true });
}

interface Loaded {
  readonly entries: unknown[];
  /** The text, when it is no array even at the second look. */
  readonly broken?: string;
}

function load(path: string): Loaded {
  const first = readText(path);
  const entries = first === undefined ? [] : parseEntries(first);
  if (entries !== undefined) return { entries };
  // A writer that keeps no lock may be in the middle.
  pauseSync(SECOND_LOOK_MS);
  const second = readText(path) ?? "[]";
  const whole = parseEntries(second);
  return whole === undefined ? { entries: salvageEntries(second), broken: second } : { entries: whole };
}

function keepOriginal(path: string, text: string, saved: number, warn: Warn | undefined): void {
  const original = `${path}.broken-${systemClock.now()}`;
  createWhole(original, text);
  warn?.(`${path} was broken; ${saved} whole entries were kept, and the original as ${original}.`);
}
