import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";

/** Most connections at a time. */
const MAX_CONNECTIONS = 64;
/** Milliseconds in which a client must send the head of a request, and all of it. */
const HEAD_MS = 10_000;
const REQUEST_MS = 60_000;

export interface LoopbackServer {
  readonly port: number;
  /** Ends all connections. */
  close(): Promise<void>;
}

/**
 * Serves HTTP to programs of this machine only.
 * @param port 0 for a free one
 * @param answer gets the request with an address on this server, whatever its Host header says; its signal aborts when the
 * client goes away
 * @throws a system error, such as EADDRINUSE
 */
export async function listenOnLoopback(
  port: number,
  answer: (request: Request) => Promise<Response>,
  onError: (error: unknown) => void,
): Promise<LoopbackServer> {
  const server = createServer(
    { headersTimeout: HEAD_MS, requestTimeout: REQUEST_MS },
    (incoming, outgoing) => {
      respond(incoming, outgoing, answer).catch((error: unknown) => {
        // A client that went away is no error.
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
  answer: (request: Request) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  const response = await answer(requestOf(incoming, gone.signal));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) outgoing.end();
  else await pipeline(Readable.fromWeb(response.body as ReadableStream), outgoing);
}

function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = "GET", headers, url = "/" } = incoming;
  const given = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  // The target may be a whole address of another host: only its path counts.
  const { pathname, search } = new URL(url, "http://127.0.0.1");
  const hasBody = method !== "GET" && method !== "HEAD";
  const body = hasBody
    ? { body: Readable.toWeb(incoming) as NonNullable<RequestInit["body"]>, duplex: "half" as const }
    : {};
  return new Request(`http://127.0.0.1${pathname}${search}`, { method, headers: given, signal, ...body });
}
