import { systemClock } from "../../os/clock.ts";
import { fileSize, readText, removeFile } from "../../os/files/fs.ts";
import type { JournalLine } from "../../schema/inbox.ts";
import type { Held } from "../../store/lock.ts";
import { copyAside } from "../../store/quarantine.ts";
import { updateTeamFile } from "../config/team-lock.ts";
import type { TeamRef } from "../ref.ts";
import { changeInbox, loadInbox, timed } from "./inbox-file.ts";
import { messageKey, readEntry } from "./inbox-format.ts";
import { appendJournal, journalled } from "./journal.ts";
import { keepBadEntries } from "./original-copies.ts";

/**
 * Empties an inbox for a new member of the same name. Unread messages are journalled as bounced, read ones as delivered if
 * the journal lacks that. A copy of a broken file is kept, unreadable entries are quarantined.
 * @returns whether something in it could not be read
 */
export async function resetInbox(ref: TeamRef, agent: string): Promise<boolean> {
  if (fileSize(ref.paths.inbox(agent)) === undefined) return false;
  const kept = new Set<string>();
  let wasBroken = false;
  const warn = (): void => {
    wasBroken = true;
  };
  const change = (entries: readonly unknown[]): readonly unknown[] | undefined => {
    if (entries.length === 0) return undefined;
    journalEntries(ref, agent, entries, kept);
    return [];
  };
  await changeInbox(ref, agent, change, { warn });
  return wasBroken || kept.size > 0;
}

/**
 * Removes an inbox and its lock. Its messages are in the journal; a copy of a broken file is kept, unreadable entries are quarantined.
 * @returns whether something in it could not be read
 */
export async function dropInbox(ref: TeamRef, agent: string): Promise<boolean> {
  const path = ref.paths.inbox(agent);
  if (fileSize(path) === undefined) return false;
  const kept = new Set<string>();
  let wasBroken = false;
  const whileLocked = (held: Held): void => {
    const { entries, broken } = loadInbox(ref, agent, readText(path), true);
    if (broken !== undefined && broken.trim() !== "") {
      copyAside(path);
      wasBroken = true;
    }
    journalEntries(ref, agent, entries, kept);
    held.assertOwned();
    removeFile(path);
  };
  await updateTeamFile(ref, path, { whileLocked });
  return wasBroken || kept.size > 0;
}

/** @param kept the unreadable entries as JSON; extended by this call */
function journalEntries(ref: TeamRef, agent: string, raw: readonly unknown[], kept: Set<string>): void {
  const entries = timed(ref, agent, raw);
  const messages = entries.flatMap((entry) => readEntry(entry) ?? []);
  const bad = entries.filter((entry) => readEntry(entry) === undefined);
  keepBadEntries(ref, agent, bad, kept);
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
