import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readTeam, updateTeam } from "../../../../src/team/config/config.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { addMembers, findMember, lookUpMember, moveToFormer } from "../../../../src/team/members/members.ts";
import { rejoin } from "../../../../src/team/members/rejoin.ts";
import { script } from "../../../support/processes/script-process.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { workerOfTest } from "../../../support/worker/test-worker.ts";

const writer = script("store/in-place-writer");
const AGAIN = "note: another program dropped this agent from config.json: registered again";

test("a running agent › registers itself again after each write of a program that does not know it", async () => {
  const ref = await testTeam(["claude"]);
  const forgetful = writer("forgetful", ref.paths.config, "15", "60");
  await forgetful.line();
  await addMembers(ref, [{ name: "dev", cwd: "/", model: "haiku" }]);
  const before = findMember(readTeam(ref), "dev");
  const dev = await workerOfTest(ref, {
    turns: [{ say: "ok", repeat: true }],
    wrap: (options) => ({ ...options, entry: before }),
  });
  forgetful.say("write");
  expect(await forgetful.ended()).toMatchObject({ code: 0, stderr: "" });
  const entry = await eventually("its entry", () => lookUpMember(readTeam(ref), "dev"));
  expect(entry).toEqual({ ...before, isActive: false });
  expect(readTeam(ref).members.filter(({ name }) => name === "dev")).toHaveLength(1);
  await eventually("the note", () => dev.shown.includes(AGAIN));
  expect(dev.shown.filter((line) => line.startsWith("error"))).toEqual([]);
  await sendMessage(ref, { from: "team-lead", to: "dev", text: "hello" });
  await eventually("the message", () => dev.shown.includes("received team-lead: hello"));
});

test("rejoin › adds the entry once, and not after the member was ended on purpose", async () => {
  const ref = await testTeam(["dev"]);
  const entry = findMember(readTeam(ref), "dev");
  const drop = (): void => {
    const { members, ...rest } = readTeam(ref);
    writeFileSync(ref.paths.config, JSON.stringify({ ...rest, members: [members[0]] }));
  };
  expect(await rejoin(ref, entry, () => true)).toBe(false);
  drop();
  expect(await rejoin(ref, entry, () => false)).toBe(false);
  const both = await Promise.all([rejoin(ref, entry, () => true), rejoin(ref, entry, () => true)]);
  expect(both.filter(Boolean)).toHaveLength(1);
  expect(readTeam(ref).members.map(({ name }) => name)).toEqual(["team-lead", "dev"]);
  await updateTeam(ref, (config) => moveToFormer(config, "dev", "killed", Date.now()));
  expect(await rejoin(ref, entry, () => true)).toBe(false);
  // The entry of an earlier agent of this name does not count.
  const [again] = await addMembers(ref, [{ name: "dev", cwd: "/" }], { now: Date.now() + 1 });
  drop();
  expect(await rejoin(ref, again ?? entry, () => true)).toBe(true);
});
