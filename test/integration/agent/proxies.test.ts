import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { describe, expect, onTestFinished, test } from "vitest";
import { BackgroundTasks } from "../../../src/agent/background/background-tasks.ts";
import { connectServers } from "../../../src/agent/mcp/servers.ts";
import { anthropicModel } from "../../../src/agent/model/anthropic.ts";
import type { ModelEvent } from "../../../src/agent/model/model.ts";
import type { ToolContext, ToolResult } from "../../../src/agent/tool.ts";
import { webFetchTool } from "../../../src/agent/tools/web-fetch.ts";
import type { Env } from "../../../src/os/env.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { startFakeMessagesApi } from "../../support/model/fake-messages-api.ts";
import { startTestProxy, startTlsServer, trustEveryCertificate } from "../../support/net/test-proxy.ts";

/** Starts a plain server on loopback. @returns its port */
async function plainServer(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Asks a model at `http://model.test`. @returns the last event or the error, and the reasons of all retries */
async function ask(env: Env): Promise<{ readonly last: unknown; readonly retries: readonly string[] }> {
  const sleep = () => Promise.resolve();
  const model = anthropicModel({ model: "m", apiKey: "k", baseUrl: "http://model.test", env, sleep });
  const events: ModelEvent[] = [];
  const request = {
    system: "",
    messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }],
    tools: [],
  };
  const retries = () => events.flatMap((event) => (event.type === "retry" ? [event.reason] : []));
  try {
    for await (const event of model.stream(request, new AbortController().signal)) events.push(event);
    return { last: events.at(-1), retries: retries() };
  } catch (error) {
    return { last: error, retries: retries() };
  }
}

describe("the model client behind a proxy", () => {
  test("reaches the model through the proxy", async () => {
    const api = await startFakeMessagesApi([{ kind: "message", blocks: [{ type: "text", text: "Hello" }] }]);
    onTestFinished(() => api.close());
    const proxy = await startTestProxy(
      { "model.test": Number(new URL(api.url).port) },
      { credentials: "ada:hunter2hunter2" },
    );
    const { last } = await ask({ HTTP_PROXY: `http://ada:hunter2hunter2@127.0.0.1:${proxy.port}` });
    expect(last).toMatchObject({ type: "message", message: { content: [{ text: "Hello" }] } });
    expect(proxy.asked).toEqual(["POST http://model.test/v1/messages"]);
  });

  test("fails at once if the proxy refuses the connection; the message names the proxy and the variable", async () => {
    const proxy = await startTestProxy({}, { credentials: "ada:right" });
    expect(await ask({ HTTP_PROXY: `http://ada:wrongwrong@127.0.0.1:${proxy.port}` })).toEqual({
      last: expect.objectContaining({
        kind: "invalid_request",
        message: `The model's server did not answer: The proxy http://127.0.0.1:${proxy.port} (HTTP_PROXY) refused a connection to model.test: 407 Proxy Authentication Required. It does not accept the user name and password in HTTP_PROXY.`,
      }),
      retries: [],
    });
    const broken = await ask({ HTTP_PROXY: "http://ada:hunter2@:1" });
    expect(broken.last).toMatchObject({
      kind: "invalid_request",
      message: expect.stringContaining("HTTP_PROXY is not the URL of a proxy"),
    });
    expect(String(broken.last)).not.toContain("hunter2");
  });

  test("retries while the proxy cannot be reached", async () => {
    const { last, retries } = await ask({ HTTP_PROXY: "http://127.0.0.1:1" });
    expect(last).toMatchObject({ kind: "connection" });
    expect(retries).toHaveLength(9);
    expect(retries[0]).toContain("The proxy http://127.0.0.1:1 (HTTP_PROXY) cannot be reached");
  });
});

const fetchPage = (url: string, env: Env, more: Partial<ToolContext> = {}): Promise<ToolResult> => {
  const cwd = temporaryDirectory();
  const background = new BackgroundTasks({ cwd, secrets: [] });
  const signal = new AbortController().signal;
  return webFetchTool.execute({ url }, { cwd, env, signal, seenFiles: new Map(), background, ...more });
};

describe("WebFetch behind a proxy", () => {
  test("reads a page whose name only the proxy can resolve", async () => {
    trustEveryCertificate();
    const page = await startTlsServer((_, response) => response.end("the page"));
    const port = await plainServer((_, response) => response.end("a plain page"));
    const proxy = await startTestProxy({ "page.test:443": page, "page.test:8080": port });
    const env = { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url };
    expect((await fetchPage("http://page.test/a", env)).content).toContain("the page");
    expect((await fetchPage("http://page.test:8080/b", env)).content).toContain("a plain page");
    expect(proxy.asked).toEqual(["CONNECT page.test:443", "GET http://page.test:8080/b"]);
  });

  test("does not ask the proxy for a private address", async () => {
    const proxy = await startTestProxy({});
    const env = { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url };
    for (const host of ["10.0.0.5", "169.254.169.254", "[fd00::1]", "127.0.0.1", "localhost", "2130706433"]) {
      for (const scheme of ["http", "https"]) {
        const { content, isError } = await fetchPage(`${scheme}://${host}:8080/`, env);
        expect([isError, content], host).toEqual([
          true,
          expect.stringContaining("Only a rule for that address allows it"),
        ]);
      }
    }
    expect(proxy.asked).toEqual([]);
  });

  test("does not ask the proxy for a name of the local network", async () => {
    const proxy = await startTestProxy({});
    const env = { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url };
    for (const host of ["no-such-printer", "no-such-printer.local", "wiki.no-such.internal"]) {
      const { content, isError } = await fetchPage(`http://${host}:8080/`, env);
      expect([isError, content], host).toEqual([
        true,
        expect.stringContaining("this machine cannot resolve it"),
      ]);
    }
    expect(proxy.asked).toEqual([]);
  });

  test("does not follow a redirect to a private address", async () => {
    const port = await plainServer((_, response) => {
      response.writeHead(302, { location: "http://10.0.0.5:8080/" }).end();
    });
    const proxy = await startTestProxy({ "page.test:8080": port });
    const { content } = await fetchPage("http://page.test:8080/", { HTTP_PROXY: proxy.url });
    expect(content).toContain("redirects to another address");
    expect(proxy.asked).toEqual(["GET http://page.test:8080/"]);
  });

  test("reaches a private address that a rule allows through the proxy", async () => {
    const port = await plainServer((_, response) => response.end("intranet"));
    const proxy = await startTestProxy({ "10.0.0.5:8080": port });
    const { content } = await fetchPage(
      "http://10.0.0.5:8080/",
      { HTTP_PROXY: proxy.url },
      { mayConnect: () => true },
    );
    expect(content).toContain("intranet");
    expect(proxy.asked).toEqual(["GET http://10.0.0.5:8080/"]);
  });

  test("reports the refusal of the proxy, not its page", async () => {
    const proxy = await startTestProxy({}, { refusal: 403 });
    const { content, isError } = await fetchPage("https://page.test/", { HTTPS_PROXY: proxy.url });
    expect(isError).toBe(true);
    expect(content).toBe(
      `https://page.test/ could not be fetched: The proxy ${proxy.url} (HTTPS_PROXY) refused a connection to page.test:443: 403 Forbidden.`,
    );
  });
});

test("an MCP server over HTTP › is reached through the proxy", async () => {
  const handler = createMcpHandler(() => new McpServer({ name: "docs", version: "1" }));
  const port = await plainServer((incoming, outgoing) => {
    let body = "";
    incoming.setEncoding("utf8").on("data", (text) => {
      body += text;
    });
    incoming.on("end", async () => {
      const headers = incoming.headers as Record<string, string>;
      const answer = await handler.fetch(
        new Request("http://docs.test/mcp", {
          method: incoming.method ?? "GET",
          headers,
          ...(body && { body }),
        }),
      );
      outgoing.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
    });
  });
  const proxy = await startTestProxy({ "docs.test": port });
  const failures: string[] = [];
  const open = await connectServers({
    servers: { docs: { type: "http", url: "http://docs.test/mcp", headers: {} } },
    cwd: temporaryDirectory(),
    env: {},
    variables: { http_proxy: proxy.url },
    onFailure: (_, reason) => void failures.push(reason),
    onLeftOut: () => undefined,
    onSlow: () => undefined,
  });
  onTestFinished(() => open.close());
  expect(proxy.asked).toContain("POST http://docs.test/mcp");
  expect(failures.filter((reason) => !reason.includes("tools"))).toEqual([]);
});
