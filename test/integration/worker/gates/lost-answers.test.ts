import { existsSync, mkdirSync, renameSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { answerApproval, listApprovals } from "../../../../src/operations/approvals/approvals.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { history } from "../../../../src/team/mailbox/history.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { answerRequest } from "../../../../src/team/requests/requests.ts";
import { ring } from "../../../../src/wakeup/fifo-bell.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { contextOf, type WorkerInput } from "../../../support/worker/start-worker.ts";
import { workerOfTest } from "../../../support/worker/test-worker.ts";

const write = { name: "Write", input: { file_path: "{{plan_file}}", content: "# It" } };
const exit = { name: "ExitPlanMode", input: {} };
const ask = { name: "AskUserQuestion", input: { question: "Which?" } };
const bash = (command: string) => ({ name: "Bash", input: { command } });
const stateOf = (ref: TeamRef) => readStatus(ref, "dev")?.state;
const send = (ref: TeamRef, text: string) => sendMessage(ref, { from: LEAD_NAME, to: "dev", text });

/** Replaces an inbox with a directory, so that writes fail; returns a function that restores it. */
function withoutInbox(ref: TeamRef, agent: string): () => void {
  const path = ref.paths.inbox(agent);
  mkdirSync(dirname(path), { recursive: true });
  if (existsSync(path)) renameSync(path, `${path}.aside`);
  mkdirSync(path);
  return () => {
    rmdirSync(path);
    if (existsSync(`${path}.aside`)) renameSync(`${path}.aside`, path);
  };
}

describe("answer to a request (S61, S63, S64)", () => {
  const asking: readonly [string, WorkerInput, string][] = [
    [
      "a plan",
      { mode: "plan", turns: [{ tools: [write] }, { tools: [exit] }, { say: "begun" }] },
      "is approved",
    ],
    ["a question", { turns: [{ tools: [ask] }, { say: "I wait" }, { say: "thanks" }] }, "the second"],
  ];

  it.each(asking)(
    "to %s that was recorded but not sent reaches the member once, at its next wakeup",
    async (_, input, words) => {
      const ref = await testTeam(["dev"]);
      const dev = await workerOfTest(ref, input);
      await send(ref, "begin");
      const { id } = await eventually("the request", () => listApprovals(ref)[0]);
      await eventually("the turn's end", () => dev.shown.includes("turn_ended"));
      await answerRequest(ref, id, { approve: true, note: "the second", by: LEAD_NAME, at: Date.now() });
      const { bell } = readStatus(ref, "dev") ?? {};
      if (bell !== undefined) ring(bell);
      await eventually("the answer's turn", () => dev.inputs.length === 2 && stateOf(ref) === "idle");
      expect(dev.inputs[1]).toContain(words);
      // A second answer is rejected and sends nothing.
      await expect(answerApproval(contextOf(ref), id, { approve: true })).rejects.toMatchObject({
        code: expect.stringMatching(/^(ALREADY_ANSWERED|REQUEST_NOT_FOUND)$/),
      });
      expect((await history(ref, "dev")).filter(({ text }) => text.includes(id))).toHaveLength(1);
      expect(dev.inputs).toHaveLength(2);
    },
  );

  it("that cannot be written to the inbox leaves the request open", async () => {
    const ref = await testTeam(["dev"]);
    const dev = await workerOfTest(ref, {
      mode: "default",
      turns: [{ tools: [bash("touch made")] }, { say: "done" }],
    });
    await send(ref, "begin");
    const { id } = await eventually("the request", () => listApprovals(ref)[0]);
    const restoreInbox = withoutInbox(ref, "dev");
    await expect(answerApproval(contextOf(ref), id, { approve: false })).rejects.toMatchObject({
      code: expect.any(String),
    });
    restoreInbox();
    expect(listApprovals(ref)).toHaveLength(1);
    await answerApproval(contextOf(ref), id, { approve: true });
    await eventually("the call", () => existsSync(join(dev.cwd, "made")));
  });
});
