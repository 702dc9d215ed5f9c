import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkTeams } from "../../../../src/doctor/check-teams.ts";
import { teamStatus } from "../../../../src/operations/status.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { history } from "../../../../src/team/mailbox/history.ts";
import { markAsRead, unreadCount, unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { lookingContext } from "../../../support/team/reconcile-context.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { workerOfTest } from "../../../support/worker/test-worker.ts";

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
  // The file has another time now.
  expect(statSync(path).mtimeMs).not.toBe(written.getTime());
  expect((await unreadMessages(ref, "ada")).map(({ key }) => key)).toEqual([only?.key]);
  await markAsRead(ref, "ada", [only?.key ?? ""]);
  expect(await unreadMessages(ref, "ada")).toEqual([]);
  expect(existsSync(join(ref.paths.inboxes, "ada.bad.jsonl"))).toBe(false);
});

test("a message without a time › starts a turn of its agent", async () => {
  const ref = await testTeam(["dev"]);
  writeFileSync(ref.paths.inbox("dev"), BY_HAND);
  const dev = await workerOfTest(ref, { turns: [{ say: "Done.", repeat: true }] });
  await eventually("its turn", () => dev.inputs.length > 0);
  expect(dev.inputs[0]).toContain("do the work");
});

test("an entry that is no message › is reported in the pane, to the lead, in events, status and doctor", async () => {
  const ref = await testTeam(["dev"]);
  writeFileSync(ref.paths.inbox("dev"), '[{"to":"dev","body":"do the work"}]');
  const dev = await workerOfTest(ref, { turns: [{ say: "Done.", repeat: true }] });
  const told = "1 entry in dev's inbox cannot be read; it was moved to ";
  await eventually("the pane", () => dev.shown.some((row) => row.startsWith(`error: ${told}`)));
  const toLead = await eventually("the message to the lead", async () => {
    const all = await history(ref, LEAD_NAME, { all: true });
    return all.find(({ text }) => text.startsWith(told));
  });
  expect(toLead.from).toBe("system");
  const events = readFileSync(ref.paths.events, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  expect(events.filter(({ type }) => type === "inbox")).toMatchObject([
    { agentId: "dev@crew", what: "repaired", owner: "dev" },
  ]);
  const { problems } = await teamStatus(lookingContext(ref));
  const notice = expect.stringMatching(
    /^Entries of dev's inbox are no messages, and were moved to .*dev\.bad\.jsonl/,
  );
  expect(problems).toEqual([notice]);
  const findings = await checkTeams(ref.home, { fix: false, only: undefined });
  expect(findings.map(({ text }) => text)).toContainEqual(notice);
});
