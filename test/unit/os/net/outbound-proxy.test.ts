import { describe, expect, test } from "vitest";
import type { Env } from "../../../../src/os/env.ts";
import { outboundProxy } from "../../../../src/os/net/outbound-proxy.ts";
import { isLastingProxyError } from "../../../../src/os/net/proxy-error.ts";

const labelFor = (url: string, env: Env): string | undefined => outboundProxy(new URL(url), env)?.label;
const HTTPS = "https://model.test/";
const HTTP = "http://model.test/";

describe("outboundProxy", () => {
  test.each([
    [HTTPS, { HTTPS_PROXY: "http://a:1" }, "http://a:1 (HTTPS_PROXY)"],
    [HTTPS, { https_proxy: "http://a:1", HTTPS_PROXY: "http://b:2" }, "http://a:1 (https_proxy)"],
    [HTTPS, { https_proxy: "", HTTPS_PROXY: "http://b:2" }, "http://b:2 (HTTPS_PROXY)"],
    [HTTPS, { HTTP_PROXY: "http://a:1" }, undefined],
    [HTTP, { HTTPS_PROXY: "http://a:1" }, undefined],
    [HTTP, { HTTP_PROXY: "http://a:1" }, "http://a:1 (HTTP_PROXY)"],
    [HTTP, { http_proxy: "http://a:1" }, "http://a:1 (http_proxy)"],
    [HTTP, { HTTP_PROXY: "http://a:1", REQUEST_METHOD: "GET" }, undefined],
    [HTTPS, { ALL_PROXY: "http://a:1" }, "http://a:1 (ALL_PROXY)"],
    [HTTP, { all_proxy: "http://a:1", HTTP_PROXY: "http://b:2" }, "http://b:2 (HTTP_PROXY)"],
    [HTTPS, { HTTPS_PROXY: "proxy.test:3128" }, "http://proxy.test:3128 (HTTPS_PROXY)"],
    [HTTPS, { HTTPS_PROXY: " https://proxy.test " }, "https://proxy.test (HTTPS_PROXY)"],
    [HTTPS, { HTTPS_PROXY: "http://a:1", NO_PROXY: "model.test" }, undefined],
    [
      HTTPS,
      { HTTPS_PROXY: "http://a:1", no_proxy: "other", NO_PROXY: "model.test" },
      "http://a:1 (HTTPS_PROXY)",
    ],
    [HTTPS, { HTTPS_PROXY: "http://a:1", no_proxy: "", NO_PROXY: "model.test" }, undefined],
    ["https://127.0.0.1:8080/", { HTTPS_PROXY: "http://a:1" }, "http://a:1 (HTTPS_PROXY)"],
    ["http://localhost:8080/", { HTTP_PROXY: "http://a:1", NO_PROXY: "localhost" }, undefined],
  ])("finds the proxy for %s in %j", (url, env: Env, label) => {
    expect(labelFor(url, env)).toBe(label);
  });

  test("splits the credentials from the URL", () => {
    const env = { HTTPS_PROXY: "http://us%40er:p%23ss%w%3A@proxy.test:3128" };
    const proxy = outboundProxy(new URL(HTTPS), env);
    expect(proxy?.label).toBe("http://proxy.test:3128 (HTTPS_PROXY)");
    expect(proxy?.url.href).toBe("http://proxy.test:3128/");
    const [, base64 = ""] = proxy?.headers["proxy-authorization"]?.split(" ") ?? [];
    // A password with a lone % is taken as it is written.
    expect(Buffer.from(base64, "base64").toString()).toBe("us@er:p%23ss%w%3A");
  });

  test.each([
    ["http://user:pa#ss@proxy.test:3128", "is not the URL of a proxy"],
    ["http://user:hunter2@:3128", "is not the URL of a proxy"],
    ["http://", "is not the URL of a proxy"],
    ["socks5://user:hunter2@proxy.test:1080", "socks5:// proxy, but teams uses only HTTP proxies"],
  ])("refuses %s without showing its password", (text, message) => {
    try {
      outboundProxy(new URL(HTTPS), { HTTPS_PROXY: text });
      expect.unreachable();
    } catch (error) {
      expect(isLastingProxyError(error)).toBe(true);
      expect(String(error)).toContain(`HTTPS_PROXY`);
      expect(String(error)).toContain(message);
      expect(String(error)).not.toMatch(/hunter2|pa#ss/);
    }
  });

  test("ignores an unusable proxy for a server that needs none", () => {
    expect(labelFor(HTTPS, { HTTPS_PROXY: "socks5://a:1", NO_PROXY: "model.test" })).toBeUndefined();
  });
});
