import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { history } from "../../../../src/team/mailbox/history.ts";
import { markAsRead, recordProgress, unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import { readMailCounts } from "../../../support/team/mail-counts.ts";
import { deadProcess, statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";

test("mailCounts › counts unread messages as queued, and those of the current turn as in turn (S28)", async () => {
  const ref = await testTeam(["a"]);
  expect(readMailCounts(ref, "a")).toEqual({ queued: 0, delivered: 0, inTurn: 0 });
  for (const text of ["one", "two"]) await sendMessage(ref, { from: "team-lead", to: "a", text });
  expect(readMailCounts(ref, "a")).toEqual({ queued: 2, delivered: 0, inTurn: 0 });
  const [first] = await unreadMessages(ref, "a");
  await markAsRead(ref, "a", [first?.key ?? ""]);
  writeStatus(ref, "a", statusOf({ state: "running", inTurn: 1 }));
  expect(readMailCounts(ref, "a")).toEqual({ queued: 1, delivered: 0, inTurn: 1 });
});

test("mailCounts › counts the turn of a dead process as delivered (S21)", async () => {
  const ref = await testTeam(["a"]);
  writeStatus(ref, "a", statusOf({ state: "running", inTurn: 3, process: deadProcess() }));
  expect(readMailCounts(ref, "a")).toEqual({ queued: 0, delivered: 3, inTurn: 0 });
});

test("history › shows no message in turn for a dead agent, and keeps finished ones done (S21)", async () => {
  const ref = await testTeam(["a"]);
  for (const text of ["one", "two"]) await sendMessage(ref, { from: "team-lead", to: "a", text });
  const keys = (await unreadMessages(ref, "a")).map(({ key }) => key);
  await markAsRead(ref, "a", keys);
  await recordProgress(ref, "a", keys, "turn_started");
  await recordProgress(ref, "a", keys.slice(0, 1), "done");
  const states = async (all: boolean) => (await history(ref, "a", { all })).map(({ state }) => state);
  writeStatus(ref, "a", statusOf({ state: "running", inTurn: 1 }));
  expect(await states(true)).toEqual(["done", "turn_started"]);
  writeStatus(ref, "a", statusOf({ state: "running", inTurn: 1, process: deadProcess() }));
  for (const all of [true, false]) expect(await states(all)).toEqual(["done", "delivered"]);
});

test("mailCounts › ignores unreadable entries", async () => {
  const ref = await testTeam(["a"]);
  writeFileSync(
    ref.paths.inbox("a"),
    JSON.stringify([null, { from: "peer", text: "hi", timestamp: "2026-11-21T02:41:03.527Z" }]),
  );
  expect(readMailCounts(ref, "a").queued).toBe(1);
});
