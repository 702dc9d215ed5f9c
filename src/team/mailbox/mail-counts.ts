import { peekInbox } from "../inbox/inbox-file.ts";
import { livenessOfAgent, readStatus } from "../records/read-records.ts";
import type { TeamRef } from "../ref.ts";

/** Where the messages to an agent are that are not done. */
export interface MailCounts {
  /** Not picked up yet. */
  readonly queued: number;
  /** In the conversation of an agent whose process died before their turn was over: the next start goes on with them. */
  readonly delivered: number;
  /** In the turn that runs now. */
  readonly inTurn: number;
}

/**
 * Counts what waits for an agent and what it works on, from its inbox and its status: the same cost after any history. A
 * message that is just being picked up may be counted in both, never in none.
 */
export function mailCounts(ref: TeamRef, agent: string, status = readStatus(ref, agent)): MailCounts {
  const queued = peekInbox(ref, agent).filter(({ read }) => !read).length;
  const taken = status?.inTurn ?? 0;
  const isCutOff = taken > 0 && livenessOfAgent(ref, agent, status) === "dead";
  return { queued, delivered: isCutOff ? taken : 0, inTurn: isCutOff ? 0 : taken };
}
