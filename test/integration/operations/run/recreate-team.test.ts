import { expect, it } from "vitest";
import { deletedTeamOf, recreateTeam } from "../../../../src/operations/run/recreate-team.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { NO_TOKENS } from "../../../../src/schema/tokens.ts";
import { readTeam, removeTeamFiles } from "../../../../src/team/config/config.ts";
import { spentByTeam } from "../../../../src/team/members/budget.ts";
import { prepareRun, writeStatus } from "../../../../src/team/records/write-records.ts";
import { statusOf } from "../../../support/records.ts";
import { testTeam } from "../../../support/team.ts";
import { contextOf } from "../../../support/worker.ts";

it("the team that a lead makes in the place of its own has the same lead, and what is left of the budget", async () => {
  const ref = await testTeam(["dev"], {
    leadMode: "acceptEdits",
    metadata: { _budget: { maxTokens: 100 } },
  });
  await prepareRun(ref, ["dev", LEAD_NAME]);
  // It had crashed, and was no former member when the team was deleted.
  writeStatus(ref, "dev", statusOf({ tokens: { ...NO_TOKENS, input: 60 }, costUsd: 0.5 }));
  // What the lead has spent it says in the next team, too.
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
