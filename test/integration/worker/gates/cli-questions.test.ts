import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listApprovals } from "../../../../src/operations/approvals/approvals.ts";
import { requestShutdown } from "../../../../src/operations/ending/shutdown.ts";
import { formatProtocol } from "../../../../src/protocol/messages.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { unreadCount } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { answerRequest } from "../../../../src/team/requests/requests.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";
import { workerOfTest } from "../../../support/worker/test-worker.ts";

test("a question of a CLI › is declined if a shutdown request waits for the end of the turn", async () => {
  const ref = await testTeam(["dev"]);
  const command = "touch begun; until [ -e go ]; do sleep 0.02; done";
  const dev = await workerOfTest(ref, { turns: [{ tools: [{ name: "Bash", input: { command } }] }] });
  await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "begin" });
  await eventually("the command", () => existsSync(join(dev.cwd, "begun")));
  await requestShutdown(contextOf(ref), ["dev"]);
  await eventually("the request", () => dev.shown.includes("queued team-lead"));
  const { signal } = new AbortController();
  expect(await dev.worker.cliQuestions.ask({ question: "Which?", choices: [] }, signal)).toBeUndefined();
  expect(listApprovals(ref)).toEqual([]);
});

test("a question of a CLI › starts no turn if the message with its answer is read after the answer", async () => {
  const ref = await testTeam(["dev"]);
  const dev = await workerOfTest(ref, { turns: [{ say: "seen" }] });
  const { signal } = new AbortController();
  const answer = dev.worker.cliQuestions.ask({ question: "Which?", choices: [] }, signal);
  const { id } = await eventually("the request", () => listApprovals(ref)[0]);
  await answerRequest(ref, id, { approve: true, note: "80", by: LEAD_NAME, at: 1 });
  dev.worker.recheck();
  expect(await answer).toBe("80");
  const text = formatProtocol({ type: "question_response", requestId: id, answer: "80" }, new Date(0));
  await sendMessage(ref, { from: LEAD_NAME, to: "dev", text });
  await eventually("the read message", () => unreadCount(ref, "dev") === 0);
  await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "go on" });
  await eventually("the turn", () => dev.worker.lastText === "seen");
  expect(dev.inputs).toEqual([expect.stringContaining("go on")]);
});
