import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { formatJson } from "../../../../src/os/files/atomic-write.ts";
import { appendJournal } from "../../../../src/team/inbox/journal.ts";
import { history } from "../../../../src/team/mailbox/history.ts";
import { markAsRead, recordProgress, unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { countBytes, type FileTraffic } from "../../../support/files/count-file-bytes.ts";
import { readMailCounts } from "../../../support/team/mail-counts.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";

/** More messages than stay in the array, so that the steady state is measured. */
const WARM_UP = 45;

/** Creates a team whose member has read and answered this many messages. */
async function withPast(messages: number): Promise<TeamRef> {
  const ref = await testTeam(["a"]);
  writeStatus(ref, "a", statusOf());
  for (let at = 0; at < messages; at += 1_000) {
    appendJournal(
      ref,
      Array.from({ length: 1_000 }, (_, i) => {
        const message = {
          from: "team-lead",
          text: "done long ago",
          timestamp: new Date(at + i).toISOString(),
        };
        return {
          at: at + i,
          id: `old-${at + i}`,
          to: "a",
          state: "done",
          message: { ...message, read: true },
        };
      }),
    );
  }
  if (messages > 0) for (let i = 0; i < WARM_UP; i += 1) await processOne(ref);
  return ref;
}

const say = (ref: TeamRef) =>
  sendMessage(ref, { from: "team-lead", to: "a", text: "a text of a usual length" });

async function processOne(ref: TeamRef): Promise<void> {
  const { messageId } = await say(ref);
  await markAsRead(ref, "a", [messageId]);
  await recordProgress(ref, "a", [messageId], "turn_started");
  await recordProgress(ref, "a", [messageId], "done");
}

type Costs = Record<"deliver" | "pending" | "acknowledge" | "progress" | "history" | "counts", FileTraffic>;

async function costs(ref: TeamRef): Promise<Costs> {
  const deliverCost = await countBytes(() => say(ref));
  const keys = (await unreadMessages(ref, "a")).map(({ key }) => key);
  const pendingCost = await countBytes(() => unreadMessages(ref, "a"));
  const acknowledgeCost = await countBytes(() => markAsRead(ref, "a", keys));
  const progress = await countBytes(() => recordProgress(ref, "a", keys, "turn_started"));
  return {
    deliver: deliverCost,
    pending: pendingCost,
    acknowledge: acknowledgeCost,
    progress,
    history: await countBytes(() => history(ref, "a")),
    counts: await countBytes(() => readMailCounts(ref, "a")),
  };
}

test("mailbox cost › reading and writing cost the same after 100,000 messages (S23)", async () => {
  const fresh = await costs(await withPast(0));
  const [least, ...more] = await Promise.all([1_000, 10_000, 100_000].map(withPast));
  if (least === undefined) throw new Error("no team");
  const expected = await costs(least);
  for (const ref of more) {
    const found = await costs(ref);
    for (const [name, { read, written }] of Object.entries(found)) {
      const few = expected[name as keyof Costs];
      expect.soft(read, name).toBeLessThanOrEqual(few.read * 1.05);
      expect.soft(written, name).toBeLessThanOrEqual(few.written * 1.05);
    }
  }
  // Compared with a new team: only the tail of the inbox and one block of the journal's end.
  for (const [name, { read, written }] of Object.entries(expected)) {
    const none = fresh[name as keyof Costs];
    expect.soft(read - none.read, name).toBeLessThan(40_000);
    expect.soft(written - none.written, name).toBeLessThan(16_000);
  }
});

test("mailbox cost › with 5,000 unread messages a delivery reads the inbox twice, a receipt once (S23)", async () => {
  const ref = await testTeam(["a"]);
  writeStatus(ref, "a", statusOf());
  const unread = Array.from({ length: 5_000 }, (_, i) => ({
    from: "team-lead",
    text: `message ${i}`,
    timestamp: new Date(i).toISOString(),
    read: false,
    msg_id: `m${i}`,
  }));
  const text = formatJson(unread);
  writeFileSync(ref.paths.inbox("a"), text);
  const size = text.length;
  const sent = await countBytes(() => say(ref));
  expect(sent.read).toBeLessThan(2 * size + 20_000);
  expect(sent.written).toBeLessThan(size + 20_000);
  const received = await countBytes(async () => {
    expect(await unreadMessages(ref, "a")).toHaveLength(5_001);
  });
  expect(received.read).toBeLessThan(size + 20_000);
  expect(received.written).toBe(0);
});
