import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { script } from "../../support/processes/script-process.ts";
import { testTeam } from "../../support/team/test-team.ts";

const faultyChange = script("store/change-under-fault");
const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;

/** Number of free descriptors. A change needs three, so each value stops it at another step. */
test.each([0, 1, 2])(
  "a file change › fails clearly with %i free descriptors, and works again with more (S25)",
  async (free) => refused(`descriptors:${free}`, "EMFILE"),
);

test.skipIf(!hasPrlimit)(
  "a file change › fails clearly without room for the file, and works again with room (S25)",
  async () => refused("size", "EFBIG"),
);

async function refused(fault: string, errno: string): Promise<void> {
  const ref = await testTeam(["a"]);
  const inbox = ref.paths.inbox("a");
  const child = faultyChange(ref.home.root, ref.team, "a", fault);
  const report = JSON.parse(await child.line());
  expect(report).toMatchObject({ code: errno === "EMFILE" ? "PERMISSION_DENIED" : "STORAGE_ERROR", errno });
  expect(report.message).toContain(errno);
  expect(report.message).toContain("it is unchanged");
  expect(JSON.parse(readFileSync(inbox, "utf8"))).toHaveLength(1);
  expect(readdirSync(dirname(inbox))).toEqual(["a.json"]);
  child.say("go on");
  expect(await child.line()).toBe("done");
  expect(JSON.parse(readFileSync(inbox, "utf8"))).toHaveLength(2);
}
