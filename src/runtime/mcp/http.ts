import { createHash, timingSafeEqual } from "node:crypto";
import { BATCH_VERSION } from "../../agent/mcp/line-transport.ts";
import { isSystemError, messageOf, TeamError } from "../../errors.ts";
import { type LoopbackServer, listenOnLoopback } from "../../os/net/loopback-server.ts";
import { HttpSessions } from "./http-sessions.ts";
import type { MemberServers } from "./server.ts";
import { WatchedBus } from "./watched-bus.ts";

/** Maximum bytes of a request's body. */
const MAX_BODY = 4 * 1024 * 1024;
/** Maximum open streams of changes of all clients of the newer protocol. */
const MAX_SUBSCRIPTIONS = 16;
const PATH = "/mcp";

interface HttpOptions {
  /** 0 for a free port. */
  readonly port: number;
  readonly token: string;
  readonly onProblem: (text: string) => void;
}

export interface HttpServer extends LoopbackServer {
  readonly url: string;
}

/** Serves all clients of this user that know the token. @throws TeamError INVALID_INPUT if the port is taken */
export async function serveOnHttp(
  servers: MemberServers,
  { port, token, onProblem }: HttpOptions,
): Promise<HttpServer> {
  const sdk = await import("@modelcontextprotocol/server");
  const bus = new WatchedBus(sdk, servers.watch);
  const handler = sdk.createMcpHandler(servers.factory, {
    maxRequestBodySize: MAX_BODY,
    maxSubscriptions: MAX_SUBSCRIPTIONS,
    bus,
    onerror: (error) => onProblem(messageOf(error)),
  });
  const sessions = new HttpSessions(sdk, servers);
  let own = 0;
  const answer = async (request: Request, ended: Promise<void>): Promise<Response> => {
    const refused = rejection(request, own, token);
    if (refused !== undefined) return refused;
    if (request.method !== "POST")
      return sessions.handle(request, undefined, ended) ?? handler.fetch(request);
    // The package answers a request with a wrong content type.
    if (!sdk.isJsonContentType(request.headers.get("content-type"))) return handler.fetch(request);
    const read = await sdk.readRequestBody(request, MAX_BODY);
    if (read.tooLarge) return refuse(413, `The body is too long; the maximum is ${MAX_BODY} bytes.`);
    const body = parsedJson(read.text);
    if (body === undefined) return refuse(400, "The body is not JSON.", {}, PARSE_ERROR);
    if (Array.isArray(body) && !sessions.takesBatch(request))
      return refuse(400, `Only version ${BATCH_VERSION} has batches.`, {}, INVALID_REQUEST);
    const inSession = sessions.handle(request, body, ended);
    if (inSession !== undefined) return inSession;
    const opensSession = sdk.isInitializeRequest(body) && (await sdk.isLegacyRequest(request, body));
    return opensSession ? sessions.open(request, body, ended) : handler.fetch(request, { parsedBody: body });
  };
  const server = await listen(port, answer, (error) => onProblem(messageOf(error)));
  own = server.port;
  return {
    port: server.port,
    url: urlOf(server.port),
    close: async () => {
      await sessions.close();
      await handler.close();
      await server.close();
    },
  };
}

export function urlOf(port: number): string {
  return `http://127.0.0.1:${port}${PATH}`;
}

async function listen(...args: Parameters<typeof listenOnLoopback>): Promise<LoopbackServer> {
  try {
    return await listenOnLoopback(...args);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new TeamError("INVALID_INPUT", `The server cannot use port ${args[0]}: ${messageOf(error)}.`, {
      hint: "Choose another port, or --http 0 for a free one.",
      cause: error,
    });
  }
}

/** @returns undefined for a text that is not JSON */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns the answer to a request that must not reach the tools. A web page in the user's browser can send requests to this
 * port, under a name that its owner points to 127.0.0.1: such a request has another Host or an Origin. The token stops other
 * users of the machine.
 */
function rejection(request: Request, port: number, token: string): Response | undefined {
  const { headers, url } = request;
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  if (!hosts.includes(headers.get("host") ?? "")) return refuse(403, "The Host header names another server.");
  const origin = headers.get("origin");
  if (origin !== null && !hosts.includes(origin.replace(/^http:\/\//, "")))
    return refuse(403, "Web pages may not use this server.");
  const [, given = ""] = /^Bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "") ?? [];
  if (!isSame(given, token))
    return refuse(401, "The token is missing or wrong.", { "www-authenticate": "Bearer" });
  return new URL(url).pathname === PATH ? undefined : refuse(404, `The server is at ${PATH}.`);
}

/** JSON-RPC's codes for a body that is not JSON, for JSON that is not a request, and for errors of a server. */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const SERVER_ERROR = -32000;

function refuse(
  status: number,
  message: string,
  headers: Record<string, string> = {},
  code = SERVER_ERROR,
): Response {
  const body = { jsonrpc: "2.0", id: null, error: { code, message } };
  return Response.json(body, { status, headers });
}

/** Compares in constant time. The digests have the same length, which the comparison needs. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
