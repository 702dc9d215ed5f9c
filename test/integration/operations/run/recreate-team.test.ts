import { join } from "node:path";
import { expect, it } from "vitest";
import { deletedTeamOf, recreateTeam } from "../../../../src/operations/run/recreate-team.ts";
import { renameTeam } from "../../../../src/operations/run/rename-team.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { NO_TOKENS } from "../../../../src/schema/tokens.ts";
import { readTeam, teamExists } from "../../../../src/team/config/config.ts";
import { createTeamFiles } from "../../../../src/team/config/create-files.ts";
import { removeTeamFiles } from "../../../../src/team/config/delete-files.ts";
import { findTeam } from "../../../../src/team/config/find-team.ts";
import { spentByTeam } from "../../../../src/team/members/budget.ts";
import { prepareRun, writeStatus } from "../../../../src/team/records/write-records.ts";
import { movableRef } from "../../../../src/team/ref.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

it("recreating a deleted team › keeps the lead, its mode and the rest of the budget", async () => {
  const ref = await testTeam(["dev"], {
    leadMode: "acceptEdits",
    metadata: { _budget: { maxTokens: 100 } },
  });
  await prepareRun(ref, ["dev", LEAD_NAME]);
  // dev had crashed and was not a former member yet when the team was deleted.
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

it("recreating a deleted team › keeps the generated name of the run, but not the name of the deleted team", async () => {
  const root = join(temporaryDirectory(), "home");
  const home = { root, runtime: join(root, "runtime") };
  const ref = movableRef(
    await createTeamFiles(home, { name: "run-12ab", leadSessionId: "s", leadCwd: "/", now: 1 }),
  );
  await renameTeam(ref, "first");
  const left = deletedTeamOf(ref);
  await removeTeamFiles(ref);
  await recreateTeam(contextOf(ref), left, "second");
  expect([findTeam(home, "run-12ab").team, findTeam(home, "first").team]).toEqual(["second", "first"]);
  expect(teamExists(findTeam(home, "first"))).toBe(false);
});
