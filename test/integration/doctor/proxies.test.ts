import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { checkModel, checkModelOnline } from "../../../src/doctor/model-access.ts";
import { checkProxies } from "../../../src/doctor/proxies.ts";
import { startTestProxy } from "../../support/net/test-proxy.ts";

const ENV = { ANTHROPIC_API_KEY: "k" };

describe("checkProxies", () => {
  test("says nothing without a proxy", async () => {
    expect(await checkProxies({ NO_PROXY: "example.org", HTTPS_PROXY: "" })).toEqual([]);
  });

  test("names each proxy, whether it accepts connections, and no password", async () => {
    const proxy = await startTestProxy({});
    const url = `http://ada:hunter2hunter2@127.0.0.1:${proxy.port}`;
    expect(await checkProxies({ HTTPS_PROXY: url, HTTP_PROXY: "http://127.0.0.1:1", NO_PROXY: "*" })).toEqual(
      [
        {
          name: "proxy",
          level: "ok",
          text: `${proxy.url} (HTTPS_PROXY), for https, with the user of its URL: accepts connections`,
        },
        {
          name: "proxy",
          level: "fail",
          text: "http://127.0.0.1:1 (HTTP_PROXY), for http: does not answer (connect ECONNREFUSED 127.0.0.1:1)",
          remedy: "Correct or unset HTTP_PROXY, or start the proxy.",
        },
      ],
    );
    expect(proxy.asked).toEqual([]);
    expect(await checkProxies({ ALL_PROXY: proxy.url })).toMatchObject([
      { text: expect.stringContaining("for https and http") },
    ]);
  });

  test("reports a variable whose value is not a URL, without the value", async () => {
    const [finding] = await checkProxies({ HTTPS_PROXY: "http://ada:hunter2#x@proxy:1" });
    expect(finding).toMatchObject({
      level: "fail",
      text: expect.stringContaining("HTTPS_PROXY is not the URL"),
    });
    expect(JSON.stringify(finding)).not.toContain("hunter2");
  });
});

describe("model access behind a proxy", () => {
  test("checkModel says how the model's server is reached", () => {
    const textOf = (env: Record<string, string>) => checkModel({ ...ENV, ...env }).text;
    expect(textOf({})).toBe("a key is set (tried only with --online)");
    const HTTPS_PROXY = "http://ada:hunter2hunter2@proxy.test:3128";
    expect(textOf({ HTTPS_PROXY })).toBe(
      "a key is set, through the proxy http://proxy.test:3128 (HTTPS_PROXY) (tried only with --online)",
    );
    expect(textOf({ HTTPS_PROXY, no_proxy: ".anthropic.com" })).toContain("a key is set, without a proxy");
    expect(textOf({ HTTPS_PROXY, ANTHROPIC_BASE_URL: "http://localhost:1" })).toContain("without a proxy");
  });

  test("checkModelOnline asks through the proxy, and names it if it refuses", async () => {
    const model = createServer((_, response) => response.end("{}"));
    await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void model.close());
    const proxy = await startTestProxy(
      { "model.test": (model.address() as AddressInfo).port },
      { credentials: "ada:right" },
    );
    const check = (user: string) =>
      checkModelOnline({
        ...ENV,
        ANTHROPIC_BASE_URL: "http://model.test",
        http_proxy: `http://${user}@127.0.0.1:${proxy.port}`,
      });
    expect(await check("ada:right")).toEqual({
      name: "model access",
      level: "ok",
      text: `http://model.test answers and accepts the key, through the proxy ${proxy.url} (http_proxy)`,
    });
    expect(await check("ada:wrongwrong")).toMatchObject({
      level: "fail",
      text: `http://model.test cannot be reached: The proxy ${proxy.url} (http_proxy) refused a connection to model.test: 407 Proxy Authentication Required. It does not accept the user name and password in http_proxy.`,
    });
  });
});
