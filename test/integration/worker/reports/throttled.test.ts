import { afterEach, expect, it } from "vitest";
import { anthropicModel } from "../../../../src/agent/model/anthropic.ts";
import { pause } from "../../../../src/os/clock.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import type { AgentState } from "../../../../src/schema/status.ts";
import { unreadCount, unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import {
  type FakeMessagesApi,
  type FakeReply,
  startFakeMessagesApi,
} from "../../../support/model/fake-messages-api.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { workerOfTest } from "../../../support/worker/test-worker.ts";

let api: FakeMessagesApi | undefined;
afterEach(() => api?.close());

const busy = (status: 429 | 529 | 500, ms = 1): FakeReply => ({
  kind: "error",
  status,
  type: status === 429 ? "rate_limit_error" : "overloaded_error",
  message: "slow down",
  headers: { "retry-after-ms": String(ms) },
});
const says = (text: string): FakeReply => ({ kind: "message", blocks: [{ type: "text", text }] });
const uses = (...calls: readonly (readonly [name: string, input: object])[]): FakeReply => ({
  kind: "message",
  blocks: calls.map(([name, input], i) => ({ type: "tool_use", id: `t${i}`, name, input })),
});
const FINE = says("fine");

async function dev(
  ref: TeamRef,
  replies: readonly FakeReply[],
  sleep = pause,
): Promise<() => readonly AgentState[]> {
  api = await startFakeMessagesApi(replies);
  const states: AgentState[] = [];
  await workerOfTest(ref, {
    model: anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url, random: () => 0, sleep }),
    shown: () => {
      const state = readStatus(ref, "dev")?.state;
      if (state !== undefined && state !== states.at(-1)) states.push(state);
    },
  });
  return () => states;
}

async function turn(ref: TeamRef): Promise<void> {
  await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "work" });
  await eventually(
    "the turn's end",
    () => readStatus(ref, "dev")?.state === "idle" && unreadCount(ref, "dev") === 0,
  );
}

const textsToLead = async (ref: TeamRef): Promise<string[]> =>
  (await unreadMessages(ref, LEAD_NAME)).flatMap(({ protocol, message }) =>
    protocol === undefined ? [message.text] : [],
  );

it("throttling › shows the state throttled on 429 and 529, notifies the lead once and recovers (S36)", async () => {
  const ref = await testTeam(["dev"]);
  const states = await dev(ref, [
    busy(429),
    busy(429),
    busy(529),
    busy(429),
    FINE,
    busy(529),
    busy(529),
    FINE,
  ]);
  await turn(ref);
  expect(states()).toEqual(expect.arrayContaining(["running", "throttled"]));
  expect(await textsToLead(ref)).toEqual([expect.stringMatching(/makes dev wait \(429 slow down\)/)]);
  await turn(ref);
  expect(await textsToLead(ref)).toHaveLength(2);
});

it("throttling › does not notify the lead of one short wait or of other errors", async () => {
  const ref = await testTeam(["dev"]);
  await dev(ref, [busy(529), FINE, busy(500), busy(500), busy(500), FINE]);
  await turn(ref);
  await turn(ref);
  expect(await textsToLead(ref)).toEqual([]);
});

it("throttling › notifies the lead when a long wait starts, and the wait can be interrupted", async () => {
  const ref = await testTeam(["dev"]);
  const untilAborted: typeof pause = (_, signal) => pause(Number.POSITIVE_INFINITY, signal);
  await dev(ref, [busy(429, 50_000), FINE], untilAborted);
  await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: "work" });
  await eventually("the notice", async () => (await textsToLead(ref)).length === 1);
  expect(readStatus(ref, "dev")?.state).toBe("throttled");
  const request = JSON.stringify({ type: "interrupt_request", from: LEAD_NAME });
  await sendMessage(ref, { from: LEAD_NAME, to: "dev", text: request });
  await eventually("the idle state", () => readStatus(ref, "dev")?.state === "idle");
});

it("throttling › keeps the state throttled until the waiting subagent continues, even if another one works", async () => {
  const ref = await testTeam(["dev"]);
  const states: (readonly [line: string, state: AgentState | undefined])[] = [];
  const wasShown = (line: string): boolean => states.some(([shown]) => shown === line);
  const [slowMs, quickMs] = [200, 300];
  let isSlowWaiting = false;
  let quickAttempts = 0;
  api = await startFakeMessagesApi(({ body }) => {
    const said = JSON.stringify(body.messages);
    if (!body.system[0].text.includes("# Whom you work for")) {
      if (said.includes("tool_result")) return FINE;
      return uses(["Agent", { prompt: "SLOW" }], ["Agent", { prompt: "QUICK" }]);
    }
    if (said.includes("SLOW")) return wasShown("ended Agent: quick") ? says("slow") : busy(429, slowMs);
    quickAttempts += 1;
    if (quickAttempts === 1) return busy(429, quickMs);
    return said.includes("tool_result") ? says("quick") : uses(["Glob", { pattern: "*" }]);
  });
  // The slow subagent waits until the quick one has ended; the quick one waits until the slow one is waiting.
  const sleep: typeof pause = async (ms) => {
    if (ms === slowMs) isSlowWaiting = true;
    await eventually("the other subagent", () =>
      ms === slowMs ? wasShown("ended Agent: quick") : isSlowWaiting,
    );
    return "elapsed";
  };
  await workerOfTest(ref, {
    model: anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url, random: () => 0, sleep }),
    shown: (line) => states.push([line, readStatus(ref, "dev")?.state]),
  });
  await turn(ref);
  const of = (line: string) => states.filter(([shown]) => shown === line).map(([, state]) => state);
  expect(of("subagent")).toEqual(["throttled"]);
  expect(of("ended Agent: quick")).toEqual(["throttled"]);
  expect(of("ended Agent: slow")).toEqual(["running"]);
  expect(await textsToLead(ref)).toHaveLength(1);
});
