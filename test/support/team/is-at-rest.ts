import { unreadCount } from "../../../src/team/mailbox/receive.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";

/**
 * Whether a member has read its messages and is idle: just after its start it is idle, too, and its first turn has yet to begin.
 * The inbox first: a message that one of our agents reads between the two looks has begun a turn, which the status shows.
 * Not for a lead with a working teammate: it keeps the idle notices of the others unread meanwhile.
 */
export function isAtRest(ref: TeamRef, name: string): boolean {
  return unreadCount(ref, name) === 0 && readStatus(ref, name)?.state === "idle";
}
