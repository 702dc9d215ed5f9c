import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { takeOverLead } from "../../../../src/operations/run/take-over-lead.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { readTeam, updateTeam } from "../../../../src/team/config/config.ts";
import { spentByTeam } from "../../../../src/team/members/budget.ts";
import { readStatus } from "../../../../src/team/records/read-records.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import { deadProcess, statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

test("takeOverLead › keeps what the dead lead has spent in the team's budget", async () => {
  const ref = await testTeam();
  const process = deadProcess();
  await updateTeam(ref, (config) => ({ ...config, leadProcess: { ...process, claimedAt: 1 } }));
  writeStatus(ref, LEAD_NAME, statusOf({ process, sessionId: randomUUID(), costUsd: 0.5 }));
  expect(await takeOverLead(contextOf(ref), false)).toBe("taken");
  expect(readStatus(ref, LEAD_NAME)).toBeUndefined();
  expect(spentByTeam(ref, readTeam(ref)).costUsd).toBe(0.5);
});
