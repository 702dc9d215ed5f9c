import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { planPath } from "../../../../src/protocol/paths.ts";
import { teamDir } from "../../../../src/schema/names.ts";
import { readTeam } from "../../../../src/team/config/config.ts";
import { removeTeamFiles } from "../../../../src/team/config/delete-files.ts";
import { history } from "../../../../src/team/mailbox/history.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { addMembers, findMember, patchMember, removeMember } from "../../../../src/team/members/members.ts";
import { readStatus } from "../../../../src/team/records/read-records.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import { script } from "../../../support/processes/script-process.ts";
import { retireMember } from "../../../support/team/retire-member.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";

const join = script("team/join-team");

test("addMembers › adds members together, with colours by order", async () => {
  const ref = await testTeam();
  const names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
  const added = await addMembers(
    ref,
    names.map((name) => ({ name, cwd: "/w", model: "haiku" })),
  );
  expect(added.map(({ color }) => color)).toEqual(
    "blue green yellow purple orange pink cyan red blue".split(" "),
  );
  expect(readTeam(ref).members.slice(1)).toEqual(added);
  expect(added[0]).toMatchObject({ agentId: "a@crew", cwd: "/w", model: "haiku", subscriptions: [] });
});

test("addMembers › does not reuse the colour of a former member", async () => {
  const ref = await testTeam(["a", "b"]);
  await retireMember(ref, "b", "shutdown", 5);
  expect((await addMembers(ref, [{ name: "c", cwd: "/" }]))[0]?.color).toBe("yellow");
});

test("addMembers › refuses a taken name in any case, and adds no member of the batch", async () => {
  const ref = await testTeam(["rev"]);
  const both = addMembers(ref, [
    { name: "new", cwd: "/" },
    { name: "REV", cwd: "/" },
  ]);
  await expect(both).rejects.toMatchObject({ code: "DUPLICATE_NAME" });
  expect(readTeam(ref).members).toHaveLength(2);
});

test("addMembers › gives each the next free name with unique", async () => {
  const ref = await testTeam(["rev"]);
  const added = await addMembers(
    ref,
    [
      { name: "rev", cwd: "/" },
      { name: "rev", cwd: "/" },
    ],
    { unique: true },
  );
  expect(added.map(({ name }) => name)).toEqual(["rev-2", "rev-3"]);
});

test("addMembers › refuses a reserved name", async () => {
  const ref = await testTeam();
  await expect(addMembers(ref, [{ name: "Team-Lead", cwd: "/" }])).rejects.toMatchObject({
    code: "INVALID_NAME",
  });
});

test("addMembers › adds twenty members for twenty concurrent processes, with colours by order (S14)", async () => {
  const ref = await testTeam();
  const joined = Array.from({ length: 20 }, (_, i) => join(ref.home.root, ref.team, `m${i}`).ended());
  for (const end of await Promise.all(joined)) expect(end).toMatchObject({ code: 0, stderr: "" });
  const { members, joinedCount } = readTeam(ref);
  expect(new Set(members.slice(1).map(({ name }) => name)).size).toBe(20);
  expect(joinedCount).toBe(20);
  expect(members.slice(1, 10).map(({ color }) => color)).toEqual(
    "blue green yellow purple orange pink cyan red blue".split(" "),
  );
});

test("addMembers › gives a name to one of two concurrent processes, and refuses the other (S14)", async () => {
  const ref = await testTeam();
  const attempts = [0, 1].map(() => join(ref.home.root, ref.team, "same").line());
  expect((await Promise.all(attempts)).sort()).toEqual(["DUPLICATE_NAME", "blue"]);
});

test("findMember › finds a member by name or id, but not by a similar name (S55)", async () => {
  const config = readTeam(await testTeam(["writer", "writer-2"]));
  expect(findMember(config, "writer").name).toBe("writer");
  expect(findMember(config, "WRITER-2@crew").name).toBe("writer-2");
  for (const other of ["write", "writer-", "writer@other", ""]) {
    expect(() => findMember(config, other)).toThrow(expect.objectContaining({ code: "AGENT_NOT_FOUND" }));
  }
  expect(() => findMember(config, "wrtier")).toThrow(
    expect.objectContaining({ hint: expect.stringContaining("writer") }),
  );
});

test("patchMember › changes only the named fields, and nothing the second time", async () => {
  const ref = await testTeam(["a"]);
  await patchMember(ref, "a", { isActive: true, tmuxPaneId: "%3", mode: undefined });
  const before = readFileSync(ref.paths.config, "utf8");
  expect(findMember(readTeam(ref), "a")).toMatchObject({ isActive: true, tmuxPaneId: "%3", color: "blue" });
  await patchMember(ref, "a", { isActive: true });
  expect(readFileSync(ref.paths.config, "utf8")).toBe(before);
  await expect(patchMember(ref, "b", { isActive: true })).rejects.toMatchObject({ code: "AGENT_NOT_FOUND" });
});

test("retiring › records a former member once", async () => {
  const ref = await testTeam(["a"]);
  const ends = await Promise.all([
    retireMember(ref, "a", "shutdown", 7),
    retireMember(ref, "a", "killed", 8),
  ]);
  expect(ends).toEqual([true, false]);
  expect(readTeam(ref)).toMatchObject({
    members: [{ name: "team-lead" }],
    former: [{ name: "a", agentId: "a@crew", endedAt: 7, how: "shutdown" }],
  });
});

test("removeMember › restores config and inbox after a failed start (S13)", async () => {
  const ref = await testTeam(["a"]);
  const before = readFileSync(ref.paths.config, "utf8");
  await addMembers(ref, [{ name: "b", cwd: "/" }]);
  await sendMessage(ref, { from: "team-lead", to: "b", text: "your prompt" });
  writeStatus(ref, "b", statusOf());
  await removeMember(ref, "b");
  expect(readFileSync(ref.paths.config, "utf8")).toBe(before);
  expect(existsSync(ref.paths.inbox("b"))).toBe(false);
  expect(readStatus(ref, "b")).toBeUndefined();
  await removeMember(ref, "b");
});

test("removeMember › removes nothing if another member has the name by now", async () => {
  const ref = await testTeam();
  await addMembers(ref, [{ name: "a", cwd: "/" }], { now: 7 });
  await sendMessage(ref, { from: "team-lead", to: "a", text: "your prompt" });
  writeStatus(ref, "a", statusOf());
  expect(await removeMember(ref, "a", 5)).toBe(false);
  expect(findMember(readTeam(ref), "a").joinedAt).toBe(7);
  expect([existsSync(ref.paths.inbox("a")), readStatus(ref, "a") !== undefined]).toEqual([true, true]);
  expect(await removeMember(ref, "a", 7)).toBe(true);
  expect(existsSync(ref.paths.inbox("a"))).toBe(false);
});

test("removeMember › keeps the original of a broken inbox", async () => {
  const ref = await testTeam(["a"]);
  writeFileSync(ref.paths.inbox("a"), '[{"from": "x", "te');
  await removeMember(ref, "a");
  const [kept = "", ...others] = readdirSync(ref.paths.inboxes);
  expect(others).toEqual([]);
  expect(kept).toMatch(/^a\.json\.broken-\d+$/);
  expect(readFileSync(`${ref.paths.inboxes}/${kept}`, "utf8")).toBe('[{"from": "x", "te');
});

test("addMembers › gives a reused name an empty inbox, and journals unread messages as bounced", async () => {
  const ref = await testTeam(["a"]);
  await sendMessage(ref, { from: "team-lead", to: "a", text: "never read" });
  writeStatus(ref, "a", statusOf());
  await retireMember(ref, "a", "killed", 5);
  await addMembers(ref, [{ name: "a", cwd: "/" }]);
  expect(await unreadMessages(ref, "a")).toEqual([]);
  expect(readStatus(ref, "a")).toBeUndefined();
  expect(await history(ref, "a", { all: true })).toMatchObject([{ text: "never read", state: "bounced" }]);
});

test("addMembers › gives a reused name no plan, and keeps the old plan until the team is deleted", async () => {
  const ref = await testTeam(["writer"]);
  const path = planPath(ref.home.root, ref.team, "writer");
  const others = planPath(ref.home.root, teamDir("other"), "writer");
  mkdirSync(dirname(path));
  writeFileSync(path, "the old plan");
  writeFileSync(others, "of another team");
  await retireMember(ref, "writer", "shutdown", 5);
  await addMembers(ref, [{ name: "writer", cwd: "/" }]);
  expect(existsSync(path)).toBe(false);
  expect(readdirSync(dirname(path)).sort()).toEqual(["crew_writer.old.md", "other_writer.md"]);
  writeFileSync(path, "the new plan");
  await removeTeamFiles(ref);
  expect(readdirSync(dirname(path))).toEqual(["other_writer.md"]);
});

test("addMembers › clears the former inbox even if the name is spelled differently", async () => {
  const ref = await testTeam(["Rev"]);
  await sendMessage(ref, { from: "team-lead", to: "Rev", text: "never read" });
  await retireMember(ref, "Rev", "killed", 5);
  const [rev] = await addMembers(ref, [{ name: "rev", cwd: "/" }]);
  expect(readdirSync(ref.paths.inboxes)).not.toContain("Rev.json");
  expect(await history(ref, "Rev", { all: true })).toMatchObject([{ text: "never read", state: "bounced" }]);
  await sendMessage(ref, { from: "team-lead", to: "REV", text: "to the new one" });
  expect(await unreadMessages(ref, rev?.name ?? "")).toMatchObject([{ message: { text: "to the new one" } }]);
});
