import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { type AnthropicOptions, anthropicModel } from "../../../src/agent/model/anthropic.ts";
import type { ConversationMessage, ModelEvent, ModelRequest } from "../../../src/agent/model/model.ts";
import {
  type FakeMessagesApi,
  type FakeOptions,
  type FakeReply,
  type FakeScript,
  startFakeMessagesApi,
} from "../../support/model/fake-messages-api.ts";

let api: FakeMessagesApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

async function serve(script: FakeScript, options?: FakeOptions): Promise<FakeMessagesApi> {
  api = await startFakeMessagesApi(script, options);
  return api;
}

const HELLO = { kind: "message", blocks: [{ type: "text", text: "Hello dear world" }] } as const;
const QUESTION: ModelRequest = {
  system: "Be brief.",
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  tools: [{ name: "Read", description: "Reads", inputSchema: { type: "object", properties: {} } }],
};

interface Played {
  readonly events: readonly ModelEvent[];
  readonly slept: readonly number[];
  readonly error?: unknown;
}

/** Runs one call to its end, without delays between attempts. */
async function play(
  server: FakeMessagesApi,
  options: Partial<AnthropicOptions> = {},
  request = QUESTION,
  signal = new AbortController().signal,
): Promise<Played> {
  const slept: number[] = [];
  const model = anthropicModel({
    model: "fake-1",
    apiKey: "key-of-a-test",
    baseUrl: server.url,
    random: () => 0,
    sleep: async (ms) => slept.push(ms),
    ...options,
  });
  const events: ModelEvent[] = [];
  try {
    for await (const event of model.stream(request, signal)) events.push(event);
  } catch (error) {
    return { events, slept, error };
  }
  return { events, slept };
}

const textOf = (events: readonly ModelEvent[]): string =>
  events.map((event) => (event.type === "text" ? event.text : "")).join("");
const lastOf = (events: readonly ModelEvent[]): Extract<ModelEvent, { type: "message" }> => {
  const last = events.at(-1);
  if (last?.type !== "message") throw new Error(`the stream ended with ${JSON.stringify(last)}`);
  return last;
};

describe("anthropicModel", () => {
  test("streams text in pieces and ends with the whole text and its usage", async () => {
    const usage = {
      input_tokens: 12,
      output_tokens: 34,
      cache_read_input_tokens: 56,
      cache_creation_input_tokens: 78,
    };
    const { events } = await play(await serve([{ ...HELLO, usage } as FakeReply]));
    expect(events.filter(({ type }) => type === "text")).toHaveLength(3);
    expect(textOf(events)).toBe("Hello dear world");
    expect(lastOf(events)).toEqual({
      type: "message",
      message: { role: "assistant", content: [{ type: "text", text: "Hello dear world" }] },
      stopReason: "end_turn",
      usage: { input: 12, output: 34, cacheRead: 56, cacheWrite: 78 },
    });
  });

  test("accepts an answer without usage data", async () => {
    const withoutUsage: FakeReply = {
      ...HELLO,
      change: (event) =>
        event.type === "message_start" ? { ...event, message: { usage: null } } : { ...event, usage: null },
    };
    const { events } = await play(await serve([withoutUsage]));
    expect(textOf(events)).toBe("Hello dear world");
    expect(lastOf(events).usage).toEqual({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 });
  });

  test("returns tool calls with their complete input", async () => {
    const blocks = [
      { type: "text", text: "I look." },
      { type: "tool_use", id: "toolu_1", name: "Read", input: { file_path: '/a "b"', limit: 3 } },
      { type: "tool_use", id: "toolu_2", name: "Read", input: {} },
    ] as const;
    const last = lastOf((await play(await serve([{ kind: "message", blocks }]))).events);
    expect(last.message.content).toEqual(blocks);
    expect(last.stopReason).toBe("tool_use");
  });

  test("reports thinking, and sends its blocks back unchanged, with their signature", async () => {
    const thinking = { type: "thinking", thinking: "Hm.", signature: "c2ln" } as const;
    const redacted = { type: "redacted_thinking", data: "eHg=" } as const;
    const blocks = [thinking, redacted, { type: "text", text: "Yes." }] as const;
    const server = await serve([{ kind: "message", blocks }]);
    const { events } = await play(server);
    expect(events.slice(0, 2)).toEqual([
      { type: "thinking", text: "Hm." },
      { type: "text", text: "Yes." },
    ]);
    const { message } = lastOf(events);
    const messages: ConversationMessage[] = [
      ...QUESTION.messages,
      message,
      { role: "user", content: [{ type: "text", text: "Why?" }] },
    ];
    await play(server, {}, { ...QUESTION, messages });
    expect(server.requests[1]?.body.messages[1]).toEqual({ role: "assistant", content: blocks });
  });

  test("marks the system prompt, the tools and the newest message for the cache", async () => {
    const server = await serve([HELLO]);
    await play(server);
    const { body } = server.requests[0] ?? {};
    const marker = { type: "ephemeral" };
    expect(body.system).toEqual([{ type: "text", text: "Be brief.", cache_control: marker }]);
    expect(body.tools[0].cache_control).toEqual(marker);
    expect(body.messages.at(-1).content.at(-1).cache_control).toEqual(marker);
    expect(body).toMatchObject({ model: "fake-1", stream: true });
  });

  test("merges consecutive messages of one role, tool results first, and omits empty ones", async () => {
    const server = await serve([HELLO]);
    const messages: ConversationMessage[] = [
      { role: "user", content: [{ type: "text", text: "one" }] },
      { role: "assistant", content: [], unfinished: true, turn: "a/0" },
      { role: "user", content: [{ type: "text", text: "two" }] },
      { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "Read", input: {} }] },
      { role: "user", content: [{ type: "text", text: "three" }] },
      {
        role: "user",
        content: [{ type: "tool_result", toolUseId: "t1", content: "", isError: true, data: { secret: 1 } }],
      },
    ];
    await play(server, {}, { ...QUESTION, messages });
    const sent = server.requests[0]?.body.messages;
    expect(sent.map(({ role }: { role: string }) => role)).toEqual(["user", "assistant", "user"]);
    expect(sent[0].content.map(({ text }: { text: string }) => text)).toEqual(["one", "two"]);
    expect(sent[2].content[0]).toEqual({
      type: "tool_result",
      tool_use_id: "t1",
      content: "(empty)",
      is_error: true,
    });
    expect(sent[2].content[1]).toMatchObject({ type: "text", text: "three" });
  });

  test("sends an API key as x-api-key and a token as a bearer", async () => {
    const server = await serve([HELLO], { key: "right" });
    expect((await play(server, { apiKey: "right" })).error).toBeUndefined();
    expect((await play(server, { apiKey: "", authToken: "right" })).error).toBeUndefined();
    expect(server.requests[0]?.headers["x-api-key"]).toBe("right");
    expect(server.requests[1]?.headers).toMatchObject({ authorization: "Bearer right" });
    expect(server.requests[1]?.headers["x-api-key"]).toBeUndefined();
  });

  test("accepts a custom server without a key", async () => {
    expect((await play(await serve([HELLO]), { apiKey: "" })).error).toBeUndefined();
  });

  test.each([
    ["max_tokens", "max_tokens"],
    ["refusal", "refusal"],
    ["stop_sequence", "end_turn"],
    ["model_context_window_exceeded", "window_exceeded"],
    ["pause_turn", "pause_turn"],
    ["something_new", "end_turn"],
  ])("maps the stop reason %s to %s", async (stopReason, mapped) => {
    const { events } = await play(await serve([{ ...HELLO, stopReason } as FakeReply]));
    expect(lastOf(events).stopReason).toBe(mapped);
  });

  test("wraps truncated tool input in an object that no tool accepts", async () => {
    const input = { file_path: "/some/where" };
    const block = { type: "tool_use", id: "t", name: "Read", input } as const;
    const server = await serve([
      { kind: "message", blocks: [block], stopReason: "max_tokens", dropDelta: 4 },
    ]);
    const last = lastOf((await play(server)).events);
    expect(last.message.content).toEqual([
      { ...block, input: { incomplete_json: expect.stringContaining("file_path") } },
    ]);
  });

  test.each([
    ["max_tokens", { incomplete_json: "" }],
    ["model_context_window_exceeded", { incomplete_json: "" }],
    ["tool_use", {}],
  ])("returns the input of a call that %s ended before its input as %j", async (stopReason, input) => {
    const block = { type: "tool_use", id: "t", name: "mcp__any__thing", input: {}, json: "" } as const;
    const last = lastOf((await play(await serve([{ kind: "message", blocks: [block], stopReason }]))).events);
    expect(last.message.content).toEqual([{ type: "tool_use", id: "t", name: "mcp__any__thing", input }]);
  });
});

describe("anthropicModel, failures", () => {
  const busy = (status: number, type: string, headers: Record<string, string> = {}): FakeReply => ({
    kind: "error",
    status,
    type,
    message: "busy",
    headers,
  });

  test("retries 429 and 529 after the delay that the server names", async () => {
    const { events, slept } = await play(
      await serve([
        busy(429, "rate_limit_error", { "retry-after": "7" }),
        busy(529, "overloaded_error", { "retry-after-ms": "250" }),
        HELLO,
      ]),
    );
    expect(slept).toEqual([7000, 250]);
    expect(events.slice(0, 2)).toEqual([
      { type: "retry", attempt: 1, delayMs: 7000, status: 429, reason: "429 busy" },
      { type: "retry", attempt: 2, delayMs: 250, status: 529, reason: "529 busy" },
    ]);
    expect(textOf(events)).toBe("Hello dear world");
  });

  test("accepts a date in retry-after", async () => {
    const clock = { now: () => Date.parse("2026-01-01T00:00:00Z") };
    const headers = { "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" };
    const { slept } = await play(await serve([busy(429, "rate_limit_error", headers), HELLO]), { clock });
    expect(slept).toEqual([30_000]);
  });

  test("retries 500 with growing delays and gives up after 10 attempts", async () => {
    const server = await serve([busy(500, "api_error")]);
    const { error, slept } = await play(server);
    expect(error).toMatchObject({ name: "ModelError", kind: "server", status: 500 });
    expect(server.requests).toHaveLength(10);
    expect(slept.slice(0, 4)).toEqual([1000, 2000, 4000, 8000]);
    expect(Math.max(...slept)).toBe(60_000);
  });

  test.each([
    [429, { "retry-after": "86400" }, "slow down", 86_400],
    [503, { "retry-after": "3600" }, "maintenance", 3_600],
    [429, { "anthropic-ratelimit-unified-reset": "1767229200" }, "slow down", 3_600],
    [
      429,
      {
        "anthropic-ratelimit-tokens-remaining": "0",
        "anthropic-ratelimit-tokens-reset": "2026-01-01T00:30:00Z",
        "anthropic-ratelimit-requests-remaining": "7",
        "anthropic-ratelimit-requests-reset": "2026-01-01T09:00:00Z",
      },
      "slow down",
      1_800,
    ],
    [
      400,
      {},
      "You have reached your specified API usage limits. You will regain access on 2026-01-02 at 00:00 UTC.",
      86_400,
    ],
    [429, {}, "Claude AI usage limit reached|1767229200", 3_600],
    [429, {}, "Usage limit reached. Try again in 2h 30m.", 9_000],
    [403, {}, "Your credit balance is too low to access the API.", undefined],
  ] as const)("fails with the kind limited on %i %j %s", async (status, headers, message, seconds) => {
    const clock = { now: () => Date.parse("2026-01-01T00:00:00Z") };
    const server = await serve([{ kind: "error", status, type: "error", message, headers }]);
    const resumeAt = seconds === undefined ? undefined : clock.now() + seconds * 1_000;
    const { error, slept } = await play(server, { clock });
    expect(error).toMatchObject({ kind: "limited", status, resumeAt });
    expect(slept).toEqual([]);
  });

  test("fails with the kind limited after 10 attempts with 429, but waits for a limit that ends within a minute", async () => {
    const server = await serve([busy(429, "rate_limit_error")]);
    expect((await play(server)).error).toMatchObject({ kind: "limited", resumeAt: undefined });
    expect(server.requests).toHaveLength(10);
    const message = "Your limit resets in 30 seconds.";
    const soon = await serve([{ kind: "error", status: 429, type: "rate_limit_error", message }, HELLO]);
    expect((await play(soon)).slept).toEqual([30_000]);
  });

  test.each([
    ["me:word@model.test", "model.test"],
    ["https://me:wo#rd@model.test", "https://model.test"],
    ["https://me:wo/rd@model.test", "https://model.test"],
  ])("refuses the base URL %s without showing its credentials", async (baseUrl, shown) => {
    const server = await serve([HELLO]);
    const { error, slept } = await play(server, { baseUrl });
    const message = expect.stringContaining(`ANTHROPIC_BASE_URL is not an HTTP URL: ${shown}. Nothing`);
    expect(error).toMatchObject({ name: "ModelError", kind: "invalid_request", message });
    expect(slept).toEqual([]);
  });

  test("reports an invalid key without a retry", async () => {
    const server = await serve([HELLO], { key: "right" });
    const { error, slept } = await play(server, { apiKey: "wrong" });
    expect(error).toMatchObject({
      kind: "auth",
      status: 401,
      message: expect.stringMatching(/^401 invalid x-api-key\. Check ANTHROPIC_API_KEY .*doctor --online$/),
    });
    expect(slept).toEqual([]);
  });

  test.each([
    [200, "text/html; charset=utf-8", /^The server answered with a web page.*ANTHROPIC_BASE_URL/],
    [404, "text/html", /^404 The server answered with a web page.*ANTHROPIC_BASE_URL/],
    [
      404,
      "text/plain",
      /^404 page not found\. Check ANTHROPIC_BASE_URL\. To test it: teams doctor --online$/,
    ],
    [200, "application/json; charset=utf-8", /^The server answered with JSON, but .*ANTHROPIC_BASE_URL/],
  ])("reports a server without the Messages API (%i, %s) without a retry", async (status, type, message) => {
    let asked = 0;
    const page = createServer((_, response) => {
      asked += 1;
      response.writeHead(status, { "content-type": type });
      if (type.startsWith("text/html")) response.end("<!doctype html><title>Sign in</title>");
      else response.end(type === "text/plain" ? "page not found" : '{"type":"message","content":[]}');
    });
    await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void page.close());
    const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
    const { error, slept } = await play({ url } as FakeMessagesApi);
    expect(error).toMatchObject({ kind: "invalid_request", message: expect.stringMatching(message) });
    expect([asked, slept]).toEqual([1, []]);
  });

  test.each([
    ["message_start", "message"],
    ["content_block_start", "content_block"],
    ["content_block_delta", "delta"],
    ["message_delta", "delta"],
  ])("reports an event %s without its %s without a retry", async (type, part) => {
    const bare = { type, index: 0 };
    const reply: FakeReply = { ...HELLO, change: (event) => (event.type === type ? bare : event) };
    const { error, slept } = await play(await serve([reply]));
    const message = expect.stringContaining(`(its event ${type} has no ${part}). Check ANTHROPIC_BASE_URL.`);
    expect(error).toMatchObject({ kind: "invalid_request", message });
    expect(slept).toEqual([]);
  });

  test("fails without a request if there is no key", async () => {
    const model = anthropicModel({ model: "fake-1" });
    const call = model.stream(QUESTION, new AbortController().signal)[Symbol.asyncIterator]();
    await expect(call.next()).rejects.toMatchObject({ kind: "auth" });
  });

  test("sends nothing with a damaged key, and names the character but not the key, without a retry", async () => {
    const server = await serve([HELLO]);
    const { error, slept } = await play(server, { apiKey: "\u201ckey-of-a-test\u201d" });
    expect(error).toMatchObject({
      kind: "auth",
      message: expect.stringContaining("ANTHROPIC_API_KEY contains the character U+201C"),
    });
    expect([slept, server.requests, String(error)]).toEqual([[], [], expect.not.stringContaining("key-of")]);
  });

  test.each(["notaurl", "ftp://127.0.0.1/", ""])("rejects the invalid base URL %j", async (baseUrl) => {
    const model = anthropicModel({ model: "fake-1", apiKey: "k", baseUrl });
    const call = model.stream(QUESTION, new AbortController().signal)[Symbol.asyncIterator]();
    await expect(call.next()).rejects.toMatchObject({ kind: "invalid_request" });
  });

  test("lowers max_tokens to the model's maximum and keeps it for later calls", async () => {
    const server = await serve(({ body }) =>
      body.max_tokens > 8192
        ? {
            kind: "error",
            status: 400,
            type: "invalid_request_error",
            message: `max_tokens: ${body.max_tokens} > 8192, which is the maximum allowed number of output tokens for fake-1`,
          }
        : HELLO,
    );
    const model = anthropicModel({ model: "fake-1", apiKey: "k", baseUrl: server.url });
    for (let i = 0; i < 2; i += 1) {
      const events: ModelEvent[] = [];
      for await (const event of model.stream(QUESTION, new AbortController().signal)) events.push(event);
      expect(textOf(events)).toBe("Hello dear world");
      expect(events.map(({ type }) => type)).not.toContain("retry");
    }
    expect(server.requests.map(({ body }) => body.max_tokens)).toEqual([32_000, 8192, 8192]);
  });

  test.each([
    [200_000, 32_000],
    [32_000, 8_000],
  ])("limits the answer in a window of %i tokens to %i", async (window, answer) => {
    const server = await serve([HELLO]);
    await play(server, { facts: { window } });
    expect(server.requests[0]?.body.max_tokens).toBe(answer);
  });

  test("does not retry an invalid request", async () => {
    const server = await serve([busy(400, "invalid_request_error")]);
    expect((await play(server)).error).toMatchObject({ kind: "invalid_request", status: 400 });
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ["by the network", false, /^The model's server began to answer, but failed: ./],
    ["by a server that ends early", true, /^The server's answer was cut off$/],
  ])("restarts a stream that is cut %s and discards its partial text", async (_, cutCleanly, reason) => {
    const server = await serve([{ ...HELLO, cutAfter: 5, cutCleanly } as FakeReply, HELLO]);
    const { events } = await play(server);
    const kinds = events.map(({ type }) => type);
    expect(kinds.slice(kinds.indexOf("restart"), kinds.indexOf("restart") + 2)).toEqual(["restart", "retry"]);
    expect(events).toContainEqual(expect.objectContaining({ reason: expect.stringMatching(reason) }));
    expect(textOf(events.slice(kinds.indexOf("restart")))).toBe("Hello dear world");
    expect(lastOf(events).message.content).toEqual([{ type: "text", text: "Hello dear world" }]);
  });

  test("classifies an error inside a stream by its type", async () => {
    const overloaded: FakeReply = { kind: "stream-error", type: "overloaded_error", message: "Overloaded" };
    const { events } = await play(await serve([overloaded, HELLO]));
    expect(events.find(({ type }) => type === "retry")).toMatchObject({ status: 529 });
    const wrong: FakeReply = { kind: "stream-error", type: "invalid_request_error", message: "too long" };
    await api?.close();
    expect((await play(await serve([wrong]))).error).toMatchObject({ kind: "invalid_request" });
  });

  test("retries a connection that breaks before the response", async () => {
    const { events } = await play(await serve([{ kind: "refuse" }, HELLO]));
    expect(events[0]).toMatchObject({ type: "retry", status: undefined });
    expect(textOf(events)).toBe("Hello dear world");
  });

  test("reports the cause if no server listens", async () => {
    const server = await serve([HELLO]);
    await server.close();
    expect((await play(server)).error).toMatchObject({
      kind: "connection",
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });
});

describe("anthropicModel, abort", () => {
  test.each<[string, FakeReply]>([
    ["before the response", { kind: "hang" }],
    ["in the middle of the text", { ...HELLO, paceMs: 600_000 } as FakeReply],
  ])("ends the call at once %s", async (_, reply) => {
    const server = await serve([reply]);
    const controller = new AbortController();
    const call = play(server, {}, QUESTION, controller.signal);
    await server.received(1);
    controller.abort();
    expect((await call).error).toMatchObject({ name: "AbortError" });
  });

  test("ends the call at once while it waits to retry", async () => {
    const headers = { "retry-after": "50" };
    const server = await serve([{ kind: "error", status: 429, type: "rate_limit_error", headers }]);
    const controller = new AbortController();
    const model = anthropicModel({ model: "fake-1", apiKey: "k", baseUrl: server.url });
    const events: ModelEvent[] = [];
    const call = (async () => {
      for await (const event of model.stream(QUESTION, controller.signal)) {
        events.push(event);
        controller.abort();
      }
    })();
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
    expect(events).toMatchObject([{ type: "retry", delayMs: expect.any(Number) }]);
    expect(server.requests).toHaveLength(1);
  });
});
