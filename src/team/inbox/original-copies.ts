import { basename } from "node:path";
import { fileAccessError, isSystemError } from "../../errors.ts";
import { systemClock } from "../../os/clock.ts";
import { entryOf, listDir, readText, removeFile } from "../../os/files/fs.ts";
import { appendJsonLines } from "../../store/jsonl.ts";
import { copiesOf } from "../../store/quarantine.ts";
import type { TeamRef } from "../ref.ts";
import { entryKey, readEntry, recover, withTime } from "./inbox-format.ts";
import { readJournal } from "./journal.ts";

/** The number of copies of a broken inbox that are always kept: the newest. */
const MAX_COPIES = 20;

/** Returns the list of an inbox's unreadable entries. */
function badEntriesPath(ref: TeamRef, agent: string): string {
  return ref.paths.inbox(agent).replace(/\.json$/, ".bad.jsonl");
}

/** Returns whether unreadable entries were moved out of an agent's inbox, and their list still exists. */
export function hasBadEntries(ref: TeamRef, agent: string): boolean {
  return entryOf(badEntriesPath(ref, agent)) !== undefined;
}

interface Notice {
  readonly text: string;
  readonly remedy: string;
}

/** Names the unreadable entries that were moved out of these agents' inboxes, one notice for each list that still exists. */
export function badEntriesNotices(ref: TeamRef, agents: readonly string[]): Notice[] {
  const present = new Set(listDir(ref.paths.inboxes));
  return agents.flatMap((agent) => {
    const path = badEntriesPath(ref, agent);
    if (!present.has(basename(path))) return [];
    const text = `Entries of ${agent}'s inbox are not messages, and were moved to ${path}.`;
    return [{ text, remedy: `Send again what ${agent} needs, then remove that file.` }];
  });
}

/**
 * Appends unreadable entries to the list next to an inbox, synced to disk.
 * @param kept the entries that the same change has already appended, as JSON: it may run again. Extended by this call
 * @returns the path of the list
 * @throws TeamError PERMISSION_DENIED
 */
export function keepBadEntries(
  ref: TeamRef,
  agent: string,
  bad: readonly unknown[],
  kept: Set<string> = new Set(),
): string {
  const path = badEntriesPath(ref, agent);
  const at = systemClock.now();
  const fresh = bad.filter((entry) => !kept.has(JSON.stringify(entry)));
  if (fresh.length === 0) return path;
  try {
    appendJsonLines(
      path,
      fresh.map((entry) => ({ at, entry })),
      { sync: true },
    );
  } catch (error) {
    throw isSystemError(error) ? fileAccessError(path, "written", error) : error;
  }
  for (const entry of fresh) kept.add(JSON.stringify(entry));
  return path;
}

/**
 * Removes old copies of a broken inbox, which a careless program can break again and again. A copy is removed only if all its
 * messages are in the journal or the inbox; its damaged text is first added to the unreadable entries. Call it under the
 * inbox's lock.
 * @param entries the entries that stay in the inbox
 */
export function dropSettledCopies(ref: TeamRef, agent: string, entries: readonly unknown[]): void {
  const old = copiesOf(ref.paths.inbox(agent)).slice(0, -MAX_COPIES);
  if (old.length === 0) return;
  const journal = [...readJournal(ref, agent).values()];
  const known = new Set([
    ...journal.map(({ id }) => id),
    ...entries.map(entryKey),
    ...[...journal.map(({ message }) => message), ...entries].map(contentOf),
  ]);
  // An unreadable entry has no key: it may be in its copy only.
  known.delete(undefined);
  // A message without a time has another one in its copy than in the inbox.
  const isKnown = (entry: unknown): boolean => known.has(entryKey(entry) ?? contentOf(entry));
  for (const copy of old) {
    const { entries: saved, damage } = recover(readText(copy) ?? "");
    if (!saved.every(isKnown)) continue;
    keepBadEntries(ref, agent, damage);
    removeFile(copy);
  }
}

/** Identifies a message by its sender and text, whatever its time; undefined for an unreadable entry. */
function contentOf(entry: unknown): string | undefined {
  const message = readEntry(withTime(entry, () => ""));
  return message && JSON.stringify([message.from, message.text]);
}
