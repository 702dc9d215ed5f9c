import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { script } from "../../support/processes/script-process.ts";
import { testTeam } from "../../support/team/test-team.ts";

const faultyChange = script("store/change-under-fault");
const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;

/** Free descriptors, of which a change needs three: at each of these it stops at another step. */
test.each([0, 1, 2])(
  "a change that finds %i descriptors free fails loudly, claims nothing, and goes well when there are more (S25)",
  async (free) => refused(`descriptors:${free}`, "EMFILE"),
);

test.skipIf(!hasPrlimit)(
  "a change for which there is no room fails loudly, claims nothing, and goes well when there is (S25)",
  async () => refused("size", "EFBIG"),
);

async function refused(fault: string, errno: string): Promise<void> {
  const ref = await testTeam(["a"]);
  const inbox = ref.paths.inbox("a");
  const child = faultyChange(ref.home.root, ref.team, "a", fault);
  const told = JSON.parse(await child.line());
  expect(told).toMatchObject({ code: "PERMISSION_DENIED", errno });
  expect(told.message).toContain(errno);
  expect(told.message).toContain("it is as it was");
  expect(JSON.parse(readFileSync(inbox, "utf8"))).toHaveLength(1);
  expect(readdirSync(dirname(inbox))).toEqual(["a.json"]);
  child.say("go on");
  expect(await child.line()).toBe("done");
  expect(JSON.parse(readFileSync(inbox, "utf8"))).toHaveLength(2);
}
