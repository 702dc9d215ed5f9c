import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { expect, it, onTestFinished } from "vitest";
import * as z from "zod/mini";
import { serveTools } from "../../../src/agent/mcp/serve-tools.ts";
import type { AnyTool } from "../../../src/agent/tool.ts";
import { createSocketDirectory, listenLocally } from "../../../src/os/net/local-server.ts";
import { addSecrets } from "../../../src/os/redact.ts";
import { eventually } from "../../support/timing/eventually.ts";

const SECRET = "sk-served-tools-0123456789";

const greet = {
  name: "Greet",
  description: "Greets",
  input: z.object({ name: z.string() }),
  execute: () => Promise.reject(new Error("served.call runs the tools")),
} as unknown as AnyTool;

/** Serves one tool on a socket. `send` sends it a line; `next` resolves to its next message. */
async function served(): Promise<{
  send: (line: string) => void;
  next: () => Promise<unknown>;
  problems: string[];
}> {
  const problems: string[] = [];
  const call = async (_: AnyTool, input: unknown) => ({
    content: `Hello \u001b[31m${JSON.stringify(input)} ${SECRET}`,
  });
  const place = createSocketDirectory();
  const close = await listenLocally(place, (socket: Socket) => {
    const streams = {
      bytesIn: () => socket,
      bytesOut: (bytes: AsyncIterable<Uint8Array>) => pipeline(bytes, socket),
    };
    const note = (text: string): void => void problems.push(text);
    serveTools({ tools: () => [greet], call }, streams, new AbortController().signal, note).catch(note);
  });
  onTestFinished(close);
  const client = connect(place.path);
  onTestFinished(() => void client.destroy());
  const lines = createInterface({ input: client })[Symbol.asyncIterator]();
  return {
    send: (line) => void client.write(`${line}\n`),
    next: async () => JSON.parse((await lines.next()).value),
    problems,
  };
}

it("served tools › redact secrets and control characters, explain wrong inputs, and survive lines that are not messages", async () => {
  addSecrets({ SERVED_API_KEY: SECRET });
  const { send, next, problems } = await served();
  const info = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  };
  send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: info }));
  expect(await next()).toMatchObject({ id: 1, result: { serverInfo: { name: "teams" } } });
  send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }));
  send("no message");
  expect(await next()).toMatchObject({ id: null, error: { code: -32700, message: "A line is not JSON." } });
  send("x".repeat(5 * 1024 * 1024));
  expect(await next()).toMatchObject({ id: null, error: { code: -32700 } });
  const call = async (given: object): Promise<string | undefined> => {
    const params = { name: "Greet", arguments: given };
    send(JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params }));
    const { result } = (await next()) as { result: { content: { text: string }[] } };
    return result.content[0]?.text;
  };
  expect(await call({ name: "ada" })).toBe('Hello {"name":"ada"} [secret]');
  expect(problems).toHaveLength(2);
  const ignored = "Greet ignored these unknown keys of your input: who. Known keys: name.";
  expect(await call({ name: "ada", who: "bob" })).toBe(`Hello {"name":"ada"} [secret]\n\n${ignored}`);
  expect(await call({ who: "ada" })).toBe(
    `Wrong input for Greet: name: Invalid input: expected string, received undefined\n\n${ignored}`,
  );
});

it("served tools › end at a signal, even if the client reads no more answers", async () => {
  let isServing = false;
  const bytesOut = (): Promise<void> => {
    isServing = true;
    return new Promise(() => undefined);
  };
  const streams = { bytesIn: () => new PassThrough(), bytesOut };
  const call = async () => ({ content: "never called" });
  const end = new AbortController();
  const ended = serveTools({ tools: () => [greet], call }, streams, end.signal, () => undefined);
  await eventually("the start of the server", () => isServing);
  end.abort();
  expect(await ended).toBeUndefined();
});
