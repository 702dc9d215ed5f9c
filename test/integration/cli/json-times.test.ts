import { expect, it } from "vitest";
import { rememberTasks, reportedTasks } from "../../../src/runtime/lead/task-report.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { writeStatus } from "../../../src/team/records/write-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { openRequest } from "../../../src/team/requests/requests.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";
import { statusOf } from "../../support/team/status-records.ts";
import { contextOf } from "../../support/worker/start-worker.ts";

const AT = Date.UTC(2026, 10, 23, 22, 25);
const ISO = "2026-11-23T22:25:00.000Z";

it("--json › prints every time in ISO 8601", async () => {
  const cli = cliIn();
  await cli(["create", "crew"]);
  const ref = teamRef(teamsHome(cli.env), "crew");
  await addMembers(ref, [{ name: "ada", cwd: cli.directory }]);
  writeStatus(ref, "ada", statusOf({ startedAt: AT, lastActivityAt: AT, state: "paused", pausedUntil: AT }));
  const payload = { question: "Which port?", default: "80", deadline: AT };
  const asked = {
    id: "ask-1",
    kind: "question",
    from: "ada",
    summary: "Which port?",
    payload,
    at: AT,
  } as const;
  openRequest(ref, asked);
  await cli(["task", "add", "Check", "--verify", "true"]);
  const done = (await cli(["task", "done", "1", "--json"])).json();
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(done).toMatchObject({ task: { verifyRun: { outcome: "passed", at: time } } });
  const request = { id: "ask-1", at: ISO, deadline: ISO };
  expect((await cli(["status", "--json"])).json()).toMatchObject({
    members: [
      { name: "team-lead", startedAt: null, lastActivityAt: null },
      { name: "ada", startedAt: ISO, lastActivityAt: ISO, pausedUntil: ISO },
    ],
    tasks: { list: [{ verifyRun: { at: time } }] },
    approvals: [request],
  });
  const run = contextOf(ref, LEAD_NAME);
  rememberTasks(run);
  expect(reportedTasks(run)).toMatchObject([{ verifyRun: { at: time } }]);
  expect((await cli(["approvals", "--json"])).json()).toMatchObject({ approvals: [request] });
  expect((await cli(["approvals", "ask-1", "--json"])).json()).toMatchObject({ approval: request });
  expect((await cli(["approve", "ask-1", "--json"])).json()).toMatchObject(request);
  await cli(["trust"]);
  expect((await cli(["trust", "--list", "--json"])).json()).toMatchObject({ directories: [{ at: time }] });
});
