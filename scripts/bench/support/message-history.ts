import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { systemClock } from "../../../src/os/clock.ts";
import { formatJson } from "../../../src/os/files/atomic-write.ts";
import { ownIdentity } from "../../../src/os/process/identity.ts";
import { appendJournal } from "../../../src/team/inbox/journal.ts";
import { markAsRead, unreadMessages } from "../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { prepareRun } from "../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { createStatusKeeper } from "../../../src/worker/status-record.ts";
import { aMessage } from "./usual-approach.ts";

/** Number of messages whose lines are appended together. */
const CHUNK = 1_000;
/**
 * After this many messages an inbox contains its short tail of read messages, and a team still counts as new.
 */
export const NEW_TEAM = 100;

/**
 * Registers `bob` as an agent of teams: only such an agent removes read messages from its inbox, an agent of
 * another program never does.
 */
export async function registerRecipient(ref: TeamRef): Promise<void> {
  await prepareRun(ref, ["bob"]);
  const { bell } = ref.paths.agent("bob");
  createStatusKeeper(
    ref,
    "bob",
    { sessionId: "bob", transcript: "", process: ownIdentity(), bell },
    undefined,
    systemClock,
  );
}

/**
 * Writes the records of this many messages to `bob`: each was queued, delivered, handled in a turn, and
 * removed from the inbox by its recipient, except for the short tail.
 */
export async function writeHistory(ref: TeamRef, messages: number): Promise<void> {
  for (let begin = 0; begin < messages; begin += CHUNK) {
    const chunk = Array.from({ length: Math.min(CHUNK, messages - begin) }, () => aMessage(randomUUID()));
    const lines = chunk.flatMap((message) => {
      const about = { at: Date.now(), id: message.msg_id ?? "", to: "bob" };
      return [
        { ...about, state: "queued" as const, message },
        { ...about, state: "delivered" as const },
        { ...about, state: "turn_started" as const },
        { ...about, state: "done" as const },
      ];
    });
    appendJournal(ref, lines, { secrets: [] });
    const inbox = ref.paths.inbox("bob");
    const before = existsSync(inbox) ? (JSON.parse(readFileSync(inbox, "utf8")) as unknown[]) : [];
    const consumed = chunk.map((message) => ({ ...message, read: true }));
    writeFileSync(inbox, formatJson([...before, ...consumed]), { mode: 0o600 });
    await sendOne(ref);
    await markAll(ref);
  }
}

/** Sends one message from `ada` to `bob`. */
export async function sendOne(ref: TeamRef): Promise<void> {
  await sendMessage(ref, { from: "ada", to: "bob", text: aMessage("").text });
}

/** Marks the unread messages of `bob` as read, as the recipient does. */
export async function markAll(ref: TeamRef): Promise<void> {
  const entries = await unreadMessages(ref, "bob");
  await markAsRead(
    ref,
    "bob",
    entries.map(({ key }) => key),
  );
}
