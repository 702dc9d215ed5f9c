import { basename } from "node:path";
import { fileAccessError, isSystemError } from "../../errors.ts";
import { systemClock } from "../../os/clock.ts";
import { listDir, readText, removeFile } from "../../os/files/fs.ts";
import { appendJsonLines } from "../../store/jsonl.ts";
import { copiesOf } from "../../store/quarantine.ts";
import type { TeamRef } from "../ref.ts";
import { messageKey, readEntry, recover } from "./inbox-format.ts";
import { readJournal } from "./journal.ts";

/** Copies of a broken inbox that are always kept, the newest ones. */
const MAX_COPIES = 20;

/** Returns the list of an inbox's unreadable entries. */
function badEntriesPath(ref: TeamRef, agent: string): string {
  return ref.paths.inbox(agent).replace(/\.json$/, ".bad.jsonl");
}

/** Names the unreadable entries that were moved out of these agents' inboxes, one sentence for each list that is still there. */
export function badEntriesNotices(ref: TeamRef, agents: readonly string[]): string[] {
  const present = new Set(listDir(ref.paths.inboxes));
  return agents.flatMap((agent) => {
    const path = badEntriesPath(ref, agent);
    if (!present.has(basename(path))) return [];
    return [
      `Entries of ${agent}'s inbox are no messages, and were moved to ${path}. Send again what ${agent} needs, then remove that file.`,
    ];
  });
}

/**
 * Appends unreadable entries to the list next to an inbox, synced to disk.
 * @returns the path of the list
 * @throws TeamError PERMISSION_DENIED
 */
export function keepBadEntries(ref: TeamRef, agent: string, bad: readonly unknown[]): string {
  const path = badEntriesPath(ref, agent);
  const at = systemClock.now();
  try {
    appendJsonLines(
      path,
      bad.map((entry) => ({ at, entry })),
      { sync: true },
    );
  } catch (error) {
    throw isSystemError(error) ? fileAccessError(path, "written", error) : error;
  }
  return path;
}

/**
 * Removes old copies of a broken inbox, which a careless program can break again and again. A copy is removed only if all its
 * messages are in the journal or the inbox; its damaged text is added to the unreadable entries before. Call it under the
 * inbox's lock.
 * @param entries the entries that stay in the inbox
 */
export function dropSettledCopies(ref: TeamRef, agent: string, entries: readonly unknown[]): void {
  const old = copiesOf(ref.paths.inbox(agent)).slice(0, -MAX_COPIES);
  if (old.length === 0) return;
  const known = new Set([...readJournal(ref, agent).keys(), ...entries.map(keyOf)]);
  // An unreadable entry has no key: it may be in its copy only.
  known.delete(undefined);
  for (const copy of old) {
    const { entries: saved, damage } = recover(readText(copy) ?? "");
    if (!saved.every((entry) => known.has(keyOf(entry)))) continue;
    keepBadEntries(ref, agent, damage);
    removeFile(copy);
  }
}

function keyOf(entry: unknown): string | undefined {
  const message = readEntry(entry);
  return message && messageKey(message);
}
