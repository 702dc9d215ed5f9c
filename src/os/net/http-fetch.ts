import {
  type ClientRequest,
  type IncomingMessage,
  request as plainRequest,
  type RequestOptions,
} from "node:http";
import { pipeline, Readable, Transform } from "node:stream";

/**
 * Bytes of an answer, and of one event where it is a stream of them, which may last for days: what asks for it holds that much of
 * it at least, and no honest one is so long.
 */
const MAX_BODY = 16 * 1024 * 1024;

/**
 * A `fetch` over node:http and node:https for a library that asks for one: the global one keeps some 7 MB more in a
 * process. Just what a client of an API needs: string or byte bodies, streamed answers, abort; no redirects (a
 * credential must not follow one), no cookies, no decoding of compressed bodies (none is asked for), no proxy: like the
 * global `fetch` it takes no notice of HTTP_PROXY, HTTPS_PROXY and NO_PROXY; who needs a proxy gives a base URL that
 * leads there.
 * @param idleTimeoutMs a connection on which nothing comes for so long is given up
 * @param how of connections: all of the process are shared without it
 */
export function httpFetch(
  idleTimeoutMs: number,
  how: Pick<RequestOptions, "lookup" | "agent"> = {},
): typeof fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const send = await senderFor(url.protocol);
    const body = bodyOf(init.body);
    const headers = Object.fromEntries(new Headers(init.headers ?? {}));
    if (body !== undefined) headers["content-length"] = String(Buffer.byteLength(body));
    const options = {
      ...how,
      method: init.method ?? "GET",
      headers: { ...headers, "accept-encoding": "identity" },
    };
    const answer = await exchange(send(url, options), body, init.signal ?? undefined, idleTimeoutMs);
    return responseOf(answer);
  };
}

type Send = (url: URL, options: RequestOptions) => ClientRequest;

async function senderFor(protocol: string): Promise<Send> {
  if (protocol === "http:") return plainRequest;
  if (protocol === "https:") return (await import("node:https")).request;
  throw new TypeError(`A URL that begins with ${protocol} cannot be fetched.`);
}

function bodyOf(body: unknown): string | Uint8Array | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  throw new TypeError("Only text and bytes can be sent.");
}

/** The abort ends the request at any point, also while the answer's body is read. */
function exchange(
  request: ClientRequest,
  body: string | Uint8Array | undefined,
  signal: AbortSignal | undefined,
  idleTimeoutMs: number,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      request.destroy(
        signal?.reason instanceof Error ? signal.reason : new DOMException("Aborted", "AbortError"),
      );
    };
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    request.once("close", () => signal?.removeEventListener("abort", abort));
    request.setTimeout(idleTimeoutMs, () => {
      request.destroy(new Error(`Nothing came from the server for ${idleTimeoutMs} ms.`));
    });
    request.once("response", resolve);
    // An error behind the answer's start comes out of its body.
    request.on("error", reject);
    request.end(body);
  });
}

function responseOf(answer: IncomingMessage): Response {
  const headers = new Headers();
  for (let i = 0; i + 1 < answer.rawHeaders.length; i += 2) {
    headers.append(answer.rawHeaders[i] ?? "", answer.rawHeaders[i + 1] ?? "");
  }
  const status = answer.statusCode ?? 0;
  const empty = status === 204 || status === 304;
  if (empty) answer.resume();
  const isEvents = /^text\/event-stream/i.test(answer.headers["content-type"] ?? "");
  const stream = empty ? null : (Readable.toWeb(bounded(answer, isEvents)) as ReadableStream<Uint8Array>);
  return new Response(stream, { status, statusText: answer.statusMessage ?? "", headers });
}

/** The body of an answer; an error once it, or one of its events, is longer than anybody reads. */
function bounded(answer: IncomingMessage, isEvents: boolean): Readable {
  let held = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      held = isEvents && endsEvent(chunk) ? 0 : held + chunk.length;
      if (held <= MAX_BODY) done(null, chunk);
      else done(new Error(`The server's answer is longer than ${MAX_BODY} bytes.`));
    },
  });
  // What goes wrong comes out of the body.
  return pipeline(answer, counted, () => undefined);
}

/** Whether an event ends in it, at its blank line. One that is cut between two pieces is taken for the next one's. */
function endsEvent(chunk: Buffer): boolean {
  return chunk.includes("\n\n") || chunk.includes("\r\n\r\n") || chunk.includes("\r\r");
}
