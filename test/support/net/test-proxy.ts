import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createServer as createTlsFront } from "node:tls";
import { onTestFinished } from "vitest";
import { TEST_CERTIFICATE } from "./test-certificate.ts";

export interface TestProxyOptions {
  /** `user:password`, which a request must carry. */
  readonly credentials?: string;
  /** The status of every answer. */
  readonly refusal?: number;
  /** It accepts connections and never answers. */
  readonly isSilent?: boolean;
  /** Clients connect to it with TLS. */
  readonly tls?: boolean;
}

export interface TestProxy {
  readonly port: number;
  /** Without credentials. */
  readonly url: string;
  /** The request lines, such as `CONNECT model.test:443` and `GET http://page.test:8080/`. */
  readonly asked: readonly string[];
  /** The headers of each request. */
  readonly headers: readonly IncomingHttpHeaders[];
  /** The number of connections of clients. */
  connections(): number;
}

/**
 * Starts a real HTTP proxy on loopback: CONNECT, and requests with a whole URL.
 * @param hosts the loopback port of each host name, `name` or `name:port`; the names need not exist
 */
export async function startTestProxy(
  hosts: Readonly<Record<string, number>>,
  options: TestProxyOptions = {},
): Promise<TestProxy> {
  const asked: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = (options.tls ? createTlsServer(TEST_CERTIFICATE) : createServer()) as Server;
  const refusalOf = (incoming: IncomingMessage): number | undefined => {
    asked.push(`${incoming.method} ${incoming.url}`);
    headers.push(incoming.headers);
    if (options.refusal !== undefined) return options.refusal;
    if (options.credentials === undefined) return undefined;
    const expected = `Basic ${Buffer.from(options.credentials).toString("base64")}`;
    return incoming.headers["proxy-authorization"] === expected ? undefined : 407;
  };
  const portOf = (host: string, port: string): number | undefined => hosts[`${host}:${port}`] ?? hosts[host];
  server.on("request", (incoming, response) => {
    const refusal = refusalOf(incoming);
    if (options.isSilent) return;
    const url = new URL(incoming.url ?? "/", "http://none");
    const port = portOf(url.hostname, url.port || "80");
    if (refusal !== undefined || port === undefined) {
      response.writeHead(refusal ?? 502).end("the proxy's page");
      return;
    }
    const { "proxy-authorization": _, ...passed } = incoming.headers;
    const path = url.pathname + url.search;
    const outgoing = request({ port, path, method: incoming.method, headers: passed }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    incoming.pipe(outgoing);
  });
  server.on("connect", (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    const refusal = refusalOf(incoming);
    client.on("error", () => client.destroy());
    if (options.isSilent) return;
    const [, host = "", named = ""] = /^(.*):(\d+)$/.exec(incoming.url ?? "") ?? [];
    const port = portOf(host, named);
    if (refusal !== undefined || port === undefined) {
      client.end(`HTTP/1.1 ${refusal ?? 502} No\r\nContent-Length: 16\r\n\r\nthe proxy's page`);
      return;
    }
    const target = connect(port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      target.write(head);
      target.pipe(client).pipe(target);
    });
    target.on("error", () => client.destroy());
    client.on("close", () => target.destroy());
  });
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${options.tls ? "https" : "http"}://${options.tls ? "localhost" : "127.0.0.1"}:${port}`,
    asked,
    headers,
    connections: () => connections,
  };
}

type Answer = (request: IncomingMessage, response: import("node:http").ServerResponse) => void;

/** Starts a server on loopback with TLS, whose certificate no process trusts by default. @returns its port */
export async function startTlsServer(answer: Answer): Promise<number> {
  const server = createTlsServer(TEST_CERTIFICATE, answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Puts TLS in front of a plain server on loopback. @returns its port */
export async function startTlsFront(port: number): Promise<number> {
  const sockets = new Set<Duplex>();
  const server = createTlsFront(TEST_CERTIFICATE, (client) => {
    const plain = connect(port, "127.0.0.1");
    for (const socket of [client, plain]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
    }
    client.pipe(plain).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** Makes this process trust every certificate until the test ends. */
export function trustEveryCertificate(): void {
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  onTestFinished(() => {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
  });
}
