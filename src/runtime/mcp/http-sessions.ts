import { randomUUID } from "node:crypto";
import type { Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { BATCH_VERSION, MAX_BATCH } from "../../agent/mcp/line-transport.ts";
import { steadyNow } from "../../os/clock.ts";
import type { Sdk } from "./forms.ts";
import type { MemberServers } from "./server.ts";

/** Maximum open sessions. A new session beyond it ends the least recently used one. */
const MAX_SESSIONS = 16;
/** Milliseconds without a request or a stream after which a session may end. */
const MAX_IDLE_MS = 3_600_000;

const SESSION_HEADER = "mcp-session-id";
const VERSION_HEADER = "mcp-protocol-version";

interface Session {
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Number of unanswered requests and open streams. */
  open: number;
  usedAt: number;
}

/**
 * The sessions of clients of the older protocol. A session keeps its client's capabilities and subscriptions, and the stream of the
 * server's requests and notifications. Without a session, such a client can only call tools.
 */
export class HttpSessions {
  readonly #sdk: Sdk;
  readonly #servers: MemberServers;
  readonly #sessions = new Map<string, Session>();

  constructor(sdk: Sdk, servers: MemberServers) {
    this.#sdk = sdk;
    this.#servers = servers;
  }

  /**
   * Answers a request that names a session. An ended session gets 404, so that its client opens a new one.
   * @param ended resolves when the answer is complete, or the client has gone
   * @returns undefined for a request without a session
   */
  handle(request: Request, body: unknown, ended: Promise<void>): Promise<Response> | undefined {
    const id = request.headers.get(SESSION_HEADER);
    if (id === null) return undefined;
    const session = this.#sessions.get(id);
    if (session === undefined) return Promise.resolve(refusal(404, "The session has ended; open a new one."));
    return this.#answer(session, request, body, ended);
  }

  /** Returns whether a request may be a batch. By the protocol, a request without a version uses 2025-03-26, which has batches. */
  takesBatch({ headers }: Request): boolean {
    const session = this.#sessions.get(headers.get(SESSION_HEADER) ?? "");
    const version = session?.server.getNegotiatedProtocolVersion() ?? headers.get(VERSION_HEADER);
    return version === null || version === BATCH_VERSION;
  }

  /** Opens a session for an `initialize` request. */
  async open(request: Request, body: unknown, ended: Promise<void>): Promise<Response> {
    await this.#makeRoom();
    if (this.#sessions.size >= MAX_SESSIONS)
      return refusal(503, `All ${MAX_SESSIONS} sessions are in use; end one, and try again.`);
    const { context, factory } = this.#servers;
    const server = (await factory({ era: "legacy", requestInfo: request })) as Server;
    const id = randomUUID();
    const transport = new this.#sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessioninitialized: () => void this.#sessions.set(id, session),
    });
    const session: Session = { server, transport, open: 0, usedAt: steadyNow() };
    const { onclose } = server;
    server.onclose = () => {
      this.#sessions.delete(id);
      // The team may be gone.
      context.mail.leave(id).catch(() => undefined);
      onclose?.();
    };
    await server.connect(transport);
    const response = await this.#answer(session, request, body, ended);
    if (!this.#sessions.has(id)) await server.close();
    return response;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map(({ server }) => server.close()));
  }

  async #answer(session: Session, request: Request, body: unknown, ended: Promise<void>): Promise<Response> {
    session.open += 1;
    session.usedAt = steadyNow();
    void ended.then(() => {
      session.open -= 1;
      session.usedAt = steadyNow();
    });
    // No later request can fetch an answer, so the end of the connection cancels the calls.
    for (const requestId of requestIds(body))
      request.signal.addEventListener("abort", () => cancel(session.transport, requestId), { once: true });
    return session.transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
  }

  /** Ends sessions that have been idle for {@link MAX_IDLE_MS}, and the least recently used session if there are too many. */
  async #makeRoom(): Promise<void> {
    const idle = [...this.#sessions.values()]
      .filter(({ open }) => open === 0)
      .sort((a, b) => a.usedAt - b.usedAt);
    const now = steadyNow();
    const surplus = this.#sessions.size - MAX_SESSIONS + 1;
    const ended = idle.filter(({ usedAt }, at) => at < surplus || now - usedAt > MAX_IDLE_MS);
    await Promise.all(ended.map(({ server }) => server.close()));
  }
}

function cancel(transport: WebStandardStreamableHTTPServerTransport, requestId: string | number): void {
  const params = { requestId, reason: "The connection was closed." };
  transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params });
}

/** Returns the ids of the requests in a body, which need not be a message. */
function requestIds(body: unknown): readonly (string | number)[] {
  const messages: readonly unknown[] = Array.isArray(body) ? body.slice(0, MAX_BATCH) : [body];
  return messages.flatMap((message) => {
    if (typeof message !== "object" || message === null || !("id" in message && "method" in message))
      return [];
    return typeof message.id === "string" || typeof message.id === "number" ? [message.id] : [];
  });
}

function refusal(status: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code: -32001, message } }, { status });
}
