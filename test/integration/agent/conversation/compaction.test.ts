import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { type Agent, type AgentOptions, createAgent, type TurnInput } from "../../../../src/agent/agent.ts";
import { ASK_AGAIN, ASK_FOR_SUMMARY } from "../../../../src/agent/conversation/summary-prompt.ts";
import { openTranscript } from "../../../../src/agent/conversation/transcript.ts";
import type { AgentEvent } from "../../../../src/agent/events.ts";
import { anthropicModel } from "../../../../src/agent/model/anthropic.ts";
import { type Model, ModelError } from "../../../../src/agent/model/model.ts";
import { NO_RULES } from "../../../../src/agent/permissions/rules.ts";
import { recordingModel } from "../../../../src/agent/playbook/recorder.ts";
import type { Tool } from "../../../../src/agent/tool.ts";
import { expectValidRequest } from "../../../support/assertions/valid-request.ts";
import {
  type FakeMessagesApi,
  type FakeReply,
  type FakeRequest,
  startFakeMessagesApi,
} from "../../../support/model/fake-messages-api.ts";

let home: string;
let events: AgentEvent[];
let api: FakeMessagesApi;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "teams-compaction-"));
  mkdirSync(join(home, "work"));
  events = [];
});
afterEach(async () => {
  await api.close();
  rmSync(home, { recursive: true, force: true });
});

const never = new AbortController().signal;
const path = (): string => join(home, "s1.jsonl");
const input = (text: string, keys: readonly string[] = []): TurnInput => ({
  text,
  origin: { text, from: "team-lead" },
  keys,
});

interface Given extends Partial<AgentOptions> {
  readonly window?: number;
}

function agent({ window = 20_000, ...options }: Given = {}): Agent {
  return createAgent({
    model: anthropicModel({
      model: "m",
      apiKey: "k",
      baseUrl: api.url,
      facts: { window, rates: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 } },
    }),
    tools: [bigTool],
    system: "You are ada.",
    transcript: openTranscript(path(), { sessionId: "s1" }),
    cwd: join(home, "work"),
    env: { PATH: process.env.PATH },
    permissions: {
      mode: () => "bypassPermissions",
      rules: NO_RULES,
      workingDirs: [join(home, "work")],
      ask: async () => ({ allowed: false }),
    },
    onEvent: (event) => events.push(event),
    ...options,
  });
}

/** A tool that returns a result of the requested length. */
const bigTool: Tool<{ characters: number }> = {
  name: "Big",
  description: "Prints a lot",
  input: z.object({ characters: z.number() }),
  parallel: true,
  access: () => ({ kind: "team" }),
  summary: () => "",
  execute: async ({ characters }) => ({ content: `begin ${"x".repeat(characters)} end` }),
};

const say = (text: string): FakeReply => ({ kind: "message", blocks: [{ type: "text", text }] });
const big = (characters: number, ...ids: readonly string[]): FakeReply => ({
  kind: "message",
  blocks: ids.map((id) => ({ type: "tool_use", id, name: "Big", input: { characters } })),
});
const sizeOf = ({ body }: FakeRequest): number => Math.ceil(JSON.stringify(body.messages).length / 4);
const textsOf = ({ body }: FakeRequest): string =>
  JSON.stringify(body.messages.map(({ content }: { content: unknown }) => content));
const asksForSummary = (request: FakeRequest): boolean =>
  textsOf(request).includes(JSON.stringify(ASK_FOR_SUMMARY).slice(1, 60));

/** Starts a server that counts tokens and refuses requests larger than its window. */
async function serve(
  window: number,
  reply: (request: FakeRequest, summary: boolean) => FakeReply,
  tooLong = (tokens: number) => `prompt is too long: ${tokens} tokens > ${window} maximum`,
): Promise<void> {
  api = await startFakeMessagesApi((request) => {
    const tokens = sizeOf(request);
    if (tokens > window) {
      return { kind: "error", status: 400, type: "invalid_request_error", message: tooLong(tokens) };
    }
    const answer = reply(request, asksForSummary(request));
    return answer.kind === "message"
      ? { ...answer, usage: { input_tokens: tokens, output_tokens: 1 } }
      : answer;
  });
}

describe("compaction near the end of the context window", () => {
  test("replaces old messages with a summary and the current facts, and keeps the newest part", async () => {
    await serve(20_000, (_, summary) => say(summary ? "SUMMARY of it all" : "fine"));
    const ada = agent({ facts: () => "Task 7 is yours." });
    for (let i = 1; i <= 10; i += 1)
      await ada.run(input(`request ${i} ${"y".repeat(8_000)}`, [`k${i}`]), never);
    const asked = api.requests.findIndex(asksForSummary);
    expect(asked).toBeGreaterThan(2);
    for (const request of api.requests) expectValidRequest(request);
    // The prompt is the same, so the server's cache applies.
    expect(api.requests[asked]?.body.system).toEqual(api.requests[asked - 1]?.body.system);
    expect(api.requests[asked]?.body.tools).toEqual(api.requests[asked - 1]?.body.tools);
    const next = textsOf(api.requests[asked + 1] as FakeRequest);
    expect(next).toContain("SUMMARY of it all");
    expect(next).toContain("Task 7 is yours.");
    expect(next).toContain(`request ${asked + 1} `);
    expect(next).not.toContain("request 1 ");
    expect(events.map(({ type }) => type)).toContain("compacted");
    expect(events.filter(({ type }) => type === "model_called")).toHaveLength(api.requests.length);
    // The summary is not shown as text of the agent.
    expect(events.flatMap((event) => (event.type === "text" ? event.text : [])).join("")).not.toContain(
      "SUMMARY",
    );
  });

  test("keeps memory and requests bounded over 1,000 turns", async () => {
    await serve(20_000, () => say("unasked"));
    let summaries = 0;
    let maxTokens = 0;
    const model: Model = {
      name: "m",
      window: 20_000,
      async *stream({ messages }) {
        const text = JSON.stringify(messages);
        const tokens = Math.ceil(text.length / 4);
        maxTokens = Math.max(maxTokens, tokens);
        const isSummary = text.includes(JSON.stringify(ASK_FOR_SUMMARY).slice(1, 60));
        if (isSummary) summaries += 1;
        const content = [{ type: "text", text: isSummary ? "short" : "fine" }] as const;
        yield {
          type: "message",
          message: { role: "assistant", content },
          stopReason: "end_turn",
          usage: { input: tokens, output: 1, cacheRead: 0, cacheWrite: 0 },
        };
      },
    };
    // Writing a thousand lines to disk would take most of the time.
    const transcript = { ...openTranscript(path(), { sessionId: "s1" }), append: () => undefined };
    const ada = agent({ model, transcript });
    let maxMessages = 0;
    for (let i = 0; i < 1_000; i += 1) {
      await ada.run(input(`${i} ${"y".repeat(3_000)}`, [`k${i}`]), never);
      maxMessages = Math.max(maxMessages, ada.messages.length);
    }
    expect(maxMessages).toBeLessThan(40);
    expect(maxTokens).toBeLessThan(20_000);
    expect(summaries).toBeGreaterThan(30);
  });

  test("shortens a single huge tool result and continues the turn", async () => {
    let calls = 0;
    await serve(20_000, (_, summary) => {
      if (summary) return say("SUMMARY");
      calls += 1;
      return calls === 1 ? big(90_000, "t1") : say("seen");
    });
    const ada = agent();
    expect(await ada.run(input("look"), never)).toMatchObject({
      outcome: "completed",
      text: "seen",
      toolCalls: 1,
    });
    for (const request of api.requests) expectValidRequest(request);
    const last = textsOf(api.requests.at(-1) as FakeRequest);
    expect(last).toMatch(/begin x+.*characters were left out.*x+ end/);
    expect(last).toContain("look");
  });

  test("shortens each of several large parallel results", async () => {
    let calls = 0;
    await serve(20_000, (_, summary) => {
      if (summary) return say("SUMMARY");
      calls += 1;
      return calls === 1 ? big(60_000, "t1", "t2", "t3", "t4", "t5") : say("seen");
    });
    expect(await agent().run(input("look"), never)).toMatchObject({ text: "seen" });
    expect(textsOf(api.requests.at(-1) as FakeRequest).match(/begin x/g)).toHaveLength(5);
    for (const request of api.requests) expectValidRequest(request);
  });

  test("keeps the turn's request verbatim even if the turn itself is too long", async () => {
    let calls = 0;
    await serve(20_000, (_, summary) => {
      if (summary) return say("SUMMARY");
      calls += 1;
      return calls < 12 ? big(9_000, `t${calls}`) : say("done");
    });
    await agent().run(input("count the very special thing", ["k1"]), never);
    expect(api.requests.some(asksForSummary)).toBe(true);
    expect(textsOf(api.requests.at(-1) as FakeRequest)).toContain("count the very special thing");
    expect(agent().restoredKeys).toEqual(["k1"]);
  });

  test("keeps the summary if the model refuses to continue the turn", async () => {
    let calls = 0;
    await serve(20_000, (_, summary) => {
      if (summary) return say("SUMMARY");
      calls += 1;
      if (calls === 12) return { ...say("I cannot."), stopReason: "refusal" } as FakeReply;
      return calls < 12 ? big(9_000, `t${calls}`) : say("done");
    });
    const ada = agent();
    expect(await ada.run(input("count the very special thing"), never)).toMatchObject({ outcome: "failed" });
    expect(events.map(({ type }) => type)).toContain("compacted");
    for (const next of [ada, agent()]) {
      expect(await next.run(input("and now?"), never)).toMatchObject({ outcome: "completed" });
      const sent = api.requests.at(-1) as FakeRequest;
      expectValidRequest(sent);
      expect(textsOf(sent)).toMatch(/SUMMARY.*refused to continue.*and now\?/);
      expect(textsOf(sent)).not.toContain("very special thing");
    }
  });

  test("removes thinking blocks, which are valid only after the original messages", async () => {
    const thinking = { type: "thinking", thinking: "hm", signature: "s" } as const;
    await serve(20_000, (_, summary) =>
      summary ? say("SUMMARY") : { kind: "message", blocks: [thinking, { type: "text", text: "fine" }] },
    );
    const ada = agent();
    for (let i = 1; i <= 25; i += 1) await ada.run(input(`${i} ${"y".repeat(2_000)}`), never);
    const asked = api.requests.findIndex(asksForSummary);
    expect(textsOf(api.requests[asked] as FakeRequest)).toContain('"thinking"');
    expect(textsOf(api.requests[asked + 1] as FakeRequest)).not.toContain('"thinking"');
  });

  test("removes thinking blocks from a summary request that had to be shortened", async () => {
    const thinking = { type: "thinking", thinking: "hm", signature: "s" } as const;
    await serve(200_000, (_, summary) =>
      summary ? say("SUMMARY") : { kind: "message", blocks: [thinking, { type: "text", text: "fine" }] },
    );
    const ada = agent();
    for (let i = 1; i <= 3; i += 1) await ada.run(input(`${i} ${"y".repeat(15_000)}`), never);
    const asked = textsOf(api.requests.find(asksForSummary) as FakeRequest);
    expect(asked).toContain("were left out to make room");
    expect(asked).not.toContain('"thinking"');
  });

  test("leaves the conversation unchanged if it is interrupted", async () => {
    const controller = new AbortController();
    await serve(20_000, (_, summary) => (summary ? { kind: "hang" } : say("fine")));
    const ada = agent({
      onEvent: (event) => {
        if (event.type === "compacting") void api.received(count + 1).then(() => controller.abort());
      },
    });
    let count = 0;
    let result = await ada.run(input("y".repeat(8_000)), controller.signal);
    while (result.outcome === "completed") {
      count = api.requests.length;
      result = await ada.run(input("y".repeat(8_000)), controller.signal);
    }
    expect(result.outcome).toBe("interrupted");
    expect(ada.messages.length).toBeGreaterThan(8);
  });

  test("fails the turn if the summary fails, and loses no messages", async () => {
    let broken = true;
    await serve(20_000, (_, summary) => {
      if (!summary) return say("fine");
      return broken
        ? { kind: "error", status: 401, type: "authentication_error", message: "no" }
        : say("SUMMARY");
    });
    const ada = agent();
    let result = await ada.run(input("y".repeat(8_000)), never);
    while (result.outcome === "completed") result = await ada.run(input("y".repeat(8_000)), never);
    expect(result).toMatchObject({ outcome: "failed", failure: expect.stringContaining("401 no") });
    const before = ada.messages.length;
    broken = false;
    expect((await ada.run(input("again"), never)).outcome).toBe("completed");
    expect(ada.messages.length).toBeLessThan(before);
  });
});

test("compaction of a recorded agent › is no turn of the playbook", async () => {
  await serve(20_000, (_, summary) => say(summary ? "SUMMARY" : "fine"));
  const said: (string | undefined)[] = [];
  const facts = { window: 20_000 };
  const model = recordingModel(anthropicModel({ model: "m", apiKey: "k", baseUrl: api.url, facts }), {
    run: { cwd: join(home, "work"), team: "crew", secrets: [] },
    record: ({ say: text }) => said.push(text),
  });
  const ada = agent({ model });
  for (let i = 0; i < 10; i += 1) await ada.run(input("y".repeat(8_000)), never);
  expect(events.map(({ type }) => type)).toContain("compacted");
  expect(said).toEqual(Array.from({ length: 10 }, () => "fine"));
});

describe("compaction with an unusable summary", () => {
  const tool: FakeReply = {
    kind: "message",
    blocks: [
      { type: "text", text: "Let me look once more." },
      { type: "tool_use", id: "t", name: "Big", input: { characters: 1 } },
    ],
    stopReason: "tool_use",
  };
  const stopped = (text: string, stopReason: string): FakeReply => ({
    kind: "message",
    blocks: text === "" ? [] : [{ type: "text", text }],
    stopReason,
  });

  /** Runs turns until the first compaction, with these answers to its summary requests; returns those requests and the next one. */
  async function compactWith(...answers: readonly FakeReply[]) {
    let asked = 0;
    await serve(20_000, (_, summary) => {
      if (!summary) return say("fine");
      asked += 1;
      return answers[asked - 1] ?? say("LATE");
    });
    const ada = agent();
    let i = 0;
    while (!events.some(({ type }) => type === "compacted")) {
      i += 1;
      const result = await ada.run(input(`rule ${i}: MANGO-${i} ${"y".repeat(6_000)}`), never);
      expect(result).toMatchObject({ outcome: "completed", text: "fine" });
    }
    for (const request of api.requests) expectValidRequest(request);
    return { asks: api.requests.filter(asksForSummary), next: textsOf(api.requests.at(-1) as FakeRequest) };
  }
  const missingSummary = () =>
    events.flatMap((event) => (event.type === "compacted" ? [event.noSummary] : []));

  test.each<[string, FakeReply]>([
    ["a tool call", tool],
    ["a tool call with the stop reason end_turn", { ...tool, stopReason: "end_turn" }],
    ["an empty answer", stopped("", "end_turn")],
    ["a refusal", stopped("I cannot.", "refusal")],
    ["a truncated summary", stopped("1. What was ask", "max_tokens")],
  ])("asks again with the same prompt and without tool calls after %s", async (_, first) => {
    const { asks, next } = await compactWith(first, say("SUMMARY"));
    expect(asks.map(({ body }) => body.tool_choice)).toEqual([undefined, { type: "none" }]);
    expect(asks[1]?.body.tools).toEqual(asks[0]?.body.tools);
    expect(textsOf(asks[1] as FakeRequest)).toContain(JSON.stringify(ASK_AGAIN).slice(1, 40));
    expect(next).toContain("SUMMARY");
    expect(next).not.toMatch(/look once more|I cannot|What was ask"/);
    expect(missingSummary()).toEqual([undefined]);
  });

  test("keeps the received messages and reports the reason after two failed attempts", async () => {
    const { asks, next } = await compactWith(tool, tool);
    expect(asks).toHaveLength(2);
    expect(next).toContain("This part could not be summarised: the model returned no summary.");
    expect(next.slice(0, 9_000)).toMatch(/The newest messages to you in this part.*MANGO-2/);
    expect(missingSummary()).toEqual(["the model returned no summary"]);
  });

  test("keeps an earlier summary if a later one is missing", async () => {
    let asked = 0;
    await serve(20_000, (_, summary) => {
      if (!summary) return say("fine");
      asked += 1;
      return asked === 1 ? say("SUMMARY") : tool;
    });
    const ada = agent();
    while (missingSummary().length < 2) {
      const result = await ada.run(input(`request ${"y".repeat(12_000)}`), never);
      expect(result).toMatchObject({ outcome: "completed", text: "fine" });
    }
    expect(missingSummary()).toEqual([undefined, "the model returned no summary"]);
    expect(textsOf(api.requests.at(-1) as FakeRequest)).toMatch(
      /could not be summarised.*# The summary of the conversation before this part.*SUMMARY/,
    );
  });

  test("uses a summary that is truncated twice", async () => {
    expect(
      (await compactWith(stopped("half", "max_tokens"), stopped("HALF OF IT", "max_tokens"))).next,
    ).toContain("HALF OF IT");
  });

  test("continues without a summary if the server rejects tool_choice", async () => {
    const unknown = {
      kind: "error",
      status: 400,
      type: "invalid_request_error",
      message: "tool_choice?",
    } as const;
    expect((await compactWith(tool, unknown)).next).toContain("the model returned no summary");
  });
});

describe("conversation too long for the server", () => {
  test.each([
    ["Anthropic's sentence", (tokens: number) => `prompt is too long: ${tokens} tokens > 6000 maximum`],
    [
      "Anthropic's other sentence",
      () => "input length and `max_tokens` exceed context limit: 5000 + 4000 > 6000, decrease input length",
    ],
    ["the sentence of another server", () => "This model's maximum context length is 6000 tokens."],
    ["a sentence without a number", () => "Input is too long for requested model."],
  ])("is compacted and sent again after %s", async (_, sentence) => {
    await serve(6_000, (_request, summary) => say(summary ? "SUMMARY" : "fine"), sentence);
    // The agent assumes a far larger window.
    const ada = agent({ window: 200_000 });
    for (let i = 1; i <= 8; i += 1) {
      expect(await ada.run(input(`request ${i} ${"y".repeat(4_000)}`), never)).toMatchObject({
        text: "fine",
      });
    }
    expect(api.requests.some(asksForSummary)).toBe(true);
  });

  test.each([
    ["that counts very few tokens", "It is too large."],
    ["that names a limit of another kind", "The limit of 100 MB is exceeded."],
  ])("is compacted only once after one refusal by a server %s", async (_, message) => {
    let refusals = 0;
    const tooLong: FakeReply = { kind: "error", status: 413, type: "request_too_large", message };
    api = await startFakeMessagesApi((request) => {
      if (asksForSummary(request)) return say("SUMMARY");
      if (refusals === 0) return { ...say("fine"), usage: { input_tokens: 200, output_tokens: 1 } };
      refusals -= 1;
      return tooLong;
    });
    const ada = agent({ window: 50_000 });
    for (let i = 1; i <= 9; i += 1) await ada.run(input(`request ${i} ${"y".repeat(8_000)}`), never);
    refusals = 1;
    for (let i = 1; i <= 4; i += 1) await ada.run(input("go on"), never);
    const compactions = () => events.filter(({ type }) => type === "compacted");
    expect(compactions()).toHaveLength(1);
    for (const { before, after } of compactions() as { before: number; after: number }[]) {
      expect(after).toBeLessThan(before);
    }
  });

  test("is compacted if answers exceed a window smaller than assumed", async () => {
    api = await startFakeMessagesApi((request) => {
      if (asksForSummary(request)) return say("SUMMARY");
      const full = { ...say("One"), stopReason: "model_context_window_exceeded" } as FakeReply;
      return sizeOf(request) > 6_000 ? full : say("fine");
    });
    const ada = agent({ window: 200_000 });
    for (let i = 1; i <= 8; i += 1) {
      const turn = await ada.run(input(`request ${i} ${"y".repeat(4_000)}`), never);
      expect(turn.outcome).toBe("completed");
    }
    expect(api.requests.some(asksForSummary)).toBe(true);
  });

  test("is shortened for the summary request, and compacted without a summary if the request never fits", async () => {
    await serve(100_000, (_, summary) =>
      summary
        ? { kind: "error", status: 400, type: "invalid_request_error", message: "prompt is too long" }
        : say("fine"),
    );
    const ada = agent();
    for (let i = 1; i <= 8; i += 1) await ada.run(input(`request ${i} ${"y".repeat(8_000)}`), never);
    const shown = api.requests.filter(asksForSummary).map(sizeOf);
    expect(shown.length).toBeGreaterThanOrEqual(4);
    expect(shown[3]).toBeLessThan((shown[0] ?? 0) / 2);
    const next = textsOf(api.requests.at(-1) as FakeRequest);
    expect(next).toContain("This part could not be summarised: it was too long for the model.");
    // As many of the received messages as fit are kept, and the event reports the missing summary.
    expect(next.slice(0, 9_000)).toMatch(/The newest messages to you in this part.*request \d/);
    expect(events).toContainEqual(
      expect.objectContaining({ type: "compacted", noSummary: "it was too long for the model" }),
    );
  });

  test("fails the turn with the server's message if even a short conversation is refused", async () => {
    await serve(
      0,
      () => say("never"),
      () => "prompt is too long: 1 tokens > 0 maximum",
    );
    expect(await agent().run(input("hi"), never)).toMatchObject({
      outcome: "failed",
      failure: expect.stringContaining("prompt is too long"),
    });
    expect(api.requests.length).toBeLessThan(20);
    // Each refusal compacts once; a conversation that is already compact is not compacted again.
    expect(events.filter(({ type }) => type === "compacting")).toHaveLength(3);
  });

  test("is compacted in the middle of an answer, which then continues", async () => {
    let calls = 0;
    await serve(20_000, (_, summary) => {
      calls += 1;
      if (summary) return say("SUMMARY");
      return calls === 3
        ? {
            kind: "message",
            blocks: [{ type: "text", text: "One" }],
            stopReason: "model_context_window_exceeded",
          }
        : say("two.");
    });
    const ada = agent();
    await ada.run(input("a ".repeat(8_000)), never);
    await ada.run(input("b ".repeat(4_000)), never);
    expect(await ada.run(input("c"), never)).toMatchObject({ outcome: "completed", text: "Onetwo." });
    expect(api.requests.filter(asksForSummary)).toHaveLength(1);
    expectValidRequest(api.requests.at(-1) as FakeRequest);
  });
});

test("conversation too long for a fallback model › is compacted once, and keeps the window of the agent's own model", async () => {
  await serve(20_000, () => say("unasked"));
  const own = { name: "own", window: 200_000 };
  let used = own;
  const model: Model = {
    get name() {
      return used.name;
    },
    get window() {
      return used.window;
    },
    async *stream({ messages }) {
      const text = JSON.stringify(messages);
      const tokens = Math.ceil(text.length / 4);
      const { window: limit } = used;
      if (tokens > limit) throw new ModelError("too_long", "prompt is too long", 400, { limit });
      yield {
        type: "message",
        message: { role: "assistant", content: [{ type: "text", text: "fine" }] },
        stopReason: "end_turn",
        usage: { input: tokens, output: 1, cacheRead: 0, cacheWrite: 0 },
      };
    },
  };
  const ada = agent({ model });
  const runTurns = async () => {
    for (let i = 0; i < 12; i += 1)
      expect(await ada.run(input("y".repeat(8_000)), never)).toMatchObject({ outcome: "completed" });
  };
  const compactions = () => events.filter(({ type }) => type === "compacted");
  await runTurns();
  used = { name: "spare", window: 20_000 };
  await ada.run(input("go on"), never);
  expect(compactions()).toHaveLength(1);
  used = own;
  await runTurns();
  expect(compactions()).toHaveLength(1);
  expect(openTranscript(path(), { sessionId: "s1" }).restored.window).toBeUndefined();
});

describe("resumed compacted conversation (S51)", () => {
  test("restores messages, message keys, tokens and costs", async () => {
    await serve(20_000, (_, summary) => say(summary ? "SUMMARY" : "fine"));
    const first = agent();
    for (let i = 1; i <= 6; i += 1)
      await first.run(input(`request ${i} ${"y".repeat(8_000)}`, [`k${i}`]), never);
    expect(api.requests.some(asksForSummary)).toBe(true);
    const again = agent();
    expect(again.messages).toEqual(first.messages);
    expect([...again.handledKeys]).toEqual(["k1", "k2", "k3", "k4", "k5", "k6"]);
    expect(again.restoredKeys).toEqual(["k6"]);
    expect(again.tokens).toEqual(first.tokens);
    expect(again.costUsd).toBeCloseTo(first.costUsd);
    expect(again.tokens.input).toBe(api.requests.reduce((sum, request) => sum + sizeOf(request), 0));
    expect(again.costUsd).toBeCloseTo((again.tokens.input + again.tokens.output) / 1_000_000);
  });

  test("remembers the window that the server reported, until the model changes", async () => {
    await serve(6_000, (_, summary) => say(summary ? "SUMMARY" : "fine"));
    const refused = () =>
      events.filter(({ type, ...event }) => type === "model_called" && "failure" in event).length;
    const first = agent({ window: 200_000 });
    for (let i = 1; i <= 8; i += 1) await first.run(input(`${i} ${"y".repeat(4_000)}`), never);
    const before = refused();
    expect(before).toBeGreaterThan(0);
    const again = agent({ window: 200_000 });
    for (let i = 1; i <= 8; i += 1) await again.run(input(`${i} ${"y".repeat(4_000)}`), never);
    expect(refused()).toBe(before);
    const other = anthropicModel({
      model: "other",
      apiKey: "k",
      baseUrl: api.url,
      facts: { window: 200_000 },
    });
    const changed = agent({ model: other });
    for (let i = 1; i <= 8; i += 1) await changed.run(input(`${i} ${"y".repeat(4_000)}`), never);
    expect(refused()).toBeGreaterThan(before);
  });

  test("is read back to its newest compaction, or further back if that line is damaged", async () => {
    await serve(20_000, (_, summary) => say(summary ? "SUMMARY" : "fine"));
    const ada = agent();
    for (let i = 1; i <= 6; i += 1) await ada.run(input(`request ${i} ${"y".repeat(8_000)}`), never);
    const text = readFileSync(path(), "utf8");
    writeFileSync(path(), text.replace(/\{"type":"user"/, "rubbish"));
    expect(agent().messages).toEqual(ada.messages);
    writeFileSync(
      path(),
      text.replace('{"type":"compacted","messages":[', '{"type":"compacted","messages":7['),
    );
    expect(JSON.stringify(agent().messages)).toContain("request 1 ");
  });
});
