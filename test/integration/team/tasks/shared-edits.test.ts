import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { SharedEdits } from "../../../../src/team/tasks/shared-edits.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { deadProcess, statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";

const MINUTE = 60_000;
let now = 1_000_000;

function edits(ref: TeamRef, member: string): SharedEdits {
  const clock = { now: () => now };
  const onProblem = (text: string): void => {
    throw new Error(text);
  };
  return new SharedEdits({ ref, member, clock, onProblem });
}

async function texts(ref: TeamRef, name: string): Promise<string[]> {
  return (await unreadMessages(ref, name)).map(({ message }) => message.text);
}

test("two members that edit one file › are both notified, once for each file", async () => {
  const ref = await testTeam(["ada", "bob", "cy"]);
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "src"));
  symlinkSync(join(directory, "src"), join(directory, "link"));
  writeFileSync(join(directory, "src/a.ts"), "");
  const [ada, bob] = [edits(ref, "ada"), edits(ref, "bob")];
  await ada.add(join(directory, "src/a.ts"));
  await bob.add(join(directory, "src/other.ts"));
  expect(await texts(ref, "ada")).toEqual([]);
  await bob.add(join(directory, "link/a.ts"));
  await ada.add(join(directory, "src/a.ts"));
  await bob.add(join(directory, "src/a.ts"));
  // A restarted agent remembers nothing.
  await edits(ref, "bob").add(join(directory, "src/a.ts"));
  expect(await texts(ref, "ada")).toEqual([
    expect.stringMatching(/^You and bob both edit .*\/src\/a\.ts, in/),
  ]);
  expect(await texts(ref, "bob")).toEqual([
    expect.stringMatching(/^You and ada both edit .*\/src\/a\.ts, in/),
  ]);
  expect(await texts(ref, "cy")).toEqual([]);
  await bob.add(join(directory, "src/b.ts"));
  await ada.add(join(directory, "src/b.ts"));
  expect(await texts(ref, "bob")).toHaveLength(2);
});

test("a member that edits a file of another one › is not notified if that edit is old, or its agent has ended", async () => {
  const ref = await testTeam(["ada", "bob"]);
  const [ada, bob] = [edits(ref, "ada"), edits(ref, "bob")];
  await ada.add("/project/a.ts");
  now += 31 * MINUTE;
  await bob.add("/project/a.ts");
  await ada.add("/project/b.ts");
  writeStatus(ref, "ada", statusOf({ process: deadProcess() }));
  await bob.add("/project/b.ts");
  expect([await texts(ref, "ada"), await texts(ref, "bob")]).toEqual([[], []]);
});
