import {
  type ClientRequest,
  type IncomingMessage,
  request as plainRequest,
  type RequestOptions,
} from "node:http";
import { pipeline, Readable, Transform } from "node:stream";
import type { Env } from "../env.ts";
import { namesProxy } from "./proxy-error.ts";
import type { ProxyRoute, ProxyRoutes } from "./proxy-routes.ts";

/**
 * Maximum bytes of a response, or of one event in an event stream, which may last for days. The client must buffer that
 * much, and no real response is that long.
 */
const MAX_BODY = 16 * 1024 * 1024;

/**
 * Returns a `fetch` over node:http and node:https, for libraries that accept one: the global one takes 7 MB more memory.
 * Supports what an API client needs: string or byte bodies, streamed responses, abort. No redirects (a credential must
 * not follow one), no cookies, no compressed bodies (none are requested). Uses the proxy of the environment.
 * @param idleTimeoutMs a connection without data for this long is closed
 * @param env names the proxies
 * @param how connection options; default: the shared connections of this process
 */
export function httpFetch(
  idleTimeoutMs: number,
  env: Env,
  how: Pick<RequestOptions, "lookup" | "agent"> = {},
): typeof fetch {
  let routes: Promise<ProxyRoutes> | undefined;
  const routeTo = async (url: URL, signal: AbortSignal | undefined): Promise<ProxyRoute | undefined> => {
    if (!namesProxy(env)) return undefined;
    routes ??= import("./proxy-routes.ts").then((proxies) => new proxies.ProxyRoutes(env, how));
    return (await routes).routeTo(url, signal);
  };
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const send = await senderFor(url.protocol);
    const signal = init.signal ?? undefined;
    const route = await routeTo(url, signal);
    const body = bodyOf(init.body);
    const headers = Object.fromEntries(new Headers(init.headers ?? {}));
    if (body !== undefined) headers["content-length"] = String(Buffer.byteLength(body));
    const options = {
      method: init.method ?? "GET",
      headers: { ...headers, "accept-encoding": "identity" },
    };
    const request = route?.send(options) ?? send(url, { ...how, ...options });
    const answer = await exchange(request, body, signal, idleTimeoutMs).catch((error: unknown) => {
      throw signal?.aborted ? error : (route?.explain(error) ?? error);
    });
    route?.check(answer);
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

/** An abort ends the request at any time, even while the body of the response is read. */
function exchange(
  request: ClientRequest,
  body: string | Uint8Array | undefined,
  signal: AbortSignal | undefined,
  idleTimeoutMs: number,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      const reason =
        signal?.reason instanceof Error ? signal.reason : new DOMException("Aborted", "AbortError");
      request.destroy(reason);
      // A request that waits for a tunnel does not report it.
      reject(reason);
    };
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    request.once("close", () => signal?.removeEventListener("abort", abort));
    request.setTimeout(idleTimeoutMs, () => {
      request.destroy(new Error(`The server sent nothing for ${idleTimeoutMs / 1000} s.`));
    });
    request.once("response", resolve);
    // An error after the start of the response is reported by its body.
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

/** Returns the body of a response; it fails if the body, or one of its events, exceeds {@link MAX_BODY}. */
function bounded(answer: IncomingMessage, isEvents: boolean): Readable {
  let held = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      held = isEvents && endsEvent(chunk) ? 0 : held + chunk.length;
      if (held <= MAX_BODY) done(null, chunk);
      else done(new Error(`The server's answer is longer than ${MAX_BODY} bytes.`));
    },
  });
  // Errors are reported by the body.
  return pipeline(answer, counted, () => undefined);
}

/** True if an event ends in this chunk, at its blank line. A blank line split between two chunks is missed: the count continues. */
function endsEvent(chunk: Buffer): boolean {
  return chunk.includes("\n\n") || chunk.includes("\r\n\r\n") || chunk.includes("\r\r");
}
