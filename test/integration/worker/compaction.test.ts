import { afterEach, describe, expect, it } from "vitest";
import { ASK_FOR_SUMMARY } from "../../../src/agent/conversation/summary-prompt.ts";
import { anthropicModel } from "../../../src/agent/model/anthropic.ts";
import { modelFacts } from "../../../src/agent/model/catalog.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { unreadCount } from "../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { openRequest } from "../../../src/team/requests/requests.ts";
import { createTask } from "../../../src/team/tasks/tasks.ts";
import { updateTask } from "../../../src/team/tasks/update-task.ts";
import { teamSummary } from "../../../src/worker/prompts/team-summary.ts";
import { type FakeMessagesApi, startFakeMessagesApi } from "../../support/model/fake-messages-api.ts";
import { testTeam } from "../../support/team/test-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { workerOfTest } from "../../support/worker/test-worker.ts";

let api: FakeMessagesApi | undefined;
afterEach(() => api?.close());

const isIdle = (ref: TeamRef) => () =>
  readStatus(ref, "dev")?.state === "idle" && unreadCount(ref, "dev") === 0;

describe("compacted conversation of a member", () => {
  it("receives the members, tasks and open requests from the team's files (S49)", async () => {
    const ref = await testTeam(["dev", "ada"]);
    await createTask(ref, { subject: "Read the <code>\nand more", owner: "dev" });
    await createTask(ref, { subject: "Write it up", blockedBy: ["1"] });
    await createTask(ref, { subject: "Done long ago" });
    await updateTask(ref, LEAD_NAME, "3", { status: "completed" });
    const request = { id: "r1", kind: "question", summary: "Which one?", payload: {}, at: 1 } as const;
    openRequest(ref, { ...request, from: "ada" });
    expect(teamSummary(ref, "dev")).toBe(
      [
        "Members of the team:",
        "- team-lead",
        "- dev (you)",
        "- ada",
        "",
        "Tasks: 1 completed, 2 open:",
        "- #1 (pending; yours): Read the <code> and more",
        "- #2 (pending; free; waits for #1): Write it up",
        "",
        "Nothing is waiting for an answer.",
      ].join("\n"),
    );
    expect(teamSummary(ref, LEAD_NAME)).toContain(
      "Waiting for an answer:\n- question of ada, r1: Which one?",
    );
  });

  it("continues with a summary and the current state of the team", async () => {
    const window = 30_000;
    api = await startFakeMessagesApi(({ body }) => {
      const text = JSON.stringify(body.messages);
      const summary = text.includes(ASK_FOR_SUMMARY.slice(0, 60));
      return {
        kind: "message",
        blocks: [{ type: "text", text: summary ? "SUMMARY" : "fine" }],
        usage: { input_tokens: Math.ceil(text.length / 4), output_tokens: 1 },
      };
    });
    const ref = await testTeam(["dev"]);
    await createTask(ref, { subject: "Guard the gate", owner: "dev" });
    const facts = modelFacts("m", { m: { window, input: 1, output: 1 } });
    const model = anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url, facts });
    const dev = await workerOfTest(ref, { model });
    for (let i = 0; i < 9; i += 1) {
      await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: `${i} ${"y".repeat(12_000)}` });
      await eventually("the turn's end", isIdle(ref));
    }
    expect(dev.shown).toContain("compacted");
    const sent = JSON.stringify(api.requests.at(-1)?.body.messages);
    expect(sent).toContain("SUMMARY");
    expect(sent).toContain("#1 (pending; yours): Guard the gate");
    // The summary call counts towards the costs like any other.
    const all = api.requests.reduce(
      (sum, { body }) => sum + Math.ceil(JSON.stringify(body.messages).length / 4),
      0,
    );
    expect(readStatus(ref, "dev")).toMatchObject({ tokens: { input: all, output: api.requests.length } });
    expect(readStatus(ref, "dev")?.costUsd).toBeCloseTo((all + api.requests.length) / 1_000_000);

    // The next process of the conversation continues the count (S36).
    await dev.stop();
    await workerOfTest(ref, { model });
    await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "again" });
    await eventually(
      "the next turn",
      () => (readStatus(ref, "dev")?.tokens.input ?? 0) > all && isIdle(ref)(),
    );
  });
});
