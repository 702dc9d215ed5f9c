import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { parsedUrl } from "../../text/parsed-url.ts";
import { after } from "../clock.ts";
import type { ConnectionPorts } from "./loopback-peer.ts";

/** Maximum connections at a time. */
const MAX_CONNECTIONS = 64;
/** Milliseconds in which a client must send the headers of a request. */
const HEAD_MS = 10_000;
/** Milliseconds in which a client must send the whole request. */
const REQUEST_MS = 60_000;
/** Milliseconds after which a client that reads nothing of its response is disconnected: the response would fill the memory. */
const STALLED_MS = 60_000;

type Answer = (request: Request, ended: Promise<void>) => Promise<Response>;

export interface LoopbackServer {
  readonly port: number;
  /** Ends all connections. */
  close(): Promise<void>;
}

/**
 * Serves HTTP to programs of this machine only.
 * @param port 0 for a free one
 * @param answer gets the request with an address on this server, whatever its Host header says; its signal aborts if the client
 * goes away before the whole answer is written. `ended` resolves then, or when the answer is complete.
 * @param stalledMs by default {@link STALLED_MS}
 * @throws a system error, such as EADDRINUSE
 */
export async function listenOnLoopback(
  port: number,
  answer: Answer,
  onError: (error: unknown) => void,
  stalledMs: number = STALLED_MS,
): Promise<LoopbackServer> {
  const server = createServer(
    { headersTimeout: HEAD_MS, requestTimeout: REQUEST_MS },
    (incoming, outgoing) => {
      respond(incoming, outgoing, answer, stalledMs).catch((error: unknown) => {
        // A client that went away is not an error.
        if (!outgoing.destroyed) onError(error);
        if (!outgoing.headersSent) outgoing.writeHead(500);
        outgoing.end();
      });
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  server.on("error", onError);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function respond(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: Answer,
  stalledMs: number,
): Promise<void> {
  const gone = new AbortController();
  const ended = new Promise<void>((resolve) => {
    outgoing.once("close", () => {
      if (!outgoing.writableFinished) gone.abort();
      resolve();
    });
  });
  const request = requestOf(incoming, gone.signal);
  if (request === undefined) {
    outgoing.writeHead(400).end();
    return;
  }
  const response = await answer(request, ended);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) {
    outgoing.end();
    return;
  }
  // A stream may send nothing for long, and its client waits for the headers.
  outgoing.flushHeaders();
  await send(response.body as ReadableStream<Uint8Array>, outgoing, stalledMs);
}

async function send(
  body: ReadableStream<Uint8Array>,
  outgoing: ServerResponse,
  stalledMs: number,
): Promise<void> {
  const reader = body.getReader();
  // The next read then reports the end.
  const onClose = (): void => void reader.cancel().catch(() => undefined);
  outgoing.once("close", onClose);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || outgoing.destroyed) break;
      if (!outgoing.write(value)) await drained(outgoing, stalledMs);
    }
    outgoing.end();
  } finally {
    outgoing.off("close", onClose);
  }
}

/** Resolves when the client has taken the written bytes, or is gone. */
function drained(outgoing: ServerResponse, stalledMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = after(stalledMs, () => outgoing.destroy());
    const end = (): void => {
      cancel();
      outgoing.off("drain", end);
      outgoing.off("close", end);
      resolve();
    };
    outgoing.once("drain", end);
    outgoing.once("close", end);
    if (outgoing.destroyed) end();
  });
}

const connections = new WeakMap<Request, ConnectionPorts>();

/** Returns the ports of the connection on which a request came; undefined if it was not a request to such a server. */
export function connectionOf(request: Request): ConnectionPorts | undefined {
  return connections.get(request);
}

const BASE = new URL("http://127.0.0.1");

/** @returns undefined if the target is not a URL, or for TRACE, which `Request` refuses */
function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = "GET", headers, url = "/" } = incoming;
  const given = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const target = parsedUrl(url, BASE);
  if (target === undefined || method === "TRACE") return undefined;
  // The target may be a whole URL of another host: only its path and query are used.
  const { pathname, search } = target;
  const hasBody = method !== "GET" && method !== "HEAD";
  const body = hasBody
    ? { body: Readable.toWeb(incoming) as NonNullable<RequestInit["body"]>, duplex: "half" as const }
    : {};
  const request = new Request(`http://127.0.0.1${pathname}${search}`, {
    ...{ method, headers: given, signal },
    ...body,
  });
  const { remotePort: peer, localPort: own } = incoming.socket;
  if (peer !== undefined && own !== undefined) connections.set(request, { peer, own });
  return request;
}
