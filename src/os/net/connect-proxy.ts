import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { messageOf } from "../../errors.ts";
import { parsedUrl } from "../../text/parsed-url.ts";
import { guardedLookup } from "./safe-lookup.ts";

interface ProxyOptions {
  /** Path of a socket in a private directory, or `loopback` for a free port of 127.0.0.1. */
  readonly listen: { readonly path: string } | "loopback";
  /** A client on loopback must know it, because every user of the machine can connect there. */
  readonly token?: string;
  /** Whether a client may connect to a host, normalized as in a URL. */
  mayReach(host: string): boolean;
  /** Whether a connection to an allowed host may lead to this address. */
  mayConnect(address: string, host: string): boolean;
}

export interface ConnectProxy {
  /** The port on loopback; undefined for a socket. */
  readonly port: number | undefined;
  close(): void;
}

/** Names of headers that are for the proxy, not for the server. */
const FOR_PROXY = ["proxy-authorization", "proxy-connection", "connection", "keep-alive", "te", "upgrade"];

/**
 * Opens an HTTP proxy that connects only to allowed hosts: CONNECT for TLS, and plain requests. It resolves names itself, so
 * that its checks and its connections get the same answer. It does not keep this process alive.
 */
export async function openConnectProxy(options: ProxyOptions): Promise<ConnectProxy> {
  const open = new Set<Socket>();
  const server = createServer((incoming, response) => void forward(options, incoming, response));
  server.on("connect", (incoming, client, head) => tunnel(options, incoming, client, head));
  server.on("connection", (socket) => {
    open.add(socket);
    socket.unref();
    socket.once("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    const { listen } = options;
    if (listen === "loopback") server.listen({ host: "127.0.0.1", port: 0 }, resolve);
    else server.listen({ path: listen.path }, resolve);
  });
  server.unref();
  const address = server.address() as AddressInfo | string | null;
  return {
    port: typeof address === "object" ? address?.port : undefined,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** Why a request is refused, as the text of the answer; undefined if it may go out. */
function refusal(options: ProxyOptions, incoming: IncomingMessage, host: string): string | undefined {
  if (!isAuthorized(options.token, incoming.headers["proxy-authorization"])) return "The token is wrong.";
  if (!options.mayReach(host)) return `teams.sandbox.network does not name ${host}.`;
  return isIP(host) !== 0 && !options.mayConnect(host, host) ? refusedAddress(host, host) : undefined;
}

function refusedAddress(host: string, address: string): string {
  return `${host} leads to ${address}, which teams.sandbox.network does not name.`;
}

function isAuthorized(token: string | undefined, header: string | undefined): boolean {
  if (token === undefined) return true;
  const expected = Buffer.from(`Basic ${Buffer.from(`teams:${token}`).toString("base64")}`);
  const given = Buffer.from(header ?? "");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Splits `example.org:443` and `[::1]:443`. */
function hostAndPort(target: string): { readonly host: string; readonly port: number } | undefined {
  try {
    const { hostname, port } = new URL(`http://${target}`);
    return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port || 80) };
  } catch {
    return undefined;
  }
}

function lookupFor({ mayConnect }: ProxyOptions, host: string) {
  return guardedLookup((address) => mayConnect(address, host));
}

function tunnel(options: ProxyOptions, incoming: IncomingMessage, client: Duplex, head: Buffer): void {
  client.on("error", () => client.destroy());
  const refuse = (status: string, text: string): void => {
    client.end(`HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${text}\n`);
  };
  const target = hostAndPort(incoming.url ?? "");
  if (target === undefined) {
    refuse("400 Bad Request", "The target is not a host and a port.");
    return;
  }
  const refused = refusal(options, incoming, target.host);
  if (refused !== undefined) {
    refuse("403 Forbidden", refused);
    return;
  }
  const server = connect({ ...target, lookup: lookupFor(options, target.host), allowHalfOpen: true });
  let isConnected = false;
  server.once("connect", () => {
    isConnected = true;
    client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    if (head.length > 0) server.write(head);
    server.pipe(client).pipe(server);
  });
  server.once("error", (error) => {
    if (isConnected) client.destroy();
    else refuse("502 Bad Gateway", messageOf(error));
  });
  client.once("close", () => server.destroy());
}

function forward(options: ProxyOptions, incoming: IncomingMessage, response: ServerResponse): void {
  const refuse = (status: number, text: string): void => {
    response.writeHead(status, { "content-type": "text/plain", connection: "close" }).end(`${text}\n`);
  };
  const url = parsedUrl(incoming.url ?? "");
  if (url?.protocol !== "http:") {
    refuse(400, "A proxy request names an http: URL.");
    return;
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const refused = refusal(options, incoming, host);
  if (refused !== undefined) {
    refuse(403, refused);
    return;
  }
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).filter(([name]) => !FOR_PROXY.includes(name)),
  );
  const outgoing = request(
    {
      host,
      port: url.port || 80,
      path: `${url.pathname}${url.search}`,
      method: incoming.method,
      headers: { ...headers, host: url.host },
      lookup: lookupFor(options, host),
      agent: false,
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  outgoing.once("error", (error) => {
    if (response.headersSent) response.destroy();
    else refuse(502, messageOf(error));
  });
  incoming.pipe(outgoing);
  response.once("close", () => outgoing.destroy());
}
