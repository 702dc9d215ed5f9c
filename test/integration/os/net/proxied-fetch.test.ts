import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createRawServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { httpFetch } from "../../../../src/os/net/http-fetch.ts";
import { startTestProxy, startTlsServer, trustEveryCertificate } from "../../../support/net/test-proxy.ts";
import { eventually } from "../../../support/timing/eventually.ts";

/** Starts a plain server that answers with a text. @returns its port, and what it received */
async function plainServer(text: string): Promise<{ port: number; received: IncomingMessage[] }> {
  const received: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    received.push(request);
    request.resume().once("end", () => response.end(text));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, received };
}

const get = httpFetch(600_000, {});
const through = (env: Record<string, string>) => httpFetch(600_000, env);

describe("httpFetch through a proxy", () => {
  test("reaches an https server by CONNECT, and verifies the certificate of that server", async () => {
    const model = await startTlsServer((request, response) => {
      request.pipe(response);
    });
    const proxy = await startTestProxy({ "model.test": model });
    const post = through({ HTTPS_PROXY: proxy.url });
    await expect(post("https://model.test/v1", { method: "POST", body: "hello" })).rejects.toThrow(
      /self.signed certificate/,
    );
    trustEveryCertificate();
    const answer = await post("https://model.test/v1", { method: "POST", body: "hello" });
    expect([answer.status, await answer.text()]).toEqual([200, "hello"]);
    expect(proxy.asked).toEqual(["CONNECT model.test:443", "CONNECT model.test:443"]);
    expect(proxy.headers[0]).not.toHaveProperty("proxy-authorization");
  });

  test("keeps a tunnel for the next request, unless each needs a new connection", async () => {
    trustEveryCertificate();
    const model = await startTlsServer((_, response) => response.end("x"));
    const proxy = await startTestProxy({ "model.test": model });
    const ask = through({ https_proxy: proxy.url });
    for (let i = 0; i < 3; i += 1) expect(await (await ask("https://model.test/")).text()).toBe("x");
    expect(proxy.connections()).toBe(1);
    const fresh = httpFetch(600_000, { https_proxy: proxy.url }, { agent: false });
    for (let i = 0; i < 2; i += 1) expect(await (await fresh("https://model.test/")).text()).toBe("x");
    expect(proxy.connections()).toBe(3);
  });

  test("asks the proxy for the whole URL of an http server, and sends the credentials only to the proxy", async () => {
    const { port, received } = await plainServer("page");
    const proxy = await startTestProxy({ "page.test:8080": port }, { credentials: "ada:pass@word" });
    const ask = through({ http_proxy: `http://ada:pass%40word@127.0.0.1:${proxy.port}` });
    const answer = await ask("http://page.test:8080/a?b=c#d", { headers: { "x-own": "1" } });
    expect([answer.status, await answer.text()]).toEqual([200, "page"]);
    expect(proxy.asked).toEqual(["GET http://page.test:8080/a?b=c"]);
    expect(received[0]?.headers).toMatchObject({ host: "page.test:8080", "x-own": "1" });
    expect(received[0]?.headers).not.toHaveProperty("proxy-authorization");
  });

  test("sends the credentials with CONNECT", async () => {
    trustEveryCertificate();
    const model = await startTlsServer((request, response) => {
      response.end(request.headers["proxy-authorization"] ?? "none");
    });
    const proxy = await startTestProxy({ "model.test": model }, { credentials: "ada:hunter2hunter2" });
    const ask = through({ HTTPS_PROXY: `http://ada:hunter2hunter2@127.0.0.1:${proxy.port}` });
    expect(await (await ask("https://model.test/")).text()).toBe("none");
  });

  test("reaches a proxy with TLS", async () => {
    trustEveryCertificate();
    const model = await startTlsServer((_, response) => response.end("x"));
    const { port } = await plainServer("page");
    const proxy = await startTestProxy({ "model.test": model, "page.test": port }, { tls: true });
    const ask = through({ ALL_PROXY: proxy.url });
    expect(await (await ask("https://model.test/")).text()).toBe("x");
    expect(await (await ask("http://page.test/")).text()).toBe("page");
  });

  test.each(["https://model.test/", "http://page.test/"])(
    "names the proxy and its variable when it refuses %s",
    async (url) => {
      const proxy = await startTestProxy({}, { credentials: "ada:right" });
      const variables = (value: string) => ({ HTTPS_PROXY: value, HTTP_PROXY: value });
      const none = through(variables(proxy.url))(url);
      await expect(none).rejects.toThrow(
        /^The proxy http:\/\/127\.0\.0\.1:\d+ \(HTTPS?_PROXY\) refused a connection to \S+: 407 Proxy Authentication Required\. Put a user name/,
      );
      const wrong = through(variables(`http://ada:wrongwrong@127.0.0.1:${proxy.port}`))(url);
      const error = await wrong.catch(String);
      expect(error).toContain("does not accept the user name and password in HTTP");
      expect(error).not.toContain("wrongwrong");
    },
  );

  test("reports a proxy that does not allow a server, and shows no page of the proxy", async () => {
    const proxy = await startTestProxy({}, { refusal: 403 });
    await expect(through({ HTTPS_PROXY: proxy.url })("https://model.test/")).rejects.toMatchObject({
      isLasting: true,
      message: expect.stringMatching(/refused a connection to model\.test:443: 403 Forbidden\.$/),
    });
  });

  test.each(["https://model.test/", "http://page.test/"])(
    "names a proxy that cannot be reached, for %s",
    async (url) => {
      const closed = createRawServer();
      await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
      const { port } = closed.address() as AddressInfo;
      await new Promise((resolve) => closed.close(resolve));
      await expect(
        through({ ALL_PROXY: `http://ada:hunter2hunter2@127.0.0.1:${port}` })(url),
      ).rejects.toMatchObject({
        isLasting: false,
        message: `The proxy http://127.0.0.1:${port} (ALL_PROXY) cannot be reached: connect ECONNREFUSED 127.0.0.1:${port}.`,
      });
    },
  );

  test.each(["https://model.test/", "http://page.test/"])(
    "ends at once when the request is aborted while the proxy is silent, for %s",
    async (url) => {
      const proxy = await startTestProxy({}, { isSilent: true });
      const stop = new AbortController();
      const asked = through({ ALL_PROXY: proxy.url })(url, { signal: stop.signal });
      await eventually("the request at the proxy", () => proxy.asked.length === 1);
      stop.abort(new Error("enough"));
      await expect(asked).rejects.toThrow("enough");
    },
  );

  test("reaches this machine through the proxy, as curl does", async () => {
    const { port } = await plainServer("own");
    const proxy = await startTestProxy({ [`127.0.0.1:${port}`]: port });
    const url = `http://127.0.0.1:${port}/`;
    expect(await (await through({ http_proxy: proxy.url })(url)).text()).toBe("own");
    expect(proxy.asked).toEqual([`GET ${url}`]);
  });

  test("reaches the hosts of NO_PROXY directly", async () => {
    const { port } = await plainServer("own");
    const proxy = await startTestProxy({}, { refusal: 500 });
    const env = { ALL_PROXY: proxy.url, NO_PROXY: "none.invalid,localhost,127.0.0.0/8" };
    for (const host of ["127.0.0.1", "localhost"])
      expect(await (await through(env)(`http://${host}:${port}/`)).text()).toBe("own");
    await expect(through(env)("http://none.invalid/")).rejects.toThrow(/ENOTFOUND|EAI_AGAIN/);
    expect(proxy.asked).toEqual([]);
  });

  test("uses no proxy without a variable", async () => {
    const { port } = await plainServer("own");
    expect(await (await get(`http://127.0.0.1:${port}/`)).text()).toBe("own");
  });
});
