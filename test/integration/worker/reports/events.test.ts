import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { formatProtocol } from "../../../../src/protocol/messages.ts";
import { type TeamEvent, teamEvent } from "../../../../src/schema/event.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { readJsonLines } from "../../../../src/store/jsonl.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { patchMember } from "../../../../src/team/members/members.ts";
import { readStatus } from "../../../../src/team/records/read-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { workerOfTest } from "../../../support/worker/test-worker.ts";

it("team events › record each step of a turn without its content", async () => {
  const ref = await testTeam(["dev"]);
  await patchMember(ref, "dev", { agentType: "tester" });
  const usage = { input: 1200, output: 34 };
  const dev = await workerOfTest(ref, {
    turns: [
      { say: "talk of secrets", tools: [{ name: "Bash", input: { command: "echo treasure" } }], usage },
      { say: "found it" },
      { error: { status: 401, type: "authentication_error" } },
    ],
    settings: {
      hooks: { PreToolUse: [{ hooks: [{ type: "command", command: "echo hookwords" }] }] },
      permissions: { deny: ["Read"] },
    },
  });
  const send = (text: string) => sendMessage(ref, { from: LEAD_NAME, to: "dev", text });
  const own = (): readonly TeamEvent[] =>
    readJsonLines(ref.paths.events, teamEvent).lines.filter(
      ({ agentId, type }) => agentId === "dev@crew" && type !== "member" && type !== "message",
    );
  const idles = () => own().filter(({ type }) => type === "idle").length;
  await send("begin with the treasure");
  await eventually("the idle state", () => idles() === 1);
  await send(formatProtocol({ type: "mode_set_request", mode: "acceptEdits", from: LEAD_NAME }, new Date(0)));
  await eventually("the mode", () => dev.worker.planApproval.mode === "acceptEdits");
  await dev.worker.handleTypedLine("again");
  await eventually("its failure", () => idles() === 2 && readStatus(ref, "dev")?.state === "idle");
  await dev.stop();
  expect(own().map(({ ts: _, agentId: _id, team: _team, ms: _ms, ...facts }) => facts)).toEqual([
    ...[
      { type: "agent", what: "started" },
      { type: "agent", what: "turn_started", messages: 1 },
      { ...called("tool_use"), tokens: { ...usage, cacheRead: 0, cacheWrite: 0 } },
      { type: "hook", event: "PreToolUse", result: "success" },
      { type: "permission", tool: "Bash", allowed: true, asked: false },
      called("end_turn"),
      { type: "agent", what: "turn_ended", outcome: "completed", toolCalls: 1 },
      { type: "idle", reason: "available" },
      { type: "mode_changed", mode: "acceptEdits", before: "bypassPermissions" },
      { type: "agent", what: "turn_started", messages: 0 },
      { ...called(), outcome: "failed" },
      { type: "agent", what: "turn_ended", outcome: "failed", toolCalls: 0 },
      { type: "idle", reason: "failed" },
      { type: "agent", what: "ended", how: "stopped" },
    ].map((facts) => ({
      ...facts,
      agentType: "tester",
      parentSessionId: "5f0e2a6e-0000-4000-8000-000000000000",
    })),
  ]);
  expect(readFileSync(ref.paths.events, "utf8")).not.toMatch(/treasure|secrets|found it|hookwords/);
});

const NONE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const called = (stopReason?: string) => ({
  type: "model",
  model: "scripted",
  outcome: "answered",
  ...(stopReason === undefined ? {} : { stopReason }),
  tokens: NONE,
  costUsd: 0,
});

it("team events › record a permission answered in the pane as asked", async () => {
  const ref = await testTeam(["dev"]);
  const dev = await workerOfTest(ref, {
    mode: "default",
    turns: [{ tools: [{ name: "Bash", input: { command: "touch x" } }] }],
  });
  await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "begin" });
  await eventually("the question", () => dev.shown.some((line) => line.startsWith("permission ")));
  await dev.worker.handleTypedLine("n, not now");
  const asked = () =>
    readJsonLines(ref.paths.events, teamEvent).lines.find(({ type }) => type === "permission");
  expect(await eventually("the event", asked)).toMatchObject({ tool: "Bash", allowed: false, asked: true });
});
