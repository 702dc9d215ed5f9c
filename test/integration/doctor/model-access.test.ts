import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkModelOnline } from "../../../src/doctor/model-access.ts";

describe("model access", () => {
  it("checkModelOnline judges the answer of the server", async () => {
    const server = createServer((request, response) => {
      const good = request.headers["x-api-key"] === "good";
      response.writeHead(good ? 200 : 401).end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ask = (key: string): ReturnType<typeof checkModelOnline> =>
      checkModelOnline({ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: `${base}/` });
    expect(await ask("good")).toMatchObject({ level: "ok" });
    expect(await ask("bad")).toMatchObject({ level: "fail", text: expect.stringContaining("401") });
    const unreachable = await checkModelOnline({
      ANTHROPIC_API_KEY: "x",
      ANTHROPIC_BASE_URL: "http://127.0.0.1:1",
    });
    expect(unreachable).toMatchObject({ level: "fail", text: expect.stringContaining("cannot be reached") });
  });

  it.each([
    [{ ANTHROPIC_API_KEY: "key", ANTHROPIC_AUTH_TOKEN: "token" }, { "x-api-key": "key" }],
    [{ ANTHROPIC_API_KEY: "", ANTHROPIC_AUTH_TOKEN: "token" }, { authorization: "Bearer token" }],
    [{}, {}],
  ])("checkModelOnline sends one credential when the environment has %j", async (env, sent) => {
    const received: unknown[] = [];
    const server = createServer(({ headers }, response) => {
      const { "x-api-key": key, authorization } = headers;
      received.push({ "x-api-key": key, authorization });
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await checkModelOnline({ ...env, ANTHROPIC_BASE_URL: base })).toMatchObject({ level: "ok" });
    expect(received).toEqual([sent]);
  });

  it("checkModelOnline names the /v1 that an address has twice, but needs no list of models", async () => {
    const server = createServer((_, response) => response.writeHead(404).end());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const ask = (path: string): ReturnType<typeof checkModelOnline> =>
      checkModelOnline({
        ANTHROPIC_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
      });
    expect(await ask("/v1/")).toMatchObject({
      level: "warn",
      text: expect.stringContaining("/v1/v1/models"),
      remedy: expect.stringContaining("Remove /v1"),
    });
    expect(await ask("/models")).toMatchObject({ level: "ok" });
  });
});
