import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkTeams } from "../../../../src/doctor/check-teams.ts";
import { teamStatus } from "../../../../src/operations/status.ts";
import { systemClock } from "../../../../src/os/clock.ts";
import { type TeamEvent, teamEvent } from "../../../../src/schema/event.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { readJsonLines } from "../../../../src/store/jsonl.ts";
import { readJournal } from "../../../../src/team/inbox/journal.ts";
import { history, openMailFeed } from "../../../../src/team/mailbox/history.ts";
import { markAsRead, unreadCount, unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { addMembers, removeMember } from "../../../../src/team/members/members.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { reconcileContext } from "../../../support/team/reconcile-context.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { workerOfTest } from "../../../support/worker/test-worker.ts";

const repairsIn = ({ paths }: TeamRef): readonly TeamEvent[] =>
  readJsonLines(paths.events, teamEvent).lines.filter(({ type }) => type === "inbox");

const BY_HAND = '[{"from":"user","text":"do the work"}]';

test("a message without a time › counts as sent when its file was written, and is read once", async () => {
  const ref = await testTeam(["ada"]);
  const path = ref.paths.inbox("ada");
  writeFileSync(path, BY_HAND);
  const written = new Date("2026-01-02T03:04:05.000Z");
  utimesSync(path, written, written);
  expect(unreadCount(ref, "ada")).toBe(1);
  const [only] = await unreadMessages(ref, "ada");
  expect(only?.message).toMatchObject({
    from: "user",
    text: "do the work",
    timestamp: written.toISOString(),
  });
  // Reading has rewritten the file, which has another time now.
  expect(statSync(path).mtimeMs).not.toBe(written.getTime());
  expect((await unreadMessages(ref, "ada")).map(({ key }) => key)).toEqual([only?.key]);
  await markAsRead(ref, "ada", [only?.key ?? ""]);
  expect(await unreadMessages(ref, "ada")).toEqual([]);
  expect(existsSync(join(ref.paths.inboxes, "ada.bad.jsonl"))).toBe(false);
});

test("a message without a time › keeps its id, and is followed once, while others write to the inbox", async () => {
  const ref = await testTeam(["ada"]);
  const path = ref.paths.inbox("ada");
  writeFileSync(path, BY_HAND);
  const written = new Date("2026-01-02T03:04:05.000Z");
  utimesSync(path, written, written);
  const feed = openMailFeed(ref, "ada", {});
  const followed = feed.poll();
  const [before] = await history(ref, "ada");
  for (const text of ["a", "b"]) {
    await sendMessage(ref, { from: LEAD_NAME, to: "ada", text });
    followed.push(...feed.poll());
  }
  expect(followed.map(({ text }) => text)).toEqual(["do the work", "a", "b"]);
  expect((await history(ref, "ada")).map(({ text }) => text)).toEqual(["do the work", "a", "b"]);
  expect((await unreadMessages(ref, "ada"))[0]?.key).toBe(before?.id);
});

test("a message without a time › does not prevent the removal of old copies of a broken inbox", async () => {
  const ref = await testTeam(["ada"]);
  const path = ref.paths.inbox("ada");
  for (let at = 1; at <= 21; at += 1)
    writeFileSync(`${path}.broken-${at}`, `[{"from":"user","text":"${at < 3 ? "do the work" : at}"},`);
  writeFileSync(path, BY_HAND.slice(0, -1));
  await unreadMessages(ref, "ada");
  const copies = readdirSync(ref.paths.inboxes).filter((name) => name.includes(".broken-"));
  expect(copies).toHaveLength(20);
  expect(copies).not.toContain("ada.json.broken-1");
});

test("a message without a time › is also found without the brackets of a list", async () => {
  const ref = await testTeam(["ada"]);
  writeFileSync(ref.paths.inbox("ada"), BY_HAND.slice(1, -1));
  expect((await unreadMessages(ref, "ada")).map(({ message }) => message.text)).toEqual(["do the work"]);
});

test("a message without a time › bounces if its agent leaves before reading it", async () => {
  const ref = await testTeam(["ada"]);
  writeFileSync(ref.paths.inbox("ada"), '[{"from":"user","text":"do the work"},{"to":"ada"}]');
  await removeMember(ref, "ada");
  expect([...readJournal(ref, "ada").values()]).toMatchObject([
    { state: "bounced", message: { text: "do the work" } },
  ]);
  // An entry that is not a message is kept too.
  const kept = readFileSync(join(ref.paths.inboxes, "ada.bad.jsonl"), "utf8");
  expect(JSON.parse(kept)).toMatchObject({ entry: { to: "ada" } });
});

test("a message without a time › starts a turn of its agent", async () => {
  const ref = await testTeam(["dev"]);
  writeFileSync(ref.paths.inbox("dev"), BY_HAND);
  const dev = await workerOfTest(ref, { turns: [{ say: "Done.", repeat: true }] });
  await eventually("the agent's turn", () => dev.inputs.length > 0);
  expect(dev.inputs[0]).toContain("do the work");
});

test("an entry that is not a message › is reported in the pane, to the lead, in events, status and doctor", async () => {
  const ref = await testTeam(["dev"]);
  writeFileSync(ref.paths.inbox("dev"), '[{"to":"dev","body":"do the work"}]');
  const dev = await workerOfTest(ref, { turns: [{ say: "Done.", repeat: true }] });
  const reported = "1 entry in dev's inbox cannot be read; it was moved to ";
  await eventually("the error in the pane", () =>
    dev.shown.some((row) => row.startsWith(`error: ${reported}`)),
  );
  const toLead = await eventually("the message to the lead", async () => {
    const all = await history(ref, LEAD_NAME, { all: true });
    return all.find(({ text }) => text.startsWith(reported));
  });
  expect(toLead.from).toBe("system");
  expect(repairsIn(ref)).toMatchObject([{ agentId: "dev@crew", what: "repaired", owner: "dev" }]);
  const { problems } = await teamStatus(reconcileContext(ref));
  const notice = expect.stringMatching(
    /^Entries of dev's inbox are not messages, and were moved to .*dev\.bad\.jsonl\. Send again /,
  );
  expect(problems).toEqual([notice]);
  const findings = await checkTeams(ref.home, { fix: false, only: undefined });
  expect(findings.map(({ text, remedy }) => `${text} ${remedy}`)).toContainEqual(notice);
});

test("an entry that is not a message › is in the events, too, if the inbox is emptied for another member", async () => {
  const ref = await testTeam(["rev"]);
  writeFileSync(ref.paths.inbox("dev"), '[{"to":"dev","body":"do the work"}]');
  writeFileSync(ref.paths.inbox("ada"), "not a list");
  await addMembers(
    ref,
    ["dev", "ada", "bob"].map((name) => ({ name, cwd: "/" })),
  );
  writeFileSync(ref.paths.inbox("bob"), "not a list");
  await removeMember(ref, "bob");
  const repair = { type: "inbox", what: "repaired" };
  expect(repairsIn(ref)).toMatchObject([
    { ...repair, agentId: "dev@crew", owner: "dev" },
    { ...repair, agentId: "ada@crew", owner: "ada" },
    { ...repair, agentId: "bob@crew", owner: "bob" },
  ]);
});

test("an entry that is not a message › is moved and reported once when another program writes meanwhile", async () => {
  const ref = await testTeam(["dev"]);
  const path = ref.paths.inbox("dev");
  const list = join(ref.paths.inboxes, "dev.bad.jsonl");
  writeFileSync(path, '[{"to":"dev"}]');
  mkdirSync(`${path}.lock`);
  const shown: string[] = [];
  const read = unreadMessages(ref, "dev", { warn: (repair) => void shown.push(repair) });
  await eventually("the first attempt", () => existsSync(list));
  writeFileSync(path, '[{"to":"dev"},{"to":"all"}]');
  rmdirSync(`${path}.lock`);
  expect(await read).toEqual([]);
  expect(shown).toEqual([`2 entries in dev's inbox cannot be read; they were moved to ${list}.`]);
  const moved = readFileSync(list, "utf8").trimEnd().split("\n");
  expect(moved.map((line) => JSON.parse(line).entry)).toEqual([{ to: "dev" }, { to: "all" }]);
});

test("an entry that is not a message › is reported to the lead only if the list of such entries is new", async () => {
  const ref = await testTeam(["dev"]);
  const shown: string[] = [];
  const warn = (repair: string) => void shown.push(repair);
  const beat = async () => {
    writeFileSync(ref.paths.inbox("dev"), '[{"from":"peer","kind":"heartbeat"}]');
    await unreadMessages(ref, "dev", { warn });
  };
  const reported = async () => (await history(ref, LEAD_NAME, { all: true })).length;
  for (let beats = 0; beats < 3; beats += 1) await beat();
  expect([shown.length, await reported(), repairsIn(ref).length]).toEqual([3, 1, 1]);
  rmSync(join(ref.paths.inboxes, "dev.bad.jsonl"));
  await beat();
  expect([shown.length, await reported(), repairsIn(ref).length]).toEqual([4, 2, 2]);
});

test("a broken inbox › is reported once for messages written together, and again when its reader marks one", async () => {
  const ref = await testTeam(["dev"]);
  const path = ref.paths.inbox("dev");
  const truncate = () => writeFileSync(path, readFileSync(path, "utf8").trimEnd().slice(0, -1));
  await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "one" });
  truncate();
  const shown: string[] = [];
  const warn = (repair: string) => void shown.push(repair);
  const send = (text: string) => sendMessage(ref, { from: LEAD_NAME, to: "dev", text }, systemClock, warn);
  await Promise.all(["two", "three", "four"].map(send));
  expect(shown).toEqual([expect.stringContaining("inboxes/dev.json was broken: 1 message was recovered")]);
  expect(repairsIn(ref)).toHaveLength(1);
  const [one] = await unreadMessages(ref, "dev");
  truncate();
  await markAsRead(ref, "dev", [one?.key ?? ""], systemClock, warn);
  expect(shown[1]).toContain("inboxes/dev.json was broken: 4 messages were recovered");
  expect(repairsIn(ref)).toHaveLength(2);
  const toLead = (await history(ref, LEAD_NAME, { all: true })).map(({ text }) => text);
  expect(toLead).toEqual(shown);
});
