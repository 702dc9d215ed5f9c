import fs, {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  watch,
  writeFileSync,
  writeSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fileSize } from "../../../../src/os/files/fs.ts";
import { history } from "../../../../src/team/mailbox/history.ts";
import {
  markAsRead,
  recordProgress,
  unreadCount,
  unreadMessages,
} from "../../../../src/team/mailbox/receive.ts";
import { broadcast, eventMessageId, sendMessage } from "../../../../src/team/mailbox/send.ts";
import { prepareRun, writeStatus } from "../../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { openFifoBell } from "../../../../src/wakeup/fifo-bell.ts";
import { script } from "../../../support/processes/script-process.ts";
import { retireMember } from "../../../support/team/retire-member.ts";
import { deadProcess, statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";

const sendMany = script("team/send-many");
const foreignWriter = script("store/foreign-writer");

const send = (ref: TeamRef, text: string, to = "a", from = "team-lead") =>
  sendMessage(ref, { from, to, text });
const textsOf = async (ref: TeamRef, agent = "a") =>
  (await unreadMessages(ref, agent)).map(({ message }) => message.text);
const read = async (ref: TeamRef, agent = "a") =>
  markAsRead(
    ref,
    agent,
    (await unreadMessages(ref, agent)).map(({ key }) => key),
  );

test("sending a message › writes the shared format, the sender's colour and mode 0600", async () => {
  const ref = await testTeam(["a", "b"]);
  const { messageId } = await sendMessage(ref, { from: "b", to: "a@crew", text: "hi", summary: "greets" });
  expect(JSON.parse(readFileSync(ref.paths.inbox("a"), "utf8"))).toEqual([
    {
      from: "b",
      text: "hi",
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      color: "green",
      summary: "greets",
      msgV: 1,
      msg_id: messageId,
      type: "message",
      read: false,
    },
  ]);
  await send(ref, "from the lead");
  expect((await unreadMessages(ref, "a"))[1]?.message.color).toBeUndefined();
});

test("sending a message › refuses an unknown recipient with the nearest name, and creates no file (S20)", async () => {
  const ref = await testTeam(["researcher"]);
  for (const to of ["reseacher", "researcher@other", "../../x"]) {
    await expect(send(ref, "x", to)).rejects.toMatchObject({ code: "RECIPIENT_NOT_FOUND" });
  }
  await expect(send(ref, "x", "reseacher")).rejects.toMatchObject({ hint: "Did you mean researcher?" });
  expect(readdirSync(ref.paths.inboxes)).toEqual([]);
});

test("sending a message › refuses a former member, and queues for a crashed one (S20)", async () => {
  const ref = await testTeam(["ended", "crashed", "alive", "foreign"]);
  await retireMember(ref, "ended", "shutdown", 5);
  writeStatus(ref, "crashed", statusOf({ process: deadProcess() }));
  writeStatus(ref, "alive", statusOf());
  await expect(send(ref, "x", "ended")).rejects.toMatchObject({ code: "RECIPIENT_INACTIVE" });
  expect(await send(ref, "x", "crashed")).toMatchObject({ queuedForRestart: true });
  expect(await send(ref, "x", "alive")).toMatchObject({ queuedForRestart: false });
  expect(await send(ref, "x", "foreign")).toMatchObject({ queuedForRestart: false });
  expect(unreadCount(ref, "crashed")).toBe(1);
});

test("sending a message › rings the bell that the recipient's status names", async () => {
  const ref = await testTeam(["a"]);
  await prepareRun(ref, ["a"]);
  const { bell: path } = ref.paths.agent("a");
  writeStatus(ref, "a", statusOf({ bell: path }));
  const bell = openFifoBell(path);
  onTestFinished(() => bell.close());
  await send(ref, "x");
  expect(await bell.wait()).toBe("rung");
});

test("sending a message › rings the bell before it waits until the disk has the new name", async () => {
  const ref = await testTeam(["a"]);
  await send(ref, "x");
  await prepareRun(ref, ["a"]);
  const { bell: path } = ref.paths.agent("a");
  writeStatus(ref, "a", statusOf({ bell: path }));
  const bell = openFifoBell(path);
  onTestFinished(() => bell.close());
  const calls: string[] = [];
  const { fsyncSync, openSync } = fs;
  fs.fsyncSync = (fd) => {
    calls.push(fs.fstatSync(fd).isDirectory() ? "sync the directory" : "sync the file");
    fsyncSync(fd);
  };
  fs.openSync = (file, ...rest) => {
    if (file === path) calls.push("ring");
    return openSync(file, ...rest);
  };
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, { fsyncSync, openSync });
    syncBuiltinESMExports();
  });
  await send(ref, "x");
  expect(calls).toEqual(["sync the file", "ring", "sync the directory"]);
});

test("sending a message › ignores a second message with the same id", async () => {
  const ref = await testTeam(["a"]);
  for (let i = 0; i < 2; i += 1) {
    await sendMessage(ref, { from: "system", to: "a", text: "once", messageId: "of-the-event" });
  }
  expect(await textsOf(ref)).toEqual(["once"]);
});

test("sending a message › sends an event's message once, even after it was read and left the array", async () => {
  const ref = await testTeam(["a", "b"]);
  writeStatus(ref, "a", statusOf());
  const tell = (to: string, messageId = "of-the-event") =>
    sendMessage(ref, { from: "system", to, text: "once", messageId });
  await Promise.all([tell("a"), tell("a")]);
  expect(JSON.parse(readFileSync(ref.paths.inbox("a"), "utf8"))).toHaveLength(1);
  for (let i = 0; i < 60; i += 1) await send(ref, String(i));
  await read(ref);
  expect(readFileSync(ref.paths.inbox("a"), "utf8")).not.toContain("of-the-event");
  await tell("a");
  expect(await textsOf(ref)).toEqual([]);
  // For another recipient the id is a different message, whatever another program put into a's inbox.
  writeFileSync(
    ref.paths.inbox("a"),
    JSON.stringify([{ from: "peer", text: "x", timestamp: "t", msg_id: "of-another", to: "b" }]),
  );
  await read(ref);
  await tell("b");
  await tell("b", "of-another");
  expect(await textsOf(ref, "b")).toEqual(["once", "once"]);
});

test("sending a message › keeps the order of concurrent messages", async () => {
  const ref = await testTeam(["a"]);
  const texts = Array.from({ length: 20 }, (_, i) => String(i));
  await Promise.all(texts.map((text) => send(ref, text)));
  expect(await textsOf(ref)).toEqual(texts);
});

test("sending a message › writes waiting messages in one batch, and answers each sender", async () => {
  const ref = await testTeam(["a", "b"]);
  await send(ref, "first");
  let replaced = 0;
  const watcher = watch(ref.paths.inboxes, (_, name) => {
    if (name === "a.json") replaced += 1;
  });
  onTestFinished(() => watcher.close());
  const answers = await Promise.all(
    Array.from({ length: 700 }, (_, i) => send(ref, String(i), "a", i % 2 === 0 ? "b" : "team-lead")),
  );
  expect(await textsOf(ref)).toEqual(["first", ...Array.from({ length: 700 }, (_, i) => String(i))]);
  expect(new Set(answers.map(({ messageId }) => messageId)).size).toBe(700);
  expect((await history(ref, "a", { all: true })).map(({ state }) => state)).toEqual(
    Array(701).fill("queued"),
  );
  await eventually("the watcher to report the replacement", () => replaced > 0);
  // One full batch, and the rest.
  expect(replaced).toBeLessThanOrEqual(2);
});

test("sending a message › reports a failed write to every waiting sender, and the next call tries again", async () => {
  const ref = await testTeam(["a"]);
  // No user can rename a file over a directory.
  mkdirSync(ref.paths.inbox("a"));
  const answers = await Promise.allSettled([send(ref, "one"), send(ref, "two")]);
  expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  rmdirSync(ref.paths.inbox("a"));
  await send(ref, "three");
  expect(await textsOf(ref)).toEqual(["three"]);
});

test("sending a message › succeeds once the message is in the file, even if a later step fails", async () => {
  const ref = await testTeam(["a"]);
  mkdirSync(ref.paths.agent("a").status, { recursive: true });
  expect(await send(ref, "once")).toMatchObject({ to: "a", queuedForRestart: false });
  expect(unreadCount(ref, "a")).toBe(1);
});

test("broadcast › names the members it reached if it fails halfway", async () => {
  const ref = await testTeam(["a", "b"]);
  mkdirSync(ref.paths.agent("b").status, { recursive: true });
  await expect(broadcast(ref, { from: "team-lead", text: "x" })).rejects.toMatchObject({
    code: "PERMISSION_DENIED",
    message: expect.stringMatching(/reached a and stopped at b: .*EISDIR/),
    details: { recipients: ["a"] },
  });
});

test("a message about an event › arrives once, however far back in the journal it is", async () => {
  const ref = await testTeam(["a", "b"]);
  const notify = (to: string) =>
    sendMessage(ref, { from: "system", to, text: "it ended", messageId: eventMessageId("ended", "it") });
  await notify("a");
  await read(ref);
  // As after many more messages: this one has left the inbox, and is far from the end of the journal.
  writeFileSync(ref.paths.inbox("a"), "[]");
  const filler = {
    at: 1,
    id: "x",
    to: "a",
    state: "done",
    message: { from: "b", text: "x".repeat(1000), timestamp: "" },
  };
  appendFileSync(ref.paths.journal, `${JSON.stringify(filler)}\n`.repeat(1000));
  await notify("a");
  expect(await textsOf(ref)).toEqual([]);
  await notify("b");
  expect(await textsOf(ref, "b")).toEqual(["it ended"]);
});

test("an inaccessible journal › is named in the error, not the inbox", async () => {
  const ref = await testTeam(["a"]);
  await send(ref, "first");
  rmSync(ref.paths.journal);
  mkdirSync(ref.paths.journal);
  for (const work of [
    () => read(ref),
    () => sendMessage(ref, { from: "b", to: "a", text: "of an event", messageId: eventMessageId("b") }),
    () => history(ref, "a", { all: true }),
  ]) {
    const error = await Promise.resolve(work()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "PERMISSION_DENIED", details: { file: ref.paths.journal } });
  }
});

test("history › reads a journal that is larger than a string of the engine", async () => {
  const ref = await testTeam(["a"]);
  writeStatus(ref, "a", statusOf());
  await send(ref, "the first");
  const before = fileSize(ref.paths.journal) ?? 0;
  const fd = openSync(ref.paths.journal, "r+");
  // A sparse file of 600 lines: it takes little space on disk.
  for (let line = 1; line <= 600; line += 1) writeSync(fd, "\n", before + line * 1024 * 1024 - 1);
  closeSync(fd);
  await send(ref, "the last");
  writeFileSync(ref.paths.inbox("a"), "[]");
  const texts = (await history(ref, "a", { all: true })).map(({ text }) => text);
  expect(texts).toEqual(["the first", "the last"]);
  // The same journal restores a broken inbox.
  writeFileSync(ref.paths.inbox("a"), "[{");
  expect(await textsOf(ref)).toEqual(["the first", "the last"]);
});

test("the journal › stops no message if it cannot be written, but recording progress reports it", async () => {
  const ref = await testTeam(["a"]);
  mkdirSync(ref.paths.journal);
  await send(ref, "x");
  expect(await textsOf(ref)).toEqual(["x"]);
  await expect(recordProgress(ref, "a", ["k"], "done")).rejects.toMatchObject({
    code: "PERMISSION_DENIED",
    details: { errno: "EISDIR" },
  });
});

test("broadcast › reaches live members, names the others, and succeeds without recipients", async () => {
  const ref = await testTeam(["a", "b", "down"]);
  writeStatus(ref, "down", statusOf({ process: deadProcess() }));
  expect(await broadcast(ref, { from: "a", text: "all" })).toEqual({
    recipients: ["team-lead", "b"],
    skipped: ["down"],
  });
  expect(unreadCount(ref, "a") + unreadCount(ref, "down")).toBe(0);
  expect(await broadcast(await testTeam(), { from: "team-lead", text: "x" })).toEqual({
    recipients: [],
    skipped: [],
  });
});

test("marking as read › marks the named messages, and leaves the others unread", async () => {
  const ref = await testTeam(["a"]);
  await send(ref, "one");
  await send(ref, "two");
  const [first] = await unreadMessages(ref, "a");
  await markAsRead(ref, "a", [first?.key ?? "", "of no message"]);
  expect(await textsOf(ref)).toEqual(["two"]);
  expect(unreadCount(ref, "a")).toBe(1);
});

test("history › shows each state of a message's life", async () => {
  const ref = await testTeam(["a"]);
  const { messageId } = await send(ref, "one");
  const state = async () => (await history(ref, "a", { all: true })).map((view) => view.state);
  expect(await state()).toEqual(["queued"]);
  await read(ref);
  expect(await state()).toEqual(["delivered"]);
  await recordProgress(ref, "a", [messageId], "turn_started");
  expect(await state()).toEqual(["turn_started"]);
  await recordProgress(ref, "a", [messageId], "done");
  expect(await state()).toEqual(["done"]);
});

test("history › filters by unread, sender and time", async () => {
  const ref = await testTeam(["a", "b"]);
  let now = 1_000;
  const clock = { now: () => now };
  await sendMessage(ref, { from: "b", to: "a", text: "old" }, clock);
  await read(ref);
  now = 9_000;
  await sendMessage(ref, { from: "team-lead", to: "a", text: "new" }, clock);
  const texts = async (filter: Parameters<typeof history>[2]) =>
    (await history(ref, "a", filter)).map(({ text }) => text);
  expect(await texts({})).toEqual(["old", "new"]);
  expect(await texts({ unread: true })).toEqual(["new"]);
  expect(await texts({ from: "B@crew" })).toEqual(["old"]);
  expect(await texts({ since: 5_000 })).toEqual(["new"]);
});

test("inbox › keeps a short tail of read messages; the rest is in the history", async () => {
  const ref = await testTeam(["a"]);
  writeStatus(ref, "a", statusOf());
  for (let i = 0; i < 60; i += 1) await send(ref, String(i));
  await read(ref);
  await send(ref, "unread");
  const inbox = JSON.parse(readFileSync(ref.paths.inbox("a"), "utf8"));
  expect(inbox.map(({ text }: { text: string }) => text)).toEqual([
    ...Array.from({ length: 20 }, (_, i) => String(i + 40)),
    "unread",
  ]);
  expect((await history(ref, "a", { all: true })).map(({ text }) => text)).toEqual([
    ...Array.from({ length: 60 }, (_, i) => String(i)),
    "unread",
  ]);
});

test("inbox › keeps fewer long messages in its tail", async () => {
  const ref = await testTeam(["a"]);
  writeStatus(ref, "a", statusOf());
  for (let i = 0; i < 4; i += 1) await send(ref, "x".repeat(30_000));
  await read(ref);
  expect(JSON.parse(readFileSync(ref.paths.inbox("a"), "utf8"))).toHaveLength(1);
});

test("inbox › drops nothing for another program's member, which may mark by index", async () => {
  const ref = await testTeam(["foreign"]);
  for (let i = 0; i < 55; i += 1) await send(ref, String(i), "foreign");
  await read(ref, "foreign");
  expect(JSON.parse(readFileSync(ref.paths.inbox("foreign"), "utf8"))).toHaveLength(55);
});

test("history › shows a message that another program's reader removed as delivered", async () => {
  const ref = await testTeam(["foreign"]);
  await send(ref, "taken", "foreign");
  writeFileSync(ref.paths.inbox("foreign"), "[]");
  expect(await history(ref, "foreign", { all: true })).toMatchObject([{ text: "taken", state: "delivered" }]);
});

test("history › takes another program's message from the journal once it was read", async () => {
  const ref = await testTeam(["a"]);
  const message = { from: "peer", text: "hi", timestamp: "2026-11-21T02:41:03.527Z", xNew: { keep: "me" } };
  writeFileSync(ref.paths.inbox("a"), JSON.stringify([message]));
  await read(ref);
  expect(JSON.parse(readFileSync(ref.paths.inbox("a"), "utf8"))).toEqual([{ ...message, read: true }]);
  writeFileSync(ref.paths.inbox("a"), "[]");
  expect(await history(ref, "a", { all: true })).toMatchObject([
    { text: "hi", from: "peer", state: "delivered" },
  ]);
});

test("journal › records messages that another program marked before they leave the array", async () => {
  const ref = await testTeam(["a"]);
  writeStatus(ref, "a", statusOf());
  const old = Array.from({ length: 55 }, (_, i) => ({
    from: "peer",
    text: String(i),
    timestamp: new Date(i).toISOString(),
    read: true,
  }));
  const unread = { from: "peer", text: "new", timestamp: new Date(55).toISOString() };
  writeFileSync(ref.paths.inbox("a"), JSON.stringify([...old, unread]));
  await read(ref);
  expect(JSON.parse(readFileSync(ref.paths.inbox("a"), "utf8"))).toHaveLength(20);
  expect((await history(ref, "a", { all: true })).map(({ text }) => text)).toEqual([
    ...old.map(({ text }) => text),
    "new",
  ]);
});

test("sending a message › drops read entries beyond the tail, which the history keeps as delivered", async () => {
  const ref = await testTeam(["a", "foreign"]);
  writeStatus(ref, "a", statusOf());
  await send(ref, "journalled as queued");
  const [queued] = JSON.parse(readFileSync(ref.paths.inbox("a"), "utf8")) as object[];
  const old = Array.from({ length: 1_000 }, (_, i) => ({
    from: "peer",
    text: String(i),
    timestamp: new Date(i).toISOString(),
    read: true,
  }));
  const left = { from: "peer", text: "unread", timestamp: new Date(1_000).toISOString() };
  for (const agent of ["a", "foreign"]) {
    const first = { ...queued, read: true };
    writeFileSync(ref.paths.inbox(agent), JSON.stringify([first, left, 7, ...old]));
    await send(ref, "new", agent);
  }
  const kept = JSON.parse(readFileSync(ref.paths.inbox("a"), "utf8"));
  expect(kept).toEqual([left, 7, ...old.slice(-20), expect.objectContaining({ text: "new", read: false })]);
  const all = await history(ref, "a", { all: true });
  expect(all.filter(({ state }) => state === "delivered").map(({ text }) => text)).toEqual(
    expect.arrayContaining(["journalled as queued", ...old.map(({ text }) => text)]),
  );
  expect(all).toHaveLength(1_003);
  expect(JSON.parse(readFileSync(ref.paths.inbox("foreign"), "utf8"))).toHaveLength(1_004);
});

test("journal › a half-written last line loses no other message", async () => {
  const ref = await testTeam(["a"]);
  await send(ref, "one");
  appendFileSync(ref.paths.journal, '{"at":5,"id":"torn","to":"a","sta');
  await send(ref, "two");
  await read(ref);
  writeFileSync(ref.paths.inbox("a"), "[]");
  expect((await history(ref, "a", { all: true })).map(({ text }) => text)).toEqual(["one", "two"]);
});

test("sending a message › redacts secrets of the sender's environment in inbox and journal (S75)", async () => {
  const ref = await testTeam(["a", "sender"]);
  process.env.MAILBOX_TEST_API_KEY = "sender 0";
  onTestFinished(() => {
    delete process.env.MAILBOX_TEST_API_KEY;
  });
  await sendMany(ref.home.root, ref.team, "sender", "a", "2").ended();
  expect(await textsOf(ref)).toEqual(["[secret]", "sender 1"]);
  const journal = readFileSync(ref.paths.journal, "utf8");
  expect(journal).not.toContain("sender 0");
  expect(journal).toContain("sender 1");
});

test("marking as read › keeps a later state if it comes late", async () => {
  const ref = await testTeam(["a"]);
  const { messageId } = await send(ref, "one");
  // Happens if the inbox was locked when the turn began.
  await recordProgress(ref, "a", [messageId], "turn_started");
  await recordProgress(ref, "a", [messageId], "done");
  await read(ref);
  expect(await history(ref, "a")).toMatchObject([{ state: "done", read: true }]);
  expect(await history(ref, "a", { all: true })).toMatchObject([{ state: "done", read: true }]);
});

test("reading the inbox › parses protocol messages only from senders that may send them (S27, S45)", async () => {
  const ref = await testTeam(["a", "b"]);
  const ask = JSON.stringify({ type: "shutdown_request", requestId: "shutdown-1@a", from: "team-lead" });
  await send(ref, ask);
  await send(ref, ask, "a", "b");
  expect((await unreadMessages(ref, "a")).map(({ protocol }) => protocol?.type)).toEqual([
    "shutdown_request",
    undefined,
  ]);
});

test("sending a message › concurrent processes lose, double and reorder nothing", async () => {
  const ref = await testTeam(["a", "s0", "s1", "s2", "s3"]);
  const senders = ["s0", "s1", "s2", "s3"];
  const ends = senders.map((from) => sendMany(ref.home.root, ref.team, from, "a", "20").ended());
  for (const end of await Promise.all(ends)) expect(end).toMatchObject({ code: 0, stderr: "" });
  const texts = await textsOf(ref);
  expect(texts).toHaveLength(80);
  for (const from of senders) {
    const own = texts.filter((text) => text.startsWith(`${from} `));
    expect(own).toEqual(Array.from({ length: 20 }, (_, i) => `${from} ${i}`));
  }
});

test("sending a message › works next to foreign writers, and the reader gets each message once", async () => {
  const ref = await testTeam(["a", "s0", "s1"]);
  await send(ref, "first");
  writeStatus(ref, "a", statusOf());
  const inbox = ref.paths.inbox("a");
  const foreign = ["f0", "f1"].map((from) => foreignWriter(inbox, from, "15"));
  const ours = ["s0", "s1"].map((from) => sendMany(ref.home.root, ref.team, from, "a", "15"));
  const seen: string[] = [];
  const receive = async () => {
    // Reading an empty inbox never yields; without this the processes' ends would go unnoticed.
    await new Promise((resolve) => setImmediate(resolve));
    const entries = await unreadMessages(ref, "a");
    await markAsRead(
      ref,
      "a",
      entries.map(({ key }) => key),
    );
    seen.push(...entries.map(({ message }) => message.text));
  };
  let running = true;
  const done = Promise.all([...foreign, ...ours].map((process) => process.ended())).then((ends) => {
    running = false;
    return ends;
  });
  while (running) await receive();
  for (const end of await done) expect(end).toMatchObject({ code: 0, stderr: "" });
  await receive();
  const written: string[] = [];
  for (const writer of [...foreign, ...ours]) {
    for (let i = 0; i < 15; i += 1) written.push(await writer.line());
  }
  expect([...seen].sort()).toEqual(["first", ...written].sort());
  expect(readdirSync(join(inbox, "..")).sort()).toEqual(["a.json"]);
});
