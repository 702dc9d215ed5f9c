import type { InboxMessage } from "../../schema/inbox.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../config/config.ts";
import { readPlace, readStatus } from "../records/read-records.ts";
import type { TeamRef } from "../ref.ts";
import { entryKey, messageKey } from "./inbox-format.ts";
import { readJournal } from "./journal.ts";

/**
 * True if the journal records every message that this member consumes. Our agents have run records; a lead without them
 * is a person at a command line, if the team is ours. A CLI that reads its inbox itself keeps no journal.
 */
export function isJournalled(ref: TeamRef, agent: string): boolean {
  const status = readStatus(ref, agent);
  if (status?.ownInbox === true) return false;
  if (status !== undefined || readPlace(ref, agent) !== undefined) return true;
  return agent === LEAD_NAME && readTeam(ref).schemaVersion !== undefined;
}

/**
 * Returns the entries recovered from a broken inbox, with lost unread messages restored from the journal in their old
 * positions. Adds nothing for a member of another program: the journal does not show what that member has read.
 */
export function restoreFromJournal(ref: TeamRef, agent: string, saved: readonly unknown[]): unknown[] {
  if (!isJournalled(ref, agent)) return [...saved];
  const known = readJournal(ref, agent);
  const positions = new Map([...known.keys()].map((id, at) => [id, at]));
  const keys = saved.map(entryKey);
  const present = new Set(keys);
  const lost = [...known.values()].flatMap(({ id, state, message }): InboxMessage[] =>
    state === "queued" && message !== undefined && !present.has(id) ? [{ ...message, read: false }] : [],
  );
  const all: unknown[] = [];
  let next = 0;
  const isNextBefore = (position: number): boolean => {
    const message = lost[next];
    return message !== undefined && (positions.get(messageKey(message)) ?? 0) < position;
  };
  for (const [at, entry] of saved.entries()) {
    const position = positions.get(keys[at] ?? "") ?? -1;
    for (; isNextBefore(position); next += 1) all.push(lost[next]);
    all.push(entry);
  }
  return [...all, ...lost.slice(next)];
}
