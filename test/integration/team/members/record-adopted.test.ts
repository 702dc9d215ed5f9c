import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bootId, ownIdentity, pidSpace } from "../../../../src/os/process/identity.ts";
import { adoptedAddress, adoptedDirectory } from "../../../../src/team/members/adopted-processes.ts";
import { recordAdopted } from "../../../../src/team/members/record-adopted.ts";
import { testTeam } from "../../../support/team/test-team.ts";

/** Returns the pid of a process that has ended. */
const endedPid = (): string => String(spawnSync("true").pid);

/** Returns the text of a record. @param where the pid space and the boot; an older version wrote none */
const recordText = (...where: string[]): string =>
  ["1", "ada@crew", "/none", "1", "1", ...where, ""].join("\n");

test("recordAdopted › removes the records of ended programs of this machine only, and no unfinished file", async () => {
  const ref = await testTeam(["ada", "bob"]);
  const directory = adoptedDirectory(ref.home.root);
  mkdirSync(directory, { recursive: true });
  const elsewhere = endedPid();
  const unfinished = ".17.17.0x1.tmp";
  writeFileSync(join(directory, endedPid()), recordText(pidSpace(), bootId()));
  writeFileSync(join(directory, endedPid()), recordText());
  writeFileSync(join(directory, elsewhere), recordText("another#pid:[1]", bootId()));
  writeFileSync(join(directory, unfinished), "");
  const forget = recordAdopted(ref, "bob", ownIdentity());
  expect(readdirSync(directory).sort()).toEqual([unfinished, elsewhere, String(process.pid)].sort());
  expect(adoptedAddress(ref.home.root, process.pid)).toBe("bob@crew");
  forget();
  expect(adoptedAddress(ref.home.root, process.pid)).toBeUndefined();
});

test("adoptedAddress › ignores the record of another machine with the same pid", async () => {
  const ref = await testTeam(["ada"]);
  const directory = adoptedDirectory(ref.home.root);
  mkdirSync(directory, { recursive: true });
  const { pid, procStart } = ownIdentity();
  const lines = [procStart, "ada@crew", ref.paths.dir, pid, procStart, "another#pid:[1]", bootId()];
  writeFileSync(join(directory, String(pid)), `${lines.join("\n")}\n`);
  expect(adoptedAddress(ref.home.root, pid)).toBeUndefined();
});
