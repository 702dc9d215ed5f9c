import { unreadCount } from "../../../src/team/mailbox/receive.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";

/**
 * Returns whether a member is idle and has read its messages: idle alone is also true between its start and its first turn.
 * Reads the inbox first: if an agent of teams reads a message between the two reads, its status already shows the turn.
 * Not for a lead with a working teammate: it leaves the idle notices of the others unread meanwhile.
 */
export function isAtRest(ref: TeamRef, name: string): boolean {
  return unreadCount(ref, name) === 0 && readStatus(ref, name)?.state === "idle";
}
