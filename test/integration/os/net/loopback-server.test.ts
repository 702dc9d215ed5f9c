import { connect, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { listenOnLoopback } from "../../../../src/os/net/loopback-server.ts";

type Answer = Parameters<typeof listenOnLoopback>[1];

async function serve(answer: Answer, stalledMs?: number) {
  const errors: unknown[] = [];
  const server = await listenOnLoopback(0, answer, (error) => errors.push(error), stalledMs);
  onTestFinished(() => server.close());
  return { ...server, errors, url: `http://127.0.0.1:${server.port}/` };
}

/** Creates a promise that the caller resolves. */
function signalled() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

/** Sends a request on a raw connection that never reads the answer. */
function rawClient(port: number): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.pause();
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  onTestFinished(() => void socket.destroy());
  return socket;
}

// On Linux, all of 127.0.0.0/8 are addresses of this machine.
it.runIf(process.platform === "linux")("loopback server › listens on 127.0.0.1 alone", async () => {
  const { url, port } = await serve(async () => new Response("whole"));
  expect(await (await fetch(url)).text()).toBe("whole");
  const failure = await fetch(`http://127.0.0.2:${port}/`).catch((error: Error) => error.cause);
  expect(failure).toMatchObject({ code: "ECONNREFUSED" });
});

it("loopback server › refuses a request that its handler cannot receive, and reports no error", async () => {
  const { url, port, errors } = await serve(async () => new Response("whole"));
  for (const line of ["TRACE / HTTP/1.1", "GET http://[ HTTP/1.1"]) {
    const socket = connect(port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    socket.write(`${line}\r\nHost: x\r\nConnection: close\r\n\r\n`);
    let answer = "";
    for await (const part of socket) answer += String(part);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  }
  expect(errors).toEqual([]);
  expect(await (await fetch(url)).text()).toBe("whole");
});

it("loopback server › never aborts the signal of an answered request, and reports its end", async () => {
  const signals: AbortSignal[] = [];
  const ends: Promise<void>[] = [];
  const { url, errors } = await serve(async (request, ended) => {
    signals.push(request.signal);
    ends.push(ended);
    return new Response("whole");
  });
  expect(await (await fetch(url, { headers: { connection: "close" } })).text()).toBe("whole");
  await Promise.all(ends);
  expect([signals.map(({ aborted }) => aborted), errors]).toEqual([[false], []]);
});

it("loopback server › aborts the signal and ends the stream if a client disconnects in the middle", async () => {
  const gone = signalled();
  const cancelled = signalled();
  const { url, errors } = await serve(async (request) => {
    request.signal.addEventListener("abort", () => gone.resolve());
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode("a part")),
      cancel: () => cancelled.resolve(),
    });
    return new Response(body);
  });
  const leaving = new AbortController();
  const response = await fetch(url, { signal: leaving.signal });
  leaving.abort();
  await response.text().catch(() => undefined);
  await Promise.all([gone.promise, cancelled.promise]);
  expect(errors).toEqual([]);
});

it("loopback server › sends the headers of a stream that has no data yet", async () => {
  const { url } = await serve(
    async () => new Response(new ReadableStream(), { headers: { "x-is": "there" } }),
  );
  const leaving = new AbortController();
  const response = await fetch(url, { signal: leaving.signal });
  expect(response.headers.get("x-is")).toBe("there");
  leaving.abort();
});

it("loopback server › closes a connection whose client does not read", async () => {
  const cancelled = signalled();
  const chunk = new Uint8Array(1024 * 1024);
  const { port, errors } = await serve(async () => {
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(chunk),
      cancel: () => cancelled.resolve(),
    });
    return new Response(body);
  }, 50);
  rawClient(port);
  await cancelled.promise;
  expect(errors).toEqual([]);
});
