import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SidebarFeed } from "../../../../src/cli/sidebar/sidebar-feed.ts";
import { ownIdentity } from "../../../../src/os/process/identity.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import type { SidebarData } from "../../../../src/sidebar/data.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { addMembers } from "../../../../src/team/members/members.ts";
import { writeRecord, writeStatus } from "../../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { createTask } from "../../../../src/team/tasks/tasks.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { touchedPaths } from "../../../support/files/touched-paths.ts";
import { IDLE, peerSays, peerTakes } from "../../../support/team/foreign-peer.ts";
import { deadProcess, statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { noSlowCheck } from "../../../support/timing/no-slow-check.ts";
import { stopSteadyClock } from "../../../support/timing/steady-clock.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

const NAMES = Array.from({ length: 12 }, (_, index) => `dev-${index}`);

/** A feed, without slow checks, of a team whose members all live in this process. */
async function feedOf(slowMs?: number): Promise<{ ref: TeamRef; feed: SidebarFeed }> {
  const ref = await testTeam(NAMES);
  for (const name of NAMES) writeStatus(ref, name, statusOf({ instance: name }));
  noSlowCheck(slowMs);
  const ctx = contextOf(ref, LEAD_NAME);
  const feed = new SidebarFeed(ctx, ctx, 60_000);
  onTestFinished(() => feed.changed.close());
  await feed.load();
  return { ref, feed };
}

/** Loads after each ring, as the sidebar does, until the data matches. */
async function loaded(feed: SidebarFeed, matches: (data: SidebarData) => unknown): Promise<void> {
  for (let data = await feed.load(); !matches(data); data = await feed.load()) {
    expect(await feed.changed.wait()).toBe("rung");
  }
}

function memberOf({ status }: SidebarData, name: string) {
  return status.members.find((member) => member.name === name);
}

test("sidebar feed › reads only the record of the member that reports an activity, and checks no process", async () => {
  // The clock is stopped, so the full check after a second never runs.
  stopSteadyClock();
  const { ref, feed } = await feedOf(1_000);
  /** The paths of members' records and of processes that the load of each activity read. */
  const loads: (readonly string[])[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const activity = `Read part-${turn}`;
    writeStatus(ref, "dev-3", statusOf({ instance: "dev-3", lastActivityAt: Date.now(), activity }));
    const touched: string[] = [];
    for (let isShown = false; !isShown; ) {
      expect(await feed.changed.wait()).toBe("rung");
      touched.length = 0;
      touched.push(
        ...(await touchedPaths(async () => {
          isShown = memberOf(await feed.load(), "dev-3")?.activity === activity;
        })),
      );
    }
    loads.push(touched.filter((path) => /^\/proc\/|\/dev-\d+[/.]/.test(path)));
  }
  for (const paths of loads) expect(new Set(paths)).toEqual(new Set([ref.paths.agent("dev-3").status]));
});

test("sidebar feed › shows the derived state of a foreign member", async () => {
  const { ref, feed } = await feedOf();
  await addMembers(ref, [{ name: "ada", cwd: "/" }]);
  await loaded(feed, (data) => memberOf(data, "ada")?.state === "unknown");
  await sendMessage(ref, { from: LEAD_NAME, to: "ada", text: "work" });
  peerTakes(ref, "ada");
  await loaded(feed, (data) => memberOf(data, "ada")?.state === "running");
  peerSays(ref, "ada", IDLE);
  await loaded(feed, (data) => memberOf(data, "ada")?.state === "idle");
});

test("sidebar feed › shows new messages, tasks and members", async () => {
  const { ref, feed } = await feedOf();
  await sendMessage(ref, { from: "dev-1", to: "dev-2", text: "The tests pass." });
  await loaded(feed, (data) => memberOf(data, "dev-2")?.unread === 1 && data.messages.length === 1);
  await createTask(ref, { subject: "Fix the parser" });
  await loaded(feed, ({ status }) => status.tasks.list.length === 1);
  await addMembers(ref, [{ name: "late", cwd: "/" }]);
  await loaded(feed, (data) => memberOf(data, "late"));
});

test("sidebar feed › processes an end at once when its exit is recorded", async () => {
  const { ref, feed } = await feedOf();
  const process = deadProcess();
  writeStatus(ref, "dev-4", statusOf({ instance: "dev-4", process }));
  const exit = { instance: "dev-4", code: 1, at: Date.now(), lastLines: ["boom"] };
  writeRecord(ref, ref.paths.agent("dev-4").exit, exit);
  await loaded(feed, (data) => memberOf(data, "dev-4")?.state === "crashed");
  await loaded(feed, ({ messages }) => messages.some(({ text }) => text.includes("dev-4 crashed")));
});

test("sidebar feed › finds a change that the watch does not report soon after another ring", async () => {
  const { ref, feed } = await feedOf();
  const inbox = join(temporaryDirectory(), "inbox.json");
  const at = new Date().toISOString();
  const message = (text: string) => ({ from: "dev-1", text, timestamp: at, read: false });
  writeFileSync(inbox, JSON.stringify([message("one")]));
  symlinkSync(inbox, ref.paths.inbox("dev-5"));
  await loaded(feed, (data) => memberOf(data, "dev-5")?.unread === 1);
  // The watch sees the link, not the file that it names.
  writeFileSync(inbox, JSON.stringify([message("one"), message("two")]));
  writeStatus(ref, "dev-6", statusOf({ instance: "dev-6", process: ownIdentity(), activity: "Read" }));
  await loaded(feed, (data) => memberOf(data, "dev-5")?.unread === 2);
});
