import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { downTeam } from "../../../../src/operations/resume/down.ts";
import { isStopped } from "../../../../src/operations/resume/resume.ts";
import { livenessOf } from "../../../../src/os/process/identity.ts";
import { readTeam } from "../../../../src/team/config/config.ts";
import { changeMetadata, findMember } from "../../../../src/team/members/members.ts";
import { livingProcess } from "../../../support/processes/living-process.ts";
import { deadProcess } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

test("downTeam › keeps a member whose first start was cut off, and ends what that start left running", async () => {
  const ref = await testTeam(["dev"]);
  const startClaim = { instance: randomUUID(), first: true, by: deadProcess(), at: Date.now() };
  await changeMetadata(ref, "dev", { startClaim });
  const process = await livingProcess({ TEAMS_INSTANCE: startClaim.instance });
  const ctx = contextOf(ref);
  expect(await downTeam(ctx)).toEqual([{ name: "dev", outcome: "gone" }]);
  expect(livenessOf(process)).toBe("dead");
  expect(isStopped(ctx, findMember(readTeam(ref), "dev"))).toBe(true);
});
