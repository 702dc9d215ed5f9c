import { peekInbox } from "../../../src/team/inbox/inbox-file.ts";
import { type MailCounts, mailCounts } from "../../../src/team/mailbox/mail-counts.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";

/** Reads an agent's files and counts its messages. */
export function readMailCounts(ref: TeamRef, agent: string): MailCounts {
  const inbox = peekInbox(ref, agent);
  return mailCounts(ref, agent, readStatus(ref, agent), inbox);
}
