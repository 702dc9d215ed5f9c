import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { withLock } from "../../../src/store/lock.ts";
import { script } from "../../support/processes/script-process.ts";
import { MAY_MOUNT, memoryDisk } from "../../support/storm/disk.ts";
import { testTeam } from "../../support/team/test-team.ts";
import { eventually } from "../../support/timing/eventually.ts";

const faultyChange = script("store/change-under-fault");
const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;

/** Number of free descriptors. A change needs three, so each value stops it at a different step. */
test.each([0, 1, 2])(
  "a file change › fails clearly with %i free descriptors, and works again with more (S25)",
  async (free) => refused(`descriptors:${free}`, "EMFILE", "PERMISSION_DENIED"),
);

test.skipIf(!hasPrlimit)(
  "a file change › fails clearly without room for the file, and works again with room (S25)",
  async () => refused("size", "EFBIG", "STORAGE_ERROR"),
);

test.skipIf(!MAY_MOUNT)(
  "a lock › is released as soon as the disk can be written again, by a process that lives on",
  async () => {
    const disk = memoryDisk();
    const path = join(disk.path, "f");
    const change = withLock(path, () => {
      expect(disk.remount("ro")).toBe(true);
    });
    await expect(change).rejects.toThrow("EROFS");
    expect(readdirSync(disk.path).sort()).toEqual(["f.lock", "f.lock.owner", "f.q"]);
    expect(disk.remount("rw")).toBe(true);
    await eventually("the release", () => readdirSync(disk.path).length === 0);
  },
);

async function refused(fault: string, errno: string, code: string): Promise<void> {
  const ref = await testTeam(["a"]);
  const inbox = ref.paths.inbox("a");
  const child = faultyChange(ref.home.root, ref.team, "a", fault);
  const report = JSON.parse(await child.line());
  expect(report).toMatchObject({ code, errno });
  expect(report.message).toContain(errno);
  expect(report.message).toContain("it is unchanged");
  expect(JSON.parse(readFileSync(inbox, "utf8"))).toHaveLength(1);
  expect(readdirSync(dirname(inbox))).toEqual(["a.json"]);
  child.say("go on");
  expect(await child.line()).toBe("done");
  expect(JSON.parse(readFileSync(inbox, "utf8"))).toHaveLength(2);
}
