import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { addSecrets } from "../../../../src/os/redact.ts";
import {
  answerRequest,
  openRequest,
  readAnswer,
  readRequest,
} from "../../../../src/team/requests/requests.ts";
import { testTeam } from "../../../support/team/test-team.ts";

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
