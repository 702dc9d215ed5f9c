import { existsSync, mkdirSync, renameSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { answerApproval, listApprovals } from "../../../src/operations/approvals/approvals.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { history } from "../../../src/team/mailbox/history.ts";
import { deliver } from "../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { answerRequest } from "../../../src/team/requests/requests.ts";
import { ring } from "../../../src/wakeup/fifo-bell.ts";
import { testTeam } from "../../support/team/test-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { contextOf, type WorkerInput } from "../../support/worker/start-worker.ts";
import { workerOfTest } from "../../support/worker/test-worker.ts";

const write = { name: "Write", input: { file_path: "{{plan_file}}", content: "# It" } };
const exit = { name: "ExitPlanMode", input: {} };
const ask = { name: "AskUserQuestion", input: { question: "Which?" } };
const bash = (command: string) => ({ name: "Bash", input: { command } });
const stateOf = (ref: TeamRef) => readStatus(ref, "dev")?.state;
const send = (ref: TeamRef, text: string) => deliver(ref, { from: LEAD_NAME, to: "dev", text });

/** Something that nothing can be written to stands in the place of an inbox, until it is given back. */
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

describe("an answer (S61, S63, S64)", () => {
  const asking: readonly [string, WorkerInput, string][] = [
    [
      "a plan",
      { mode: "plan", turns: [{ tools: [write] }, { tools: [exit] }, { say: "begun" }] },
      "is approved",
    ],
    ["a question", { turns: [{ tools: [ask] }, { say: "I wait" }, { say: "thanks" }] }, "the second"],
  ];

  it.each(asking)(
    "to %s whose giver was killed before it was sent reaches the agent at its next look, once",
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
      // Who tries the same hears that it is answered, and sends nothing more.
      await expect(answerApproval(contextOf(ref), id, { approve: true })).rejects.toMatchObject({
        code: expect.stringMatching(/^(ALREADY_ANSWERED|REQUEST_NOT_FOUND)$/),
      });
      expect((await history(ref, "dev")).filter(({ text }) => text.includes(id))).toHaveLength(1);
      expect(dev.inputs).toHaveLength(2);
    },
  );

  it("that cannot be written to the agent's inbox was not given: what it asked waits as before", async () => {
    const ref = await testTeam(["dev"]);
    const dev = await workerOfTest(ref, {
      mode: "default",
      turns: [{ tools: [bash("touch made")] }, { say: "done" }],
    });
    await send(ref, "begin");
    const { id } = await eventually("the request", () => listApprovals(ref)[0]);
    const giveBack = withoutInbox(ref, "dev");
    await expect(answerApproval(contextOf(ref), id, { approve: false })).rejects.toMatchObject({
      code: expect.any(String),
    });
    giveBack();
    expect(listApprovals(ref)).toHaveLength(1);
    await answerApproval(contextOf(ref), id, { approve: true });
    await eventually("the call", () => existsSync(join(dev.cwd, "made")));
  });
});
