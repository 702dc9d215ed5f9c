import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { history } from "../../../../src/team/mailbox/history.ts";
import { markAsRead, unreadCount, unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { prepareRun, writeStatus } from "../../../../src/team/records/write-records.ts";
import { script } from "../../../support/processes/script-process.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { pollUntilSettled } from "../../../support/timing/until-over.ts";

const inPlaceWriter = script("store/in-place-writer");

const entry = (text: string, more = {}) => ({
  from: "peer",
  text,
  timestamp: "2026-11-21T02:41:03.527Z",
  ...more,
});

test("inbox repair › quarantines bad entries with one warning, and delivers the valid ones (S24)", async () => {
  const ref = await testTeam(["a"]);
  const rubbish = [null, 5, "text", {}, { from: "x" }, { from: 1, text: "t", timestamp: "t" }, []];
  writeFileSync(ref.paths.inbox("a"), JSON.stringify([entry("one"), ...rubbish, entry("two")]));
  const warnings: string[] = [];
  const warn = (sentence: string) => warnings.push(sentence);
  expect((await unreadMessages(ref, "a", { warn })).map(({ message }) => message.text)).toEqual([
    "one",
    "two",
  ]);
  expect(await unreadMessages(ref, "a", { warn })).toHaveLength(2);
  expect(warnings).toEqual([expect.stringContaining("7 entries in a's inbox cannot be read")]);
  const quarantined = readFileSync(`${ref.paths.inboxes}/a.bad.jsonl`, "utf8").trim().split("\n");
  expect(quarantined.map((line) => JSON.parse(line).entry)).toEqual(rubbish);
  expect(JSON.parse(readFileSync(ref.paths.inbox("a"), "utf8"))).toEqual([entry("one"), entry("two")]);
});

test("unreadMessages › waits for a program that writes an inbox in place, without the lock, and repairs nothing", async () => {
  const ref = await testTeam(["a"]);
  const path = ref.paths.inbox("a");
  const text = JSON.stringify([entry("one"), entry("two")]);
  writeFileSync(path, text);
  const { line, ended } = inPlaceWriter("broken", path, "170", "3");
  await line();
  const over = await pollUntilSettled(ended(), async () => {
    expect((await unreadMessages(ref, "a")).map(({ message }) => message.text)).toEqual(["one", "two"]);
  });
  expect(over).toMatchObject({ code: 0, stderr: "" });
  // The inbox was neither replaced nor copied during the write.
  expect(readFileSync(path, "utf8")).toBe(text);
  expect(readdirSync(ref.paths.inboxes).filter((name) => name.includes("broken"))).toEqual([]);
});

test("inbox repair › accepts an entry with optional fields of a wrong type, and keeps them", async () => {
  const ref = await testTeam(["a"]);
  const odd = entry("odd", { color: null, summary: 5, read: "no", msg_id: null });
  writeFileSync(ref.paths.inbox("a"), JSON.stringify([odd]));
  const [only] = await unreadMessages(ref, "a");
  expect(only?.message).toMatchObject({ text: "odd", read: false });
  await markAsRead(ref, "a", [only?.key ?? ""]);
  expect(JSON.parse(readFileSync(ref.paths.inbox("a"), "utf8"))).toEqual([{ ...odd, read: true }]);
});

test("inbox repair › keeps the whole entries of a truncated file, and a copy of the original (S24)", async () => {
  const ref = await testTeam(["a"]);
  const whole = JSON.stringify([entry("one"), entry('two ], "\\" {'), entry("three")], undefined, 2);
  const cut = whole.slice(0, whole.indexOf("three") + 2);
  writeFileSync(ref.paths.inbox("a"), cut);
  const warnings: string[] = [];
  const found = await unreadMessages(ref, "a", { warn: (sentence) => warnings.push(sentence) });
  expect(found.map(({ message }) => message.text)).toEqual(["one", 'two ], "\\" {']);
  expect(warnings).toHaveLength(1);
  const [original = ""] = readdirSync(ref.paths.inboxes).filter((name) => name.includes("broken"));
  expect(readFileSync(`${ref.paths.inboxes}/${original}`, "utf8")).toBe(cut);
  expect(JSON.parse(readFileSync(ref.paths.inbox("a"), "utf8"))).toHaveLength(2);
});

test("inbox repair › keeps a bounded number of originals, and each with the only copy of a message", async () => {
  const ref = await testTeam(["a"]);
  const path = ref.paths.inbox("a");
  const cut = (text: string) =>
    `${JSON.stringify([entry(text)]).slice(0, -1)}, {"from":"peer","text":"half of ${text}`;
  const only = `${path}.broken-1`;
  writeFileSync(only, cut("only here"));
  for (let n = 1; n <= 30; n += 1) {
    writeFileSync(path, cut(`m${n}`));
    // Its writer has finished long ago.
    utimesSync(path, 1, 1);
    const found = await unreadMessages(ref, "a");
    expect(found.map(({ message }) => message.text)).toEqual([`m${n}`]);
    await markAsRead(
      ref,
      "a",
      found.map(({ key }) => key),
    );
  }
  const copies = readdirSync(ref.paths.inboxes).filter((name) => name.includes(".broken-"));
  expect(copies).toHaveLength(21);
  expect(readFileSync(only, "utf8")).toBe(cut("only here"));
  const kept = copies.map((name) => readFileSync(join(ref.paths.inboxes, name), "utf8")).join("");
  const bad = readFileSync(join(ref.paths.inboxes, "a.bad.jsonl"), "utf8");
  for (let n = 1; n <= 30; n += 1) expect(n <= 10 ? bad : kept).toContain(`half of m${n}`);
});

test("inbox repair › makes no second copy of the same bytes", async () => {
  const ref = await testTeam(["a"]);
  for (let n = 1; n <= 3; n += 1) {
    writeFileSync(ref.paths.inbox("a"), '[{"from":"peer');
    await unreadMessages(ref, "a");
  }
  expect(readdirSync(ref.paths.inboxes).filter((name) => name.includes(".broken-"))).toHaveLength(1);
});

test("inbox repair › a sender repairs a broken inbox and loses no message", async () => {
  const ref = await testTeam(["a"]);
  writeFileSync(ref.paths.inbox("a"), `${JSON.stringify([entry("one")]).slice(0, -1)},{"from":`);
  expect(unreadCount(ref, "a")).toBe(1);
  await sendMessage(ref, { from: "team-lead", to: "a", text: "two" });
  expect((await unreadMessages(ref, "a")).map(({ message }) => message.text)).toEqual(["one", "two"]);
});

/** Returns a team whose agent has received the first of four messages before its inbox was damaged. */
async function damaged(damage: (text: string) => string) {
  const ref = await testTeam(["a"]);
  await prepareRun(ref, ["a"]);
  writeStatus(ref, "a", statusOf());
  for (const text of ["one", "two", "three", "four"])
    await sendMessage(ref, { from: "team-lead", to: "a", text });
  await markAsRead(ref, "a", [(await unreadMessages(ref, "a"))[0]?.key ?? ""]);
  writeFileSync(ref.paths.inbox("a"), damage(readFileSync(ref.paths.inbox("a"), "utf8")));
  return ref;
}

test.each([
  ["cut off", (text: string) => text.slice(0, -30), "4 messages were"],
  ["damaged in the middle", (text: string) => text.replace('"three"', '"thr'), "4 messages were"],
  ["emptied", () => "", "3 messages were"],
  ["replaced by garbage", () => "\u0000\u0001 no json", "3 messages were"],
])(
  "inbox repair › restores unread messages from the journal into an inbox that was %s (S24)",
  async (_, damage, count) => {
    const ref = await damaged(damage);
    const waiting = ["two", "three", "four"];
    expect(unreadCount(ref, "a")).toBe(3);
    const states = (await history(ref, "a", { all: true })).map(({ text, state }) => `${text} ${state}`);
    expect(states).toEqual(["one delivered", "two queued", "three queued", "four queued"]);
    const warnings: string[] = [];
    await sendMessage(ref, { from: "team-lead", to: "a", text: "five" }, undefined, (warning) =>
      warnings.push(warning),
    );
    expect(warnings).toEqual([expect.stringContaining(`was broken: ${count} recovered from it`)]);
    const found = (await unreadMessages(ref, "a")).map(({ message }) => message.text);
    expect(found).toEqual([...waiting, "five"]);
  },
);

test("inbox repair › reports a single restored message as one", async () => {
  const ref = await testTeam(["a"]);
  await prepareRun(ref, ["a"]);
  writeStatus(ref, "a", statusOf());
  await sendMessage(ref, { from: "team-lead", to: "a", text: "one" });
  writeFileSync(ref.paths.inbox("a"), "[{");
  const warnings: string[] = [];
  await sendMessage(ref, { from: "team-lead", to: "a", text: "two" }, undefined, (warning) =>
    warnings.push(warning),
  );
  expect(warnings).toEqual([expect.stringContaining("was broken: 1 message was recovered from it")]);
});

test("inbox repair › a message missing from a valid inbox is not reported as delivered without a receipt", async () => {
  const ref = await damaged(() => "[]");
  const states = (await history(ref, "a", { all: true })).map(({ text, state }) => `${text} ${state}`);
  expect(states).toEqual(["one delivered", "two queued", "three queued", "four queued"]);
});

test("inbox repair › restores nothing into another program's inbox, which may have read it", async () => {
  const ref = await testTeam(["a"]);
  await sendMessage(ref, { from: "team-lead", to: "a", text: "one" });
  writeFileSync(ref.paths.inbox("a"), "[{");
  expect(await unreadMessages(ref, "a")).toEqual([]);
});

test("inbox repair › waits for another program that is writing, and repairs nothing (S24)", async () => {
  const ref = await testTeam(["a"]);
  const whole = JSON.stringify([entry("one"), entry("two")]);
  writeFileSync(ref.paths.inbox("a"), whole.slice(0, 70));
  const reading = unreadMessages(ref, "a");
  // The writer finishes while this thread waits for the lock.
  writeFileSync(ref.paths.inbox("a"), whole);
  expect((await reading).map(({ message }) => message.text)).toEqual(["one", "two"]);
  expect(readdirSync(ref.paths.inboxes)).toEqual(["a.json"]);
});

test("inbox repair › waits for a program that writes without a lock while teams holds the lock (S24)", async () => {
  const ref = await testTeam(["a"]);
  const inbox = ref.paths.inbox("a");
  const whole = JSON.stringify([entry("one"), entry("two")]);
  writeFileSync(inbox, whole.slice(0, 70));
  // The writer finishes during the pause in which this thread waits for it.
  const pauses = vi.spyOn(Atomics, "wait").mockImplementation(() => {
    if (existsSync(`${inbox}.lock`)) writeFileSync(inbox, whole);
    return "timed-out";
  });
  onTestFinished(() => pauses.mockRestore());
  await sendMessage(ref, { from: "team-lead", to: "a", text: "three" });
  expect((await unreadMessages(ref, "a")).map(({ message }) => message.text)).toEqual([
    "one",
    "two",
    "three",
  ]);
  expect(readdirSync(ref.paths.inboxes)).toEqual(["a.json"]);
});

test.each([[""], ["{}"], ["null"], ["[1,"], ["rubbish"], ['[{"from":"x"'], ["[]]"]])(
  "inbox repair › an inbox with %j accepts a message, and its old content is kept",
  async (content) => {
    const ref = await testTeam(["a"]);
    writeFileSync(ref.paths.inbox("a"), content);
    await sendMessage(ref, { from: "team-lead", to: "a", text: "new" });
    expect((await unreadMessages(ref, "a")).map(({ message }) => message.text)).toEqual(["new"]);
    const kept = readdirSync(ref.paths.inboxes).filter((name) => name.includes("broken"));
    expect(kept).toHaveLength(content === "" ? 0 : 1);
  },
);

test("inbox repair › keeps every whole entry of an inbox cut at any byte, and a copy of the rest", async () => {
  const ref = await testTeam(["a"]);
  const entries = [entry("é ]}"), entry('q"\\'), entry("z")];
  const bytes = Buffer.from(JSON.stringify(entries, undefined, 2));
  const ends = entries.map(
    (_, i) => Buffer.from(JSON.stringify(entries.slice(0, i + 1), undefined, 2)).length - 2,
  );
  for (let cut = 1; cut < bytes.length; cut += 1) {
    writeFileSync(ref.paths.inbox("a"), bytes.subarray(0, cut));
    const whole = entries.slice(0, ends.filter((end) => end <= cut).length);
    expect(unreadCount(ref, "a")).toBe(whole.length);
    // Reading finds the same entries; every fourth cut is enough to repair at each kind of position.
    if (cut % 4 !== 0) continue;
    await sendMessage(ref, { from: "team-lead", to: "a", text: "new" });
    const found = JSON.parse(readFileSync(ref.paths.inbox("a"), "utf8"));
    expect(found.slice(0, -1)).toEqual(whole);
    expect(found.at(-1)).toMatchObject({ text: "new" });
    const originals = readdirSync(ref.paths.inboxes).filter((name) => name.includes("broken"));
    expect(originals.map((name) => readFileSync(join(ref.paths.inboxes, name)))).toEqual([
      bytes.subarray(0, cut),
    ]);
    for (const name of originals) rmSync(join(ref.paths.inboxes, name));
  }
});
