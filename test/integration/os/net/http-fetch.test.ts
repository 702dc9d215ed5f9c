import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { httpFetch } from "../../../../src/os/net/http-fetch.ts";
import { eventually } from "../../../support/timing/eventually.ts";

/** Starts a server with this response and returns its URL. */
async function serve(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Writes the piece repeatedly while the client reads, at most `times` times. */
function pour(response: ServerResponse, piece: string, times = Number.POSITIVE_INFINITY): void {
  let left = times;
  const more = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(piece)) return;
    }
    response.end();
  };
  response.on("drain", more);
  more();
}

const get = httpFetch(600_000, {});
const MIB = "x".repeat(1024 * 1024);

describe("httpFetch", () => {
  test.each(["application/json", "text/event-stream"])(
    "gives up on an endless response of type %s and closes the connection",
    async (type) => {
      let left = false;
      const url = await serve((response) => {
        response.on("close", () => {
          left = true;
        });
        response.writeHead(200, { "content-type": type });
        pour(response, MIB);
      });
      const answer = await get(url);
      await expect(answer.text()).rejects.toThrow("longer than 16777216 bytes");
      await eventually("the end of the connection", () => left);
    },
  );

  test("does not limit the length of a streamed response", async () => {
    const url = await serve((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      pour(response, `data: ${MIB}\n\n`, 20);
    });
    let length = 0;
    for await (const piece of (await get(url)).body as unknown as AsyncIterable<Uint8Array>)
      length += piece.length;
    expect(length).toBe(20 * (MIB.length + 8));
  });

  test("passes on pieces of a response as they arrive", async () => {
    let next: (() => void) | undefined;
    const url = await serve((response) => {
      response.writeHead(200).write("one");
      next = () => response.end("two");
    });
    const reader = (await get(url)).body?.getReader();
    const read = async (): Promise<string> => Buffer.from((await reader?.read())?.value ?? []).toString();
    expect(await read()).toBe("one");
    next?.();
    expect(await read()).toBe("two");
  });

  test("fails if the connection breaks during the response", async () => {
    const url = await serve((response) => {
      response.writeHead(200, { "content-length": "100" }).write("begun");
      setImmediate(() => response.destroy());
    });
    await expect((await get(url)).text()).rejects.toThrow("aborted");
  });

  test("closes the connection at once when the request is aborted or its body cancelled", async () => {
    let left = false;
    const url = await serve((response) => {
      response.on("close", () => {
        left = true;
      });
      response.writeHead(200).write("one");
    });
    const stop = new AbortController();
    const answer = await get(url, { signal: stop.signal });
    const reading = answer.text();
    stop.abort();
    await expect(reading).rejects.toThrow();
    await eventually("the end of the connection", () => left);
    left = false;
    await (await get(url)).body?.cancel();
    await eventually("the end of the connection", () => left);
  });
});
