import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { httpFetch } from "../../../../src/os/net/http-fetch.ts";

/** Where a server listens that answers like this. */
async function serve(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Writes the same piece again and again, as long as anybody reads; so many times at most. */
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

const get = httpFetch(10_000);
const MIB = "x".repeat(1024 * 1024);

describe("an answer", () => {
  test.each(["application/json", "text/event-stream"])(
    "of the type %s that has no end is given up, and its server left",
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
      await expect.poll(() => left).toBe(true);
    },
  );

  test("that is a stream of events may go on for as long as it likes", async () => {
    const url = await serve((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      pour(response, `data: ${MIB}\n\n`, 20);
    });
    let length = 0;
    for await (const piece of (await get(url)).body as unknown as AsyncIterable<Uint8Array>)
      length += piece.length;
    expect(length).toBe(20 * (MIB.length + 8));
  });

  test("comes in pieces, as they come", async () => {
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

  test("that breaks off is an error", async () => {
    const url = await serve((response) => {
      response.writeHead(200, { "content-length": "100" }).write("begun");
      setImmediate(() => response.destroy());
    });
    await expect((await get(url)).text()).rejects.toThrow("aborted");
  });

  test("that nobody wants any more is left at once, also between two pieces", async () => {
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
    await expect.poll(() => left).toBe(true);
    left = false;
    await (await get(url)).body?.cancel();
    await expect.poll(() => left).toBe(true);
  });
});
