import { pauseSync, systemClock } from "../../os/clock.ts";
import { formatJson } from "../../os/files/atomic-write.ts";
import { entryOf, readText } from "../../os/files/fs.ts";
import type { InboxMessage, JournalLine } from "../../schema/inbox.ts";
import { REREAD_MS, rereadUntil } from "../../store/json-file.ts";
import { copyAside } from "../../store/quarantine.ts";
import type { EndUpdate, FileUpdate, Offer, Update } from "../../store/update-file.ts";
import { updateTeamFile } from "../config/team-lock.ts";
import { readCached, type TeamRef } from "../ref.ts";
import { appendedTo } from "./inbox-end.ts";
import { isMessage, messageKey, parseEntries, readEntry, recoverEntries, withTime } from "./inbox-format.ts";
import { isJournalled, restoreFromJournal } from "./inbox-recovery.ts";
import { appendJournal, statesOf } from "./journal.ts";
import { dropSettledCopies, keepBadEntries } from "./original-copies.ts";

/** Receives one sentence for each repair or quarantine. */
export type Warn = (sentence: string) => void;

interface ChangeOptions {
  readonly warn?: Warn | undefined;
  /** Called once the new entries are in the file, before another process has the lock; `warn` is called after it. */
  readonly written?: () => void;
  /** Called once another process can change the inbox; the new entries may not be synced yet. */
  readonly visible?: () => void;
  /** Lets another process make the change. */
  readonly offer?: Offer<void>;
  /** Returns the messages that the change appends to a large inbox without reading its entries; undefined if it must read them. */
  readonly append?: (waiting: readonly string[]) => readonly InboxMessage[] | undefined;
}

/** From this size in bytes, a message is appended at the end of a foreign member's inbox: parsing a smaller inbox is cheap. */
const LARGE = 64 * 1024;

/**
 * Changes an inbox under its lock. A broken file (not one in the middle of a write) is repaired first: whole entries are
 * kept, the others restored from the journal, and a copy of the original is kept. A message without a time gets that of the file,
 * which changes with each write.
 * @param change gets the raw entries, including unreadable ones, and returns their replacement; undefined means no change. It may
 *   run more than once, so it has no effect that must not be repeated. It also makes the changes that wait (see `Offer`).
 */
export function changeInbox(
  ref: TeamRef,
  agent: string,
  change: (entries: readonly unknown[], waiting: readonly string[]) => readonly unknown[] | undefined,
  { warn, written, visible, offer, append }: ChangeOptions = {},
): Promise<void> {
  const path = ref.paths.inbox(agent);
  const update: Update<void> = (text, isLocked, waiting) => {
    const repairs: string[] = [];
    const { entries, broken } = loadInbox(ref, agent, text, isLocked);
    if (broken !== undefined && (broken.trim() !== "" || entries.length > 0)) {
      repairs.push(keepOriginal(ref, agent, entries));
    }
    const report = (): void => {
      written?.();
      for (const repair of repairs) warn?.(repair);
    };
    const plan = (all: readonly unknown[], isRepaired: boolean): FileUpdate<void> => {
      const next = change(all, waiting) ?? (isRepaired ? all : undefined);
      return { value: undefined, content: next && formatJson(timed(ref, agent, next)), written: report };
    };
    try {
      return plan(entries, broken !== undefined);
    } catch (error) {
      // An entry is nested deeper than the engine can write. It stays in the original only.
      if (!isLocked || !(error instanceof RangeError)) throw error;
      const writable = entries.filter((entry) => isShallow(entry, MAX_DEPTH));
      repairs.push(keepOriginal(ref, agent, writable));
      return plan(writable, true);
    }
  };
  const atEnd: EndUpdate<void> | undefined = append && {
    from: LARGE,
    // The sender removes read messages of our members, so it reads them all.
    applies: () => !isJournalled(ref, agent),
    update: (end, waiting) => {
      const messages = append(waiting);
      const content = messages && appendedTo(end, messages);
      return content && { value: undefined, content, written };
    },
  };
  return updateTeamFile(ref, path, update, { visible, offer, atEnd });
}

/** Nested arrays and objects in an entry. No peer writes a tenth of it; the engine's stack allows a few thousand. */
const MAX_DEPTH = 500;

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1));
}

/** Returns the entries, without a lock; undefined if the file is broken or in the middle of a write. */
export function readInbox(ref: TeamRef, agent: string): unknown[] | undefined {
  const text = readText(ref.paths.inbox(agent));
  return text === undefined ? [] : parseEntries(text);
}

/** Like {@link readInbox}, but waits for a writer in the middle of a write, even without a lock. */
function readWhole(ref: TeamRef, agent: string): unknown[] | undefined {
  return rereadUntil(
    ref.paths.inbox(agent),
    () => readInbox(ref, agent),
    (entries) => entries !== undefined,
  );
}

/** Returns whether an inbox stays unreadable after a short wait. The next writer repairs it. */
export function isInboxBroken(ref: TeamRef, agent: string): boolean {
  return readWhole(ref, agent) === undefined;
}

/** Returns when an inbox was last changed, ISO. */
function timeOf(ref: TeamRef, agent: string): string {
  return new Date(Number(entryOf(ref.paths.inbox(agent))?.mtimeMs ?? systemClock.now())).toISOString();
}

/** Returns the entries; an entry without a time gets the time of the file. */
export function timed(ref: TeamRef, agent: string, entries: readonly unknown[]): unknown[] {
  return entries.map((entry) => withTime(entry, () => timeOf(ref, agent)));
}

/** Returns the messages as a repair would leave them, without repairing the file. */
export function peekInbox(ref: TeamRef, agent: string): InboxMessage[] {
  const path = ref.paths.inbox(agent);
  const messagesIn = (entries: readonly unknown[]): InboxMessage[] =>
    timed(ref, agent, entries).flatMap((entry) => readEntry(entry) ?? []);
  const messages = readCached(ref, path, () => {
    const entries = readInbox(ref, agent);
    return entries === undefined ? ("broken" as const) : messagesIn(entries);
  });
  if (messages !== "broken") return messages ?? [];
  const text = readText(path);
  if (text === undefined) return [];
  return messagesIn(parseEntries(text) ?? restoreFromJournal(ref, agent, recoverEntries(text)));
}

/**
 * Gives messages without a time the time of the file, and quarantines unreadable entries: they cause one warning and block nothing.
 */
export function settleEntries(ref: TeamRef, agent: string, warn?: Warn): Promise<void> {
  const kept = new Set<string>();
  let report = (): void => undefined;
  return changeInbox(
    ref,
    agent,
    (entries) => {
      if (entries.every((entry) => readEntry(entry) !== undefined)) return undefined;
      const bad = entries.filter((entry) => !isMessage(entry));
      const aside = keepBadEntries(ref, agent, bad, kept);
      const count = bad.length === 1 ? "1 entry" : `${bad.length} entries`;
      const moved = bad.length === 1 ? "it was" : "they were";
      report = () => {
        if (bad.length > 0)
          warn?.(`${count} in ${agent}'s inbox cannot be read; ${moved} moved to ${aside}.`);
      };
      return entries.filter(isMessage);
    },
    { warn, written: () => report() },
  );
}

interface Loaded {
  readonly entries: unknown[];
  /** The text, if it is not an array at the second attempt either. */
  readonly broken?: string;
}

export function loadInbox(ref: TeamRef, agent: string, first: string | undefined, isLocked: boolean): Loaded {
  const path = ref.paths.inbox(agent);
  const entries = first === undefined ? [] : parseEntries(first);
  if (entries !== undefined) return { entries };
  if (!isLocked) {
    // A writer may be in the middle of a write. Waits for it here, since other programs wait only briefly for the shared lock.
    readWhole(ref, agent);
    // Makes the caller retry under the shared lock.
    throw new Error(`${path} was not an array a moment ago.`);
  }
  // A writer without a lock may have begun meanwhile.
  pauseSync(REREAD_MS);
  const whole = readInbox(ref, agent);
  if (whole !== undefined) return { entries: whole };
  const broken = readText(path) ?? "[]";
  return { entries: restoreFromJournal(ref, agent, recoverEntries(broken)), broken };
}

/** Keeps a copy of the file, byte for byte, since a truncated one may not be text. @returns a sentence that reports the repair */
function keepOriginal(ref: TeamRef, agent: string, saved: readonly unknown[]): string {
  const path = ref.paths.inbox(agent);
  const original = copyAside(path);
  dropSettledCopies(ref, agent, saved);
  const kept = saved.length === 1 ? "1 message was" : `${saved.length} messages were`;
  return `${path} was broken: ${kept} recovered from it and from the journal; the original is ${original}.`;
}

/**
 * Read messages that stay in the array, for users and old peers; the others are in the journal (protocol.md section 3).
 * Limited in number and in characters, so that a delivery costs the same after any history.
 */
const TAIL = { messages: 20, characters: 32 * 1024 };
/** Read messages leave together at this many times the {@link TAIL}: the journal is synced before, once for all of them. */
const SLACK = 2;

/**
 * Returns the indexes of the read messages that leave the array: all but the newest that fit into the {@link TAIL}.
 * @param messages those of the array; undefined for unreadable entries
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

/**
 * Returns the entries without the read ones that leave the array, for a writer that does not read the messages. Another
 * program, or an older version, may have left any number of them. The journal has them first, synced to disk. Nothing
 * leaves the inbox of another program's member, which may rely on the order of its entries.
 */
export function withoutConsumed(
  ref: TeamRef,
  agent: string,
  entries: readonly unknown[],
): readonly unknown[] {
  // Most inboxes have few read entries. Checking each entry is worth the cost only in the others.
  const consumed = entries.reduce<number>((sum, entry) => sum + (isMarkedRead(entry) ? 1 : 0), 0);
  if (consumed <= TAIL.messages * SLACK || !isJournalled(ref, agent)) return entries;
  const messages = entries.map(readEntry);
  const dropped = consumedBeyondTail(messages);
  const gone = messages.filter((message, at) => message !== undefined && dropped.has(at)) as InboxMessage[];
  const states = statesOf(ref, agent, gone.map(messageKey));
  const at = systemClock.now();
  const lines = gone.flatMap((message): JournalLine[] => {
    const id = messageKey(message);
    const state = states.get(id);
    if (state !== undefined && state !== "queued") return [];
    return [{ at, id, to: agent, state: "delivered", ...(state === undefined && { message }) }];
  });
  appendJournal(ref, lines, { sync: true });
  return entries.filter((_, index) => !dropped.has(index));
}

function isMarkedRead(entry: unknown): boolean {
  return (entry as InboxMessage | null)?.read === true;
}
