import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import * as z from "zod";
import { connectServers, type McpOptions } from "../../../src/agent/mcp/servers.ts";
import type { AnyTool, ToolContext, ToolResult } from "../../../src/agent/tool.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { scriptFile } from "../../support/processes/script-process.ts";
import { eventually } from "../../support/timing/eventually.ts";

const server = scriptFile("mcp/server");
const manyTools = scriptFile("mcp/many-tools");
const badTool = scriptFile("mcp/bad-tool");
const noTools = scriptFile("mcp/no-tools");

/** A client's first request, or its first notification. */
interface Initialization {
  readonly id?: number;
  readonly params: { readonly protocolVersion: string };
}

/** Connects to the servers and closes them when the test ends. */
async function connect(servers: McpOptions["servers"], more: Partial<McpOptions> = {}) {
  const cwd = temporaryDirectory();
  const failures: [string, string][] = [];
  const leftOut: [string, string, string][] = [];
  const slow: [string, number][] = [];
  const env = { PATH: process.env.PATH };
  const onSlow = (...server: [string, number]): void => void slow.push(server);
  const onFailure = (name: string, reason: string): void => void failures.push([name, reason]);
  const onLeftOut = (...tool: [string, string, string]): void => void leftOut.push(tool);
  const calls = { onFailure, onLeftOut, onSlow };
  const open = await connectServers({ servers, cwd, env, variables: env, ...calls, ...more });
  onTestFinished(() => open.close());
  const call = (name: string, input: object, signal = new AbortController().signal): Promise<ToolResult> => {
    const tool = open.tools.find((one) => one.name === name) as AnyTool;
    return tool.execute(input, { signal } as ToolContext);
  };
  return { ...open, failures, leftOut, slow, call, names: open.tools.map(({ name }) => name) };
}

/** Returns a reference to a variable, as an entry writes it. */
function variable(name: string): string {
  return `\${${name}}`;
}

/** Returns the entry of a local server, and a function that reads the lines of its log. */
function local(env: Record<string, string> = {}) {
  const log = join(temporaryDirectory(), "log");
  const entry = { command: process.execPath, args: [server(), log], env };
  return { entry, lines: () => readFileSync(log, "utf8").trim().split("\n") };
}

describe("connectServers with a stdio server", () => {
  it("provides its tools under names the model API accepts, and returns their results", async () => {
    const { entry } = local();
    const { names, call, tools, failures } = await connect({ "my server": entry });
    expect(failures).toEqual([]);
    expect(names).toEqual(
      ["greet", "a_tool_with_an_odd_name", "fail", "die", "wait"].map((n) => `mcp__my_server__${n}`),
    );
    expect(tools[0]).toMatchObject({ description: "Greets.", inputSchema: { required: ["name"] } });
    // The effects of a tool are unknown: only a rule, a mode or the user allows a call, and no call runs in parallel.
    for (const tool of tools) {
      expect(tool.access({}, { cwd: "/", env: {} })).toEqual({ kind: "external" });
      expect([tool.parallel, tool.served?.server]).toEqual([undefined, "my server"]);
    }
    expect(await call("mcp__my_server__greet", { name: "Ada" })).toEqual({
      content: "Hello Ada.",
      isError: false,
    });
    expect(await call("mcp__my_server__a_tool_with_an_odd_name", {})).toMatchObject({
      content: "[image, 6 bytes, not shown]",
    });
    expect(await call("mcp__my_server__fail", {})).toEqual({ content: "It cannot be done.", isError: true });
    expect(await call("mcp__my_server__greet", { name: 7 })).toMatchObject({ isError: true });
  });

  it("reports each tool whose name is taken by another server, and keeps the first", async () => {
    const { names, leftOut, failures } = await connect({ "a b": local().entry, a_b: local().entry });
    expect(names).toEqual([...new Set(names)]);
    expect(leftOut.map(([name]) => name)).toEqual(names.map(() => "a_b"));
    expect(leftOut[0]).toEqual(["a_b", "greet", "another tool has the same name"]);
    expect(failures).toEqual([]);
  });

  it("provides as many tools as a request can contain, and reports the others", async () => {
    const entry = { command: process.execPath, args: [manyTools()], env: {} };
    const { names, leftOut } = await connect({ many: entry });
    expect(names).toEqual(Array.from({ length: 199 }, (_, i) => `mcp__many__t${i + 1}`));
    expect(leftOut).toEqual([
      ["many", "long", expect.stringContaining("50000 characters")],
      ["many", "t200", expect.stringContaining("and the rest are left out")],
    ]);
  });

  it("skips and reports tools with an invalid description, or with a key that the model API refuses", async () => {
    const entry = { command: process.execPath, args: [badTool()], env: {} };
    const { names, leftOut, failures, call } = await connect({ odd: entry });
    expect([names, failures]).toEqual([["mcp__odd__good", "mcp__odd__choice"], []]);
    expect(leftOut).toEqual([
      ["odd", "bad", "its description is invalid"],
      ["odd", "(unnamed)", "its description is invalid"],
      ["odd", "since", 'a model\'s server refuses the key "StartTime>" of its input'],
      ["odd", "deep", "its input schema is nested too deeply"],
    ]);
    expect(await call("mcp__odd__good", {})).toMatchObject({ content: "It goes." });
  });

  it("describes conditions in words that the model API refuses at the top of a schema", async () => {
    const entry = { command: process.execPath, args: [badTool()], env: {} };
    const { tools } = await connect({ odd: entry });
    const choice = tools.find(({ name }) => name === "mcp__odd__choice");
    expect(choice?.inputSchema).toEqual({ type: "object" });
    expect(choice?.description).toBe('Chooses.\n\nThe input must also match {"oneOf":[{"required":["a"]}]}');
  });

  it("accepts a server without tools and prints nothing", async () => {
    const entry = { command: process.execPath, args: [noTools()], env: {} };
    const written = vi.spyOn(console, "debug");
    onTestFinished(() => written.mockRestore());
    expect(await connect({ none: entry })).toMatchObject({ names: [], failures: [] });
    expect(written).not.toHaveBeenCalled();
  });

  it("passes the variables that its entry names, but not the API key", async () => {
    const { entry, lines } = local({ GREETING: `${variable("WHO:-nobody")}-${variable("PLACE")}` });
    await connect({ one: entry }, { variables: { PLACE: "here", ANTHROPIC_API_KEY: "sk-secret" } });
    expect(lines()).toEqual([expect.stringMatching(/^started \d+ nobody-here no key$/)]);
  });

  it("fails the call if the server dies, and restarts it for the next call", async () => {
    const { entry, lines } = local();
    const { call } = await connect({ one: entry });
    expect(await call("mcp__one__die", {})).toMatchObject({
      isError: true,
      content: expect.stringMatching(/one failed/),
    });
    expect(await call("mcp__one__greet", { name: "Ada" })).toMatchObject({ content: "Hello Ada." });
    expect(lines().filter((line) => line.startsWith("started"))).toHaveLength(2);
  });

  it("restarts a dead server once for simultaneous calls", async () => {
    const { entry, lines } = local();
    const { call, close } = await connect({ one: entry });
    await call("mcp__one__die", {});
    const greetings = await Promise.all(["Ada", "Bob"].map((name) => call("mcp__one__greet", { name })));
    expect(greetings.map(({ content }) => content)).toEqual(["Hello Ada.", "Hello Bob."]);
    await close();
    const started = lines().filter((line) => line.startsWith("started"));
    expect(started).toHaveLength(2);
  });

  it("stops waiting for a call that is interrupted", async () => {
    const { entry } = local();
    const { call } = await connect({ one: entry });
    const turn = new AbortController();
    const waiting = call("mcp__one__wait", {}, turn.signal);
    turn.abort(new Error("interrupted"));
    await expect(waiting).rejects.toThrow();
    expect(await call("mcp__one__greet", { name: "Ada" })).toMatchObject({ content: "Hello Ada." });
  });

  it("ends the server when the connection closes", async () => {
    const { entry, lines } = local();
    const { close } = await connect({ one: entry });
    await close();
    await eventually("the end of the server", () => lines().some((line) => line.startsWith("ended")));
  });
});

describe("connectServers with a server that cannot start", () => {
  it.each([
    ["a missing program", { command: "/no/such/server", args: [], env: {} }, /ENOENT/],
    [
      "a program that exits at once",
      { command: "/bin/sh", args: ["-c", "echo no database >&2; exit 4"], env: {} },
      /no database/,
    ],
    ["a variable that is not set", { command: variable("NOWHERE"), args: [], env: {} }, /NOWHERE is not set/],
    [
      "an address where no server listens",
      { type: "http" as const, url: "http://127.0.0.1:9/mcp", headers: {} },
      /./,
    ],
    ["an invalid URL", { type: "http" as const, url: "nonsense", headers: {} }, /Invalid URL/],
  ])("reports %s by server name, and connects the other servers", async (_, bad, reason) => {
    const { entry } = local();
    const { names, failures } = await connect({ bad, good: entry });
    expect(names[0]).toBe("mcp__good__greet");
    expect(failures).toEqual([["bad", expect.stringMatching(reason)]]);
  });

  it("reports a silent server while it waits, and gives up at the start timeout", async () => {
    const mute = { command: "/bin/sh", args: ["-c", "cat >/dev/null"], env: {} };
    const { names, failures, slow } = await connect({ mute }, { startTimeoutMs: 200, slowAfterMs: 20 });
    expect([names, failures]).toEqual([[], [["mute", expect.stringMatching(/time/i)]]]);
    expect(slow).toEqual([["mute", 200]]);
  });
});

it("connectServers with an HTTP server › provides its tools and sends the headers of its entry", async () => {
  const asked: (string | undefined)[] = [];
  const { url, close } = await serve((authorization) => asked.push(authorization));
  onTestFinished(close);
  const entry = { type: "http" as const, url, headers: { Authorization: `Bearer ${variable("TOKEN")}` } };
  const { names, call, failures } = await connect({ far: entry }, { variables: { TOKEN: "t-1" } });
  expect(failures).toEqual([]);
  expect(names).toEqual(["mcp__far__add"]);
  expect(await call("mcp__far__add", { a: 2, b: 3 })).toMatchObject({ content: "5" });
  expect(new Set(asked)).toEqual(new Set(["Bearer t-1"]));
});

it("connectServers with an HTTP server › gives up at the start timeout if the server does not confirm the start", async () => {
  const http = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const { id, params } = JSON.parse(body) as Initialization;
      // The library waits for the answer to its notification, which has no id.
      if (id === undefined) return;
      const { protocolVersion } = params;
      const result = { protocolVersion, capabilities: {}, serverInfo: { name: "far", version: "1" } };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
  });
  const { url, close } = await listen(http);
  onTestFinished(close);
  const far = { type: "http" as const, url, headers: {} };
  const { names, failures } = await connect({ far }, { startTimeoutMs: 200 });
  expect([names, failures]).toEqual([[], [["far", "it did not start in time (0.2 s)"]]]);
});

it.each([
  ["404", 404, "Session not found"],
  ["400, as many servers do", 400, "Bad Request: No valid session ID provided"],
])("connectServers › opens a new HTTP session if its old one gets a %s", async (_, status, reason) => {
  const { url, forget, close } = await serveSessions(status, reason);
  onTestFinished(close);
  const { call, failures } = await connect({ far: { type: "http" as const, url, headers: {} } });
  expect(failures).toEqual([]);
  expect(await call("mcp__far__count", {})).toMatchObject({ content: "call 1 in s1", isError: false });
  forget();
  expect(await call("mcp__far__count", {})).toMatchObject({ content: "call 2 in s2", isError: false });
  expect(await call("mcp__far__count", {})).toMatchObject({ content: "call 3 in s2", isError: false });
});

it("connectServers › repeats all calls of an HTTP session that the server has lost", async () => {
  const { url, forget, close } = await serveSessions(404, "Session not found");
  onTestFinished(close);
  const { call } = await connect({ far: { type: "http" as const, url, headers: {} } });
  await call("mcp__far__count", {});
  forget();
  const answers = await Promise.all([1, 2, 3].map(() => call("mcp__far__count", {})));
  expect(answers).toEqual(
    Array.from({ length: 3 }, () =>
      expect.objectContaining({ content: expect.stringMatching(/^call \d in s2$/), isError: false }),
    ),
  );
});

it("connectServers › closes a client whose HTTP session is lost once its calls have ended", async () => {
  const { url, forget, hold, streams, close } = await serveSessions(404, "Session not found");
  onTestFinished(close);
  const { call } = await connect({ far: { type: "http" as const, url, headers: {} } });
  await eventually("the event stream of s1", () => streams.has("s1"));
  const held = hold();
  const slow = call("mcp__far__count", {});
  const answer = await held;
  forget();
  expect(await call("mcp__far__count", {})).toMatchObject({ content: "call 2 in s2", isError: false });
  await eventually("the event stream of s2", () => streams.has("s2"));
  expect([...streams]).toEqual(["s1", "s2"]);
  answer();
  expect(await slow).toMatchObject({ content: "call 1 in s1", isError: false });
  await eventually("the end of the stream of s1", () => !streams.has("s1"));
  expect([...streams]).toEqual(["s2"]);
});

it("connectServers with a literal entry › does not expand variables", async () => {
  const asked: (string | undefined)[] = [];
  const { url, close } = await serve((authorization) => asked.push(authorization));
  onTestFinished(close);
  const { entry, lines } = local({ GREETING: variable("TOKEN") });
  const far = { type: "http" as const, url, headers: { Authorization: variable("TOKEN") } };
  const { failures } = await connect({ near: entry, far }, { variables: {}, isLiteral: () => true });
  expect(failures).toEqual([]);
  expect(new Set(asked)).toEqual(new Set([variable("TOKEN")]));
  expect(lines()[0]).toContain(variable("TOKEN"));
});

/** Starts a real MCP server on the loopback interface. */
async function serve(onCall: (authorization: string | undefined) => void) {
  const handler = createMcpHandler(() => {
    const own = new McpServer({ name: "far", version: "1" });
    const inputSchema = z.object({ a: z.number(), b: z.number() });
    own.registerTool("add", { inputSchema }, ({ a, b }) => ({
      content: [{ type: "text", text: String(a + b) }],
    }));
    return own;
  });
  const http: Server = createServer((request, response) => {
    onCall(request.headers.authorization);
    void bodyOf(request).then(async (body) => {
      const headers = new Headers(request.headers as Record<string, string>);
      const { port } = http.address() as AddressInfo;
      const answer = await handler.fetch(
        new Request(`http://127.0.0.1:${port}/mcp`, {
          method: request.method ?? "GET",
          headers,
          ...(body === "" ? {} : { body }),
        }),
      );
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
  });
  return listen(http);
}

/**
 * Starts an MCP server with one session at a time. `forget` ends the session, as a restart of the server does. `hold` delays the
 * answer to the next call and resolves to a function that sends it. `streams` contains the sessions whose event stream is open.
 * @param status status of the answer to a request in another session; its body is `reason`
 */
async function serveSessions(status: number, reason: string) {
  let [begun, calls] = [0, 0];
  let session: string | undefined;
  let onHeld: ((answer: () => void) => void) | undefined;
  const streams = new Set<string | undefined>();
  const http = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      if (request.method === "GET") {
        const id = request.headers["mcp-session-id"]?.toString();
        streams.add(id);
        response.once("close", () => streams.delete(id));
        return void response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      }
      const { id, method, params } = JSON.parse(body) as {
        readonly id?: number;
        readonly method: string;
        readonly params?: { readonly protocolVersion?: string };
      };
      const answer = (result: object, headers: Readonly<Record<string, string>> = {}): void => {
        response.writeHead(200, { "content-type": "application/json", ...headers });
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      };
      if (method === "initialize") {
        begun += 1;
        session = `s${begun}`;
        const own = { capabilities: { tools: {} }, serverInfo: { name: "far", version: "1" } };
        return answer({ ...own, protocolVersion: params?.protocolVersion }, { "mcp-session-id": session });
      }
      if (request.headers["mcp-session-id"] !== session) return void response.writeHead(status).end(reason);
      if (id === undefined) return void response.writeHead(202).end();
      if (method === "tools/list")
        return answer({ tools: [{ name: "count", inputSchema: { type: "object" } }] });
      calls += 1;
      const result = { content: [{ type: "text", text: `call ${calls} in ${session}` }] };
      if (onHeld === undefined) return answer(result);
      onHeld(() => answer(result));
      onHeld = undefined;
    });
  });
  const forget = (): void => {
    session = undefined;
  };
  const hold = (): Promise<() => void> =>
    new Promise((resolve) => {
      onHeld = resolve;
    });
  return { ...(await listen(http)), forget, hold, streams };
}

async function listen(http: Server) {
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  const close = async (): Promise<void> => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}/mcp`, close };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
