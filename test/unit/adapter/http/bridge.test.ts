import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Bridge } from "../../../../src/adapter/http/bridge.ts";
import { createSocketDirectory } from "../../../../src/os/net/local-server.ts";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanups.splice(0)) cleanUp();
});

async function opened() {
  const seen: unknown[] = [];
  let close = (): void => undefined;
  const closed = new Promise<void>((resolve) => (close = resolve));
  const bridge = new Bridge({ happened: (...event) => seen.push(event), closed: () => close() });
  cleanups.push(() => bridge.close());
  const place = createSocketDirectory();
  await bridge.listen(place);
  const join = async (): Promise<Socket> => {
    const socket = connect(place.path).on("error", () => undefined);
    cleanups.push(() => socket.destroy());
    await once(socket, "connect");
    return socket;
  };
  const plugin = await join();
  plugin.write('{"ready":true}\n');
  await bridge.ready;
  return { bridge, plugin, join, seen, closed };
}

describe("Bridge", () => {
  it("accepts one connection only: closes a second connection and ignores its data", async () => {
    const { bridge, plugin, join, seen } = await opened();
    const second = await join();
    const end = new Promise((resolve) => second.once("close", resolve));
    second.write('{"type":"permission.replied","properties":{}}\n');
    await end;
    const answer = bridge.request("GET", "/x");
    plugin.write('{"type":"session.idle","prop');
    plugin.write('erties":{"sessionID":"s"}}\nno JSON\n{"id":1,"status":200,"text":"[5]"}\n');
    expect(await answer).toEqual([5]);
    expect(seen).toEqual([["session.idle", { sessionID: "s" }]]);
  });

  it("rejects a request that OpenCode refuses, with its error text", async () => {
    const { bridge, plugin } = await opened();
    const answer = bridge.request("POST", "/session", {});
    plugin.write('{"id":1,"status":404,"text":"not \\u001b[31mthere"}\n');
    await expect(answer).rejects.toThrow("POST /session: 404 not there");
  });

  it("reports the end of a plugin that is reset in the middle of a request", async () => {
    const { bridge, plugin, closed } = await opened();
    plugin.pause();
    const answer = bridge.request("GET", "/x");
    // A socket that is closed with unread data resets its connection.
    plugin.destroy();
    await expect(answer).rejects.toThrow("no longer connected");
    await closed;
    await expect(bridge.request("GET", "/y")).rejects.toThrow("not connected");
  });

  it("reports the error of a plugin that cannot start in this OpenCode", async () => {
    const bridge = new Bridge({ happened: () => undefined, closed: () => undefined });
    cleanups.push(() => bridge.close());
    const place = createSocketDirectory();
    await bridge.listen(place);
    const plugin = connect(place.path);
    cleanups.push(() => plugin.destroy());
    plugin.write('{"failed":"TypeError: no client"}\n');
    await expect(bridge.ready).rejects.toThrow("the teams plugin in it failed: TypeError: no client");
  });
});
