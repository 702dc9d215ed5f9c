import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openConnectProxy } from "../../../../src/os/net/connect-proxy.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";
import { startTestProxy } from "../../../support/net/test-proxy.ts";
import { describeInSandbox, sandboxedAgent } from "../../../support/sandbox/sandboxed-agent.ts";

/** Starts a server on loopback that answers with a text. @returns its port */
async function server(text: string): Promise<number> {
  const http = createServer((_, response) => response.end(text));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void http.close());
  return (http.address() as AddressInfo).port;
}

/** A program that asks the proxy of the environment: with CONNECT, and with a plain request. */
const THROUGH_PROXY = `
const http = require("node:http");
const proxy = new URL(process.env.HTTP_PROXY);
const [, host, port] = process.argv;
const options = { host: proxy.hostname, port: proxy.port };
http.request({ ...options, method: "CONNECT", path: host + ":" + port }).on("connect", (answer, socket) => {
  console.log("connect", answer.statusCode);
  socket.end();
}).on("error", (error) => console.log("connect", error.code)).end();
http.get({ ...options, path: "http://" + host + ":" + port + "/", headers: { host } }, (answer) => {
  answer.setEncoding("utf8").on("data", (text) => console.log("get", answer.statusCode, text.trim()));
}).on("error", (error) => console.log("get", error.code));`;

const ask = (host: string, port: number): string => `node -e '${THROUGH_PROXY}' ${host} ${port} | sort`;

describeInSandbox("the network of a sandbox", () => {
  test("reaches the hosts of a list through the proxy, and no other host", async () => {
    const port = await server("hello");
    const { bash } = await sandboxedAgent({ setting: { network: ["127.0.0.1"] } });
    expect((await bash(ask("127.0.0.1", port))).content).toBe("connect 200\nget 200 hello");
    expect((await bash(ask("example.org", 443))).content).toBe(
      "connect 403\nget 403 teams.sandbox.network does not name example.org.",
    );
    const direct = `node -e 'require("net").connect(${port}, "127.0.0.1").on("error", (e) => console.log(e.code))'`;
    expect((await bash(direct)).content).toBe("ECONNREFUSED");
  });

  test("does not reach a private address that the list does not name", async () => {
    const port = await server("hello");
    const { bash } = await sandboxedAgent({ setting: { network: ["*.example.org"] } });
    expect((await bash(ask("127.0.0.1", port))).content).toContain("connect 403");
    expect((await bash(ask("localhost", port))).content).toContain("connect 403");
  });

  test("reaches the hosts of a list through the proxy of the environment, and no other host", async () => {
    const port = await server("hello");
    const outer = await startTestProxy(
      { "model.test:443": port, "page.test:8080": port },
      { credentials: "ada:hunter2hunter2" },
    );
    const url = `http://ada:hunter2hunter2@127.0.0.1:${outer.port}`;
    const { bash } = await sandboxedAgent({
      setting: { network: ["*.test"] },
      env: { HTTPS_PROXY: url, http_proxy: url, npm_config_proxy: url },
    });
    expect((await bash(ask("model.test", 443))).content).toContain("connect 200");
    expect((await bash(ask("page.test", 8080))).content).toContain("get 200 hello");
    expect((await bash(ask("example.org", 443))).content).toContain("connect 403");
    // Each command makes both requests at the same time.
    expect([...outer.asked].sort()).toEqual([
      "CONNECT model.test:443",
      "CONNECT page.test:8080",
      "GET http://model.test:443/",
      "GET http://page.test:8080/",
    ]);
    // The commands do not get the credentials of the outer proxy.
    expect((await bash("env")).content).not.toMatch(/hunter2|npm_config_proxy/);
  });

  test("has no proxy if nothing is allowed, and this machine's proxy if everything is", async () => {
    const env = { https_proxy: "http://ada:pw@127.0.0.1:1", NO_PROXY: "example.org" };
    const none = await sandboxedAgent({ env });
    expect((await none.bash("env | grep -i proxy; true")).content).not.toContain("=");
    const all = await sandboxedAgent({ setting: { network: "allow" }, env });
    expect((await all.bash("env | grep -i proxy | sort")).content).toBe(
      "NO_PROXY=example.org\nhttps_proxy=http://ada:pw@127.0.0.1:1",
    );
  });

  test("is this machine's network if everything is allowed", async () => {
    const port = await server("hello");
    const { bash } = await sandboxedAgent({ setting: { network: "allow" } });
    const get = `node -e 'require("http").get("http://127.0.0.1:${port}", (r) => r.pipe(process.stdout))'`;
    expect((await bash(get)).content).toBe("hello");
  });
});

describe("openConnectProxy", () => {
  test("refuses a name that resolves to an address which is not allowed", async () => {
    const port = await server("hello");
    const path = join(temporaryDirectory(), "proxy");
    const proxy = await openConnectProxy({ listen: { path }, mayReach: () => true, mayConnect: () => false });
    onTestFinished(() => proxy.close());
    expect(
      await answerOf(connect({ path }), `CONNECT localhost:${port} HTTP/1.1\r\nHost: x\r\n\r\n`),
    ).toMatch(/^HTTP\/1.1 502 [\s\S]*localhost resolves to/);
  });

  test("refuses a private address without asking the proxy of the environment for it", async () => {
    const path = join(temporaryDirectory(), "proxy");
    const outer = await startTestProxy({ "page.test": await server("hello") });
    const proxy = await openConnectProxy({
      listen: { path },
      env: { ALL_PROXY: outer.url },
      mayReach: () => true,
      mayConnect: (address) => address === "page.test",
    });
    onTestFinished(() => proxy.close());
    const answers = ["10.0.0.5", "no-such-printer"].map((host) =>
      answerOf(connect({ path }), `CONNECT ${host}:443 HTTP/1.1\r\nHost: x\r\n\r\n`),
    );
    expect(await Promise.all(answers)).toEqual([
      expect.stringMatching(/^HTTP\/1.1 403 [\s\S]*does not name the address 10\.0\.0\.5/),
      expect.stringMatching(/^HTTP\/1.1 502 [\s\S]*this machine cannot resolve it/),
    ]);
    expect(outer.asked).toEqual([]);
  });

  test("passes on a refusal of the environment's proxy, without the proxy's password", async () => {
    const path = join(temporaryDirectory(), "proxy");
    const outer = await startTestProxy({}, { refusal: 407 });
    const proxy = await openConnectProxy({
      listen: { path },
      env: { ALL_PROXY: `http://ada:hunter2hunter2@127.0.0.1:${outer.port}` },
      mayReach: () => true,
      mayConnect: () => true,
    });
    onTestFinished(() => proxy.close());
    const refused = await answerOf(connect({ path }), "CONNECT page.test:443 HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(refused).toMatch(
      /^HTTP\/1.1 502 [\s\S]*The proxy http:\S+ \(ALL_PROXY\) refused a connection to page\.test:443: 407/,
    );
    expect(refused).not.toContain("hunter2");
  });

  test("ends the connection of a client whose answer is cut off", async () => {
    const http = createServer((_, response) => {
      response.writeHead(200, { "content-length": 100 }).write("half", () => response.socket?.end());
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void http.close());
    const path = join(temporaryDirectory(), "proxy");
    const proxy = await openConnectProxy({ listen: { path }, mayReach: () => true, mayConnect: () => true });
    onTestFinished(() => proxy.close());
    const { port } = http.address() as AddressInfo;
    const request = `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`;
    expect(await answerOf(connect({ path }), request)).toMatch(/^HTTP\/1.1 200 [\s\S]*half$/);
  });

  test("answers on loopback only to a client with its token", async () => {
    const port = await server("hello");
    const proxy = await openConnectProxy({
      listen: "loopback",
      token: "t0ken",
      mayReach: () => true,
      mayConnect: () => true,
    });
    onTestFinished(() => proxy.close());
    const request = (token: string) =>
      `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nProxy-Authorization: Basic ${Buffer.from(`teams:${token}`).toString("base64")}\r\n\r\n`;
    const to = () => connect({ host: "127.0.0.1", port: proxy.port ?? 0 });
    expect(await answerOf(to(), request("wrong"))).toMatch(/^HTTP\/1.1 403 /);
    expect(await answerOf(to(), request("t0ken"))).toMatch(/^HTTP\/1.1 200 [\s\S]*hello/);
  });
});

function answerOf(socket: ReturnType<typeof connect>, request: string): Promise<string> {
  onTestFinished(() => void socket.destroy());
  return new Promise((resolve, reject) => {
    let text = "";
    socket.on("error", reject);
    socket.on("data", (bytes) => {
      text += bytes.toString();
    });
    socket.on("end", () => resolve(text));
    socket.write(request);
  });
}
