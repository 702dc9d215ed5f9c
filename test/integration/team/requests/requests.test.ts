import { existsSync, mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { expect, test } from "vitest";
import { addSecrets } from "../../../../src/os/redact.ts";
import {
  answerRequest,
  closeRequest,
  openRequest,
  readAnswer,
  readRequest,
} from "../../../../src/team/requests/requests.ts";
import { script } from "../../../support/processes/script-process.ts";
import { testTeam } from "../../../support/team/test-team.ts";

const takeAnswers = script("team/take-answers");

test("requests › contain no secret of the environment, and neither do their answers (S75)", async () => {
  addSecrets({ REQUESTS_TEST_API_KEY: "hunter2-hunter2" });
  const ref = await testTeam(["dev"]);
  const payload = { planContent: "Use hunter2-hunter2.", deep: [{ "hunter2-hunter2": 1 }] };
  openRequest(ref, { id: "p", kind: "plan", from: "dev", summary: "hunter2-hunter2 it", payload, at: 1 });
  await answerRequest(ref, "p", { approve: true, by: "pane", note: "not hunter2-hunter2", at: 2 });
  const { request, answer } = ref.paths.request("p");
  expect(`${readFileSync(request, "utf8")}${readFileSync(answer, "utf8")}`).not.toContain("hunter2");
  expect(readRequest(ref, "p").summary).toBe("[secret] it");
  expect(readAnswer(ref, "p")?.note).toBe("not [secret]");
});

test("a closed request › keeps its answer as evidence only while its id cannot be recorded", async () => {
  const ref = await testTeam(["dev"]);
  openRequest(ref, { id: "p", kind: "plan", from: "dev", summary: "s", payload: {}, at: 1 });
  await answerRequest(ref, "p", { approve: true, by: "pane", at: 2 });
  const { request, answer } = ref.paths.request("p");
  mkdirSync(ref.paths.answered);
  closeRequest(ref, "p");
  expect([existsSync(request), existsSync(answer)]).toEqual([false, true]);
  rmdirSync(ref.paths.answered);
  closeRequest(ref, "p");
  expect(existsSync(answer)).toBe(false);
  expect(readFileSync(ref.paths.answered, "utf8")).toBe('"p"\n');
});

test("an answer › counts when its asker takes it at once", async () => {
  const ref = await testTeam(["ada"]);
  const asker = takeAnswers(ref.home.root, ref.team, "200");
  for (let i = 0; i < 200; i += 1)
    expect(await answerRequest(ref, await asker.line(), { approve: true, by: "pane", at: i })).toBe(
      "answered",
    );
  expect(await asker.ended()).toMatchObject({ code: 0 });
});
