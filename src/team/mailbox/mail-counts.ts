import type { InboxMessage } from "../../schema/inbox.ts";
import type { StatusRecord } from "../../schema/status.ts";
import { livenessOfAgent } from "../records/read-records.ts";
import type { TeamRef } from "../ref.ts";

/** Unfinished messages to an agent, by state. */
export interface MailCounts {
  /** Unread. */
  readonly queued: number;
  /** In the conversation of an agent whose process died during their turn; the next start continues with them. */
  readonly delivered: number;
  /** In the turn that is running. */
  readonly inTurn: number;
}

/**
 * Counts an agent's unread messages and those in its turn, from its inbox and its status, so the cost does not grow
 * with the history. A message that is being picked up may be counted twice, but is never missed.
 * @param status read after the inbox
 */
export function mailCounts(
  ref: TeamRef,
  agent: string,
  status: StatusRecord | undefined,
  inbox: readonly InboxMessage[],
): MailCounts {
  const queued = inbox.filter(({ read }) => !read).length;
  const taken = status?.inTurn ?? 0;
  const isCutOff = taken > 0 && livenessOfAgent(ref, agent, status) === "dead";
  return { queued, delivered: isCutOff ? taken : 0, inTurn: isCutOff ? 0 : taken };
}
