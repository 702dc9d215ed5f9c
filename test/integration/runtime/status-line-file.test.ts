import { existsSync, readFileSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { keepStatusLine } from "../../../src/runtime/status-line-file.ts";
import { prepareRun } from "../../../src/team/records/write-records.ts";
import { openRequest } from "../../../src/team/requests/requests.ts";
import { testTeam } from "../../support/team/test-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { contextOf } from "../../support/worker/start-worker.ts";

it("keepStatusLine › shows the first request of a team", async () => {
  const ref = await testTeam(["ada", "bob"]);
  await prepareRun(ref, ["ada"]);
  const options = { own: "ada", watches: true, problem: () => undefined };
  const kept = keepStatusLine(contextOf(ref, "ada"), options);
  onTestFinished(() => kept.end());
  const { statusLine } = ref.paths;
  await eventually("the line", () => existsSync(statusLine));
  const question = { kind: "question", from: "bob", summary: "Which port?", payload: {}, at: 1 } as const;
  openRequest(ref, { id: "question-1", ...question });
  await eventually("the request", () => readFileSync(statusLine, "utf8").includes("1 waiting"));
  expect(readFileSync(statusLine, "utf8")).toMatch(/^crew .* · 1 waiting\n$/);
});
