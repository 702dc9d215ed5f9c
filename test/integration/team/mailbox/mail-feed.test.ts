import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { appendJournal } from "../../../../src/team/inbox/journal.ts";
import { type MailFeed, openMailFeed } from "../../../../src/team/mailbox/history.ts";
import { markAsRead, recordProgress, unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { countBytes } from "../../../support/files/count-file-bytes.ts";
import { testTeam } from "../../../support/team/test-team.ts";

const send = (ref: TeamRef, text: string, to = "a", from = "team-lead") =>
  sendMessage(ref, { from, to, text });
const textsOf = (feed: MailFeed) => feed.poll().map(({ text }) => text);

test("mail feed › returns each message once, in order, with its state", async () => {
  const ref = await testTeam(["a", "b"]);
  const feed = openMailFeed(ref, "a", {});
  await send(ref, "one");
  await send(ref, "to another", "b");
  expect(feed.poll()).toMatchObject([{ text: "one", state: "queued", read: false }]);
  const { messageId } = await send(ref, "two");
  await markAsRead(ref, "a", [messageId]);
  await recordProgress(ref, "a", [messageId], "turn_started");
  expect(feed.poll()).toMatchObject([{ text: "two", state: "turn_started", read: true }]);
  await recordProgress(ref, "a", [messageId], "done");
  expect(feed.poll()).toEqual([]);
});

test("mail feed › returns a message that its reader removed between two calls", async () => {
  const ref = await testTeam(["foreign"]);
  const feed = openMailFeed(ref, "foreign", {});
  await send(ref, "quick", "foreign");
  writeFileSync(ref.paths.inbox("foreign"), "[]");
  expect(feed.poll()).toMatchObject([{ text: "quick", state: "delivered", read: true }]);
  expect(feed.poll()).toEqual([]);
});

test("mail feed › returns another program's message once, even if it is journalled later", async () => {
  const ref = await testTeam(["a"]);
  const feed = openMailFeed(ref, "a", {});
  writeFileSync(ref.paths.inbox("a"), JSON.stringify([{ from: "peer", text: "hi", timestamp: "t" }]));
  expect(textsOf(feed)).toEqual(["hi"]);
  await markAsRead(
    ref,
    "a",
    (await unreadMessages(ref, "a")).map(({ key }) => key),
  );
  expect(readFileSync(ref.paths.journal, "utf8")).toContain("peer");
  expect(feed.poll()).toEqual([]);
});

test("mail feed › leaves out skipped messages, other senders and read messages", async () => {
  const ref = await testTeam(["a", "b"]);
  const { messageId } = await send(ref, "skipped");
  const feed = openMailFeed(ref, "a", { unread: true, from: "b" });
  feed.skip([messageId]);
  await send(ref, "from the lead");
  await send(ref, "from b", "a", "b");
  expect(textsOf(feed)).toEqual(["from b"]);
});

test("mail feed › reads only new journal lines", async () => {
  const ref = await testTeam(["a"]);
  const message = { from: "team-lead", text: "x".repeat(500), timestamp: "t", read: true };
  appendJournal(
    ref,
    Array.from({ length: 10_000 }, (_, i) => ({ at: i, id: `${i}`, to: "a", state: "done", message })),
  );
  const feed = openMailFeed(ref, "a", {});
  await send(ref, "new");
  const { read } = await countBytes(() => expect(textsOf(feed)).toEqual(["new"]));
  expect(read).toBeLessThan(2_000);
});
