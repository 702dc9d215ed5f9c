import { pauseSync, systemClock } from "../../os/clock.ts";
import { fileSize, readText, removeFile } from "../../os/files/fs.ts";
import type { InboxMessage, JournalLine } from "../../schema/inbox.ts";
import { formatJson } from "../../store/format-json.ts";
import { REREAD_MS } from "../../store/json-file.ts";
import { appendJsonLines } from "../../store/jsonl.ts";
import { copyAside } from "../../store/quarantine.ts";
import type { Change } from "../../store/update-file.ts";
import { changeInTeam, lockInTeam } from "../config/team-lock.ts";
import { readCached, type TeamRef } from "../ref.ts";
import { messageKey, parseEntries, readEntry, recoverEntries } from "./inbox-format.ts";
import { restoreFromJournal } from "./inbox-recovery.ts";
import { appendJournal, journalled } from "./journal.ts";

/** Hears in one sentence of what was repaired or set aside. */
export type Warn = (sentence: string) => void;

interface ChangeOptions {
  readonly warn?: Warn | undefined;
  /** Called once the new entries are in the file, before anybody else has the lock. */
  readonly written?: () => void;
}

/**
 * Changes an inbox under its lock: the raw entries as they are now, also those that we do not understand, and what they
 * become; undefined means no change. A file that is broken, and not just being written, is repaired on the way: its whole
 * entries are kept, with what the journal holds of the others, and the original beside it.
 * @param change runs again when the lock was lost, so it has no effect that must not happen twice
 */
export function changeInbox(
  ref: TeamRef,
  agent: string,
  change: (entries: readonly unknown[]) => readonly unknown[] | undefined,
  { warn, written }: ChangeOptions = {},
): Promise<void> {
  const path = ref.paths.inbox(agent);
  return changeInTeam(ref, path, (text, isLocked) => {
    const { entries, broken } = load(ref, agent, text, isLocked);
    if (broken !== undefined && (broken.trim() !== "" || entries.length > 0)) {
      keepOriginal(path, entries.length, warn);
    }
    const plan = (all: readonly unknown[], isRepaired: boolean): Change<undefined> => {
      const next = change(all) ?? (isRepaired ? all : undefined);
      return { value: undefined, content: next && formatJson(next), written };
    };
    try {
      return plan(entries, broken !== undefined);
    } catch (error) {
      // An entry that is nested deeper than the engine can write: it stays in the original only.
      if (!isLocked || !(error instanceof RangeError)) throw error;
      const writable = entries.filter((entry) => isShallow(entry, MOST_DEPTH));
      keepOriginal(path, writable.length, warn);
      return plan(writable, true);
    }
  });
}

/** Levels of arrays and objects: no peer writes a tenth of it, and the engine's stack holds some thousands. */
const MOST_DEPTH = 500;

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1));
}

/** The entries without a lock, or undefined when the file is broken or being written at this moment. */
export function readInbox(ref: TeamRef, agent: string): unknown[] | undefined {
  const text = readText(ref.paths.inbox(agent));
  return text === undefined ? [] : parseEntries(text);
}

/** Whether an inbox cannot be read as it is, also at a second look: whoever writes to it next repairs it. */
export function isInboxBroken(ref: TeamRef, agent: string): boolean {
  if (readInbox(ref, agent) !== undefined) return false;
  // A writer that keeps no lock may be in the middle.
  pauseSync(REREAD_MS);
  return readInbox(ref, agent) === undefined;
}

/** The entries as a repair would leave them right now; for whoever only looks, and repairs nothing. */
export function peekInbox(ref: TeamRef, agent: string): InboxMessage[] {
  const path = ref.paths.inbox(agent);
  const messages = readCached(ref, path, () =>
    readInbox(ref, agent)?.flatMap((entry) => readEntry(entry) ?? []),
  );
  if (messages !== undefined) return messages;
  const text = readText(path);
  if (text === undefined) return [];
  const entries = parseEntries(text) ?? restoreFromJournal(ref, agent, recoverEntries(text));
  return entries.flatMap((entry) => readEntry(entry) ?? []);
}

/** Takes entries that nobody can read out of the array, so that they are warned of once and block nothing. */
export function setAsideBad(ref: TeamRef, agent: string, warn?: Warn): Promise<void> {
  const aside = ref.paths.inbox(agent).replace(/\.json$/, ".bad.jsonl");
  return changeInbox(
    ref,
    agent,
    (entries) => {
      const bad = entries.filter((entry) => readEntry(entry) === undefined);
      if (bad.length === 0) return undefined;
      appendJsonLines(
        aside,
        bad.map((entry) => ({ at: systemClock.now(), entry })),
        { sync: true },
      );
      warn?.(`${bad.length} of the entries in ${agent}'s inbox cannot be read; set aside in ${aside}.`);
      return entries.filter((entry) => !bad.includes(entry));
    },
    { warn },
  );
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

/** Removes an inbox together with its lock's last trace; what was in it is in the journal, and a broken one kept beside. */
export async function dropInbox(ref: TeamRef, agent: string): Promise<void> {
  const path = ref.paths.inbox(agent);
  if (fileSize(path) === undefined) return;
  await lockInTeam(ref, path, (held) => {
    const { entries, broken } = load(ref, agent, readText(path), true);
    if (broken !== undefined && broken.trim() !== "") copyAside(path);
    journalEntries(ref, agent, entries);
    held.assertOwned();
    removeFile(path);
  });
}

function journalEntries(ref: TeamRef, agent: string, entries: readonly unknown[]): void {
  const messages = entries.flatMap((entry) => readEntry(entry) ?? []);
  const consumed = messages.filter(({ read }) => read);
  const known = journalled(ref, agent, consumed.map(messageKey));
  const at = systemClock.now();
  const lines = messages.flatMap((message): JournalLine[] => {
    const id = messageKey(message);
    if (message.read && known.has(id)) return [];
    return [{ at, id, to: agent, state: message.read ? "delivered" : "bounced", message }];
  });
  appendJournal(ref, lines, { sync: true });
}

interface Loaded {
  readonly entries: unknown[];
  /** The text, when it is no array even at the second look. */
  readonly broken?: string;
}

function load(ref: TeamRef, agent: string, first: string | undefined, isLocked: boolean): Loaded {
  const path = ref.paths.inbox(agent);
  const entries = first === undefined ? [] : parseEntries(first);
  if (entries !== undefined) return { entries };
  // A writer that keeps the lock may be in the middle: it is looked at again under that lock.
  if (!isLocked) throw new Error(`${path} is not an array right now.`);
  // A writer that keeps no lock may be in the middle.
  pauseSync(REREAD_MS);
  const second = readText(path) ?? "[]";
  const whole = parseEntries(second);
  if (whole !== undefined) return { entries: whole };
  return { entries: restoreFromJournal(ref, agent, recoverEntries(second)), broken: second };
}

/** Byte for byte, since what was cut may be no text. */
function keepOriginal(path: string, saved: number, warn: Warn | undefined): void {
  const original = copyAside(path);
  const kept = saved === 1 ? "1 message was" : `${saved} messages were`;
  warn?.(
    `${path} was broken: ${kept} saved from it and from the journal, and the original kept as ${original}.`,
  );
}

/**
 * Consumed messages that stay in the array, for people and old peers to see; the rest is in the journal (protocol.md
 * section 3). Bounded in number and in characters, so that a delivery costs the same after any history.
 */
const TAIL = { messages: 20, characters: 32 * 1024 };
/** They leave together once there are this many times as many: the journal is put on the disk before, once for all of them. */
const SLACK = 2;

/**
 * Where in the array the consumed messages stand that leave it: all but the newest that fit into the {@link TAIL}.
 * @param messages the array's; undefined for entries that nobody can read
 */
export function consumedBeyondTail(messages: readonly (InboxMessage | undefined)[]): ReadonlySet<number> {
  const dropped = new Set<number>();
  let count = 0;
  let characters = 0;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at];
    if (message?.read !== true) continue;
    count += 1;
    characters += message.text.length;
    if (count > TAIL.messages || characters > TAIL.characters) dropped.add(at);
  }
  const isDue = count > TAIL.messages * SLACK || characters > TAIL.characters * SLACK;
  return isDue ? dropped : new Set();
}
