import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** A block of an answer in the format of the Messages API; thinking blocks are passed on unchanged. */
export type FakeBlock =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "tool_use";
      readonly id: string;
      readonly name: string;
      readonly input: unknown;
      /** Sent instead of the input. */
      readonly json?: string;
    }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string };

export interface FakeUsage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cache_read_input_tokens?: number;
  readonly cache_creation_input_tokens?: number;
}

export type FakeReply =
  | {
      readonly kind: "message";
      readonly blocks: readonly FakeBlock[];
      readonly stopReason?: string;
      readonly usage?: FakeUsage;
      /** The event with this index is left out, as if the model had stopped before it. */
      readonly dropDelta?: number;
      /** Changes each event before it is sent. */
      readonly change?: (event: WireEvent) => WireEvent;
      /** Milliseconds between two events. */
      readonly paceMs?: number;
      /** The second half of the events waits for this promise. */
      readonly until?: Promise<unknown>;
      /** The connection is cut after this many events. */
      readonly cutAfter?: number;
      /** With `cutAfter`: ends the body normally instead of destroying the socket. */
      readonly cutCleanly?: boolean;
    }
  | {
      readonly kind: "error";
      readonly status: number;
      readonly type: string;
      readonly message?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** An error event in a stream that began normally. */
  | { readonly kind: "stream-error"; readonly type: string; readonly message: string; readonly text?: string }
  /** The socket is destroyed before any data. */
  | { readonly kind: "refuse" }
  /** No answer ever comes. */
  | { readonly kind: "hang" };

export interface FakeRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  /** The parsed body, as the client sent it. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever the client sent
  readonly body: any;
}

export interface FakeMessagesApi {
  /** For `ANTHROPIC_BASE_URL`. */
  readonly url: string;
  readonly requests: readonly FakeRequest[];
  /** Resolves when this many requests have arrived. */
  received(count: number): Promise<void>;
  close(): Promise<void>;
}

export interface FakeOptions {
  /** The key or bearer token that a request must carry; any is accepted by default. */
  readonly key?: string;
}

/** The answers in order (the last one repeats), or a function of the request. */
export type FakeScript = readonly FakeReply[] | ((request: FakeRequest, index: number) => FakeReply);

/** Builds a tool call of an answer. */
export function toolUse(id: string, name: string, input: object) {
  return { type: "tool_use", id, name, input } as const;
}

/** Builds the answers of a model that makes these tool calls, and finishes when it has their results. */
export function callsOnce(uses: readonly FakeBlock[]): FakeScript {
  return (_, index) =>
    index === 0
      ? { kind: "message", stopReason: "tool_use", blocks: uses }
      : { kind: "message", blocks: [{ type: "text", text: "Done." }] };
}

/** Starts a Messages API on loopback that plays a script and knows nothing of the client. Like Anthropic's, it refuses lone surrogates. */
export async function startFakeMessagesApi(
  script: FakeScript,
  options: FakeOptions = {},
): Promise<FakeMessagesApi> {
  const requests: FakeRequest[] = [];
  const waiters = new Set<() => void>();
  const server = createServer((incoming, response) => {
    void readRequest(incoming).then((request) => {
      requests.push(request);
      for (const check of waiters) check();
      return answer(response, replyTo(script, options, request, requests.length - 1));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    received: (count) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (requests.length < count) return;
          waiters.delete(check);
          resolve();
        };
        waiters.add(check);
        check();
      }),
    close: () => closeServer(server),
  };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function readRequest(incoming: IncomingMessage): Promise<FakeRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  return {
    path: incoming.url ?? "",
    headers: incoming.headers,
    body: text === "" ? undefined : JSON.parse(text),
  };
}

/** A lone surrogate, as `JSON.stringify` writes it. */
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;
const NO_LOW_SURROGATE = "The request body is not valid JSON: no low surrogate in string: line 1 column 9";

function replyTo(script: FakeScript, { key }: FakeOptions, request: FakeRequest, index: number): FakeReply {
  const { "x-api-key": apiKey, authorization } = request.headers;
  if (key !== undefined && apiKey !== key && authorization !== `Bearer ${key}`) {
    return { kind: "error", status: 401, type: "authentication_error", message: "invalid x-api-key" };
  }
  if (!request.path.startsWith("/v1/messages")) {
    return { kind: "error", status: 404, type: "not_found_error", message: request.path };
  }
  if (LONE_SURROGATE.test(JSON.stringify(request.body) ?? "")) {
    return { kind: "error", status: 400, type: "invalid_request_error", message: NO_LOW_SURROGATE };
  }
  if (typeof script === "function") return script(request, index);
  return script[Math.min(index, script.length - 1)] ?? { kind: "error", status: 500, type: "api_error" };
}

async function answer(response: ServerResponse, reply: FakeReply): Promise<void> {
  switch (reply.kind) {
    case "hang":
      return;
    case "refuse":
      response.socket?.destroy();
      return;
    case "error":
      response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
      response.end(errorBody(reply.type, reply.message ?? reply.type));
      return;
    case "stream-error":
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const event of messageEvents({ blocks: [{ type: "text", text: reply.text ?? "Hello" }] }).slice(
        0,
        3,
      )) {
        send(response, event);
      }
      response.end(`event: error\ndata: ${errorBody(reply.type, reply.message)}\n\n`);
      return;
    case "message":
      return stream(response, reply);
  }
}

async function stream(
  response: ServerResponse,
  reply: Extract<FakeReply, { kind: "message" }>,
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const { paceMs = 0, until, cutAfter = Number.POSITIVE_INFINITY, cutCleanly = false, dropDelta } = reply;
  const { change = (event) => event } = reply;
  const events = messageEvents(reply);
  for (const [i, event] of events.entries()) {
    if (i === Math.floor(events.length / 2)) await until;
    if (i >= cutAfter) {
      if (cutCleanly) response.end();
      else response.socket?.destroySoon();
      return;
    }
    if (response.destroyed) return;
    if (i === dropDelta) continue;
    send(response, change(event));
    if (paceMs > 0) await delay(paceMs);
  }
  response.end();
}

interface WireEvent extends Readonly<Record<string, unknown>> {
  readonly type: string;
}

function send(response: ServerResponse, event: WireEvent): void {
  response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

function errorBody(type: string, message: string): string {
  return JSON.stringify({ type: "error", error: { type, message } });
}

/** Returns the events of a stream that carries these blocks. */
export function messageEvents({
  blocks,
  stopReason,
  usage = {},
  id = "msg_1",
}: Pick<Extract<FakeReply, { kind: "message" }>, "blocks" | "stopReason" | "usage"> & {
  readonly id?: string;
}): WireEvent[] {
  const { output_tokens = 1, ...input } = usage;
  const stop_reason =
    stopReason ?? (blocks.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn");
  const message = {
    id,
    type: "message",
    role: "assistant",
    model: "fake",
    content: [],
    stop_reason: null,
  };
  return [
    {
      type: "message_start",
      message: { ...message, usage: { input_tokens: 1, output_tokens: 1, ...input } },
    },
    { type: "ping" },
    ...blocks.flatMap(blockEvents),
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens } },
    { type: "message_stop" },
  ];
}

function blockEvents(block: FakeBlock, index: number): WireEvent[] {
  const [start, deltas] = partsOf(block);
  return [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

function partsOf(block: FakeBlock): [object, object[]] {
  switch (block.type) {
    case "text":
      return [
        { type: "text", text: "" },
        (block.text.match(/\s*\S+\s*/g) ?? []).map((text) => ({ type: "text_delta", text })),
      ];
    case "tool_use":
      return [
        { type: "tool_use", id: block.id, name: block.name, input: {} },
        halves(block.json ?? JSON.stringify(block.input)).map((part) => ({
          type: "input_json_delta",
          partial_json: part,
        })),
      ];
    case "thinking":
      return [
        { type: "thinking", thinking: "", signature: "" },
        [
          { type: "thinking_delta", thinking: block.thinking },
          { type: "signature_delta", signature: block.signature },
        ],
      ];
    default:
      return [block, []];
  }
}

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}
