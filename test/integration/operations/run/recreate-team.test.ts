import { expect, it } from "vitest";
import { deletedTeamOf, recreateTeam } from "../../../../src/operations/run/recreate-team.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { NO_TOKENS } from "../../../../src/schema/tokens.ts";
import { readTeam } from "../../../../src/team/config/config.ts";
import { removeTeamFiles } from "../../../../src/team/config/delete-files.ts";
import { spentByTeam } from "../../../../src/team/members/budget.ts";
import { prepareRun, writeStatus } from "../../../../src/team/records/write-records.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

it("recreating a deleted team › keeps the lead, its mode and the rest of the budget", async () => {
  const ref = await testTeam(["dev"], {
    leadMode: "acceptEdits",
    metadata: { _budget: { maxTokens: 100 } },
  });
  await prepareRun(ref, ["dev", LEAD_NAME]);
  // dev had crashed and was no former member when the team was deleted.
  writeStatus(ref, "dev", statusOf({ tokens: { ...NO_TOKENS, input: 60 }, costUsd: 0.5 }));
  // The lead reports its own spending in the new team as well.
  writeStatus(ref, LEAD_NAME, statusOf({ tokens: { ...NO_TOKENS, input: 7 } }));
  const before = readTeam(ref);
  const left = deletedTeamOf(ref);
  await removeTeamFiles(ref);
  await recreateTeam(contextOf(ref), left);
  const config = readTeam(ref);
  expect(config.leadSessionId).toBe(before.leadSessionId);
  expect(config.members).toMatchObject([{ name: LEAD_NAME, mode: "acceptEdits", cwd: "/" }]);
  expect(config.metadata).toMatchObject({ _budget: { maxTokens: 100 } });
  expect(spentByTeam(ref, config)).toEqual({ tokens: 60, costUsd: 0.5 });
});
