import { timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, connect, isIP, type Socket } from "node:net";
import { type Duplex, pipeline } from "node:stream";
import { messageOf } from "../../errors.ts";
import { parsedUrl } from "../../text/parsed-url.ts";
import type { Env } from "../env.ts";
import { checkName } from "./check-name.ts";
import { type OutboundProxy, outboundProxy } from "./outbound-proxy.ts";
import { openTunnel, proxyFailure, requestThrough } from "./proxy-requests.ts";
import { guardedLookup } from "./safe-lookup.ts";

interface ProxyOptions {
  /** Path of a socket in a private directory, or `loopback` for a free port of 127.0.0.1. */
  readonly listen: { readonly path: string } | "loopback";
  /** A client on loopback must know it, because every user of the machine can connect there. */
  readonly token?: string;
  /** Names the proxies that this proxy uses to reach hosts. */
  readonly env?: Env;
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
 * that its checks and its connections use the same address; a proxy of the environment resolves them again. It does not keep
 * this process alive.
 */
export async function openConnectProxy(options: ProxyOptions): Promise<ConnectProxy> {
  const open = new Set<Socket>();
  const server = createServer((incoming, response) => void forward(options, incoming, response));
  server.on("connect", (incoming, client, head) => void tunnel(options, incoming, client, head));
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
  return isIP(host) !== 0 && !options.mayConnect(host, host)
    ? `teams.sandbox.network does not name the address ${host}.`
    : undefined;
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

/**
 * Returns the proxy of the environment for an allowed host; undefined if it is reached directly.
 * @throws RefusedAddress; ProxyError
 */
async function outerProxy(
  options: ProxyOptions,
  url: URL,
  signal: AbortSignal,
): Promise<OutboundProxy | undefined> {
  const proxy = outboundProxy(url, options.env ?? {});
  if (proxy !== undefined) await checkName(url.hostname, lookupFor(options, url.hostname), signal);
  return proxy;
}

function lookupFor({ mayConnect }: ProxyOptions, host: string) {
  return guardedLookup((address) => mayConnect(address, host));
}

async function tunnel(
  options: ProxyOptions,
  incoming: IncomingMessage,
  client: Duplex,
  head: Buffer,
): Promise<void> {
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
  try {
    const server = await openConnection(options, target, client);
    client.once("close", () => server.destroy());
    server.once("error", () => client.destroy());
    client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    if (head.length > 0) server.write(head);
    server.pipe(client).pipe(server);
  } catch (error) {
    refuse("502 Bad Gateway", messageOf(error));
  }
}

interface Target {
  readonly host: string;
  readonly port: number;
}

/** Connects to an allowed host, directly or through the proxy of the environment for it. Ends if the client goes away. */
async function openConnection(options: ProxyOptions, target: Target, client: Duplex): Promise<Socket> {
  const gone = new AbortController();
  client.once("close", () => gone.abort());
  const name = `${isIP(target.host) === 6 ? `[${target.host}]` : target.host}:${target.port}`;
  const outer = await outerProxy(options, new URL(`https://${name}`), gone.signal);
  if (outer !== undefined) return await openTunnel(outer, name, gone.signal);
  const server = connect({ ...target, lookup: lookupFor(options, target.host), allowHalfOpen: true });
  gone.signal.addEventListener("abort", () => server.destroy());
  await once(server, "connect", { signal: gone.signal });
  return server;
}

async function forward(
  options: ProxyOptions,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refuse = (status: number, text: string): void => {
    response.writeHead(status, { "content-type": "text/plain", connection: "close" }).end(`${text}\n`);
  };
  const url = parsedUrl(incoming.url ?? "");
  if (url?.protocol !== "http:") {
    refuse(400, "The target is not an http: URL.");
    return;
  }
  const refused = refusal(options, incoming, url.hostname.replace(/^\[(.*)\]$/, "$1"));
  if (refused !== undefined) {
    refuse(403, refused);
    return;
  }
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const failed = (error: unknown): void => {
    if (response.headersSent) response.destroy();
    else refuse(502, messageOf(error));
  };
  try {
    const outer = await outerProxy(options, url, gone.signal);
    const outgoing = startRequest(options, incoming, url, outer);
    outgoing.once("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      // Unlike `pipe`, ends the client's connection if the answer is cut off: the client would wait for the rest.
      pipeline(answer, response, () => undefined);
    });
    outgoing.once("error", (error) => failed(outer === undefined ? error : proxyFailure(outer, error)));
    incoming.pipe(outgoing);
    response.once("close", () => outgoing.destroy());
  } catch (error) {
    failed(error);
  }
}

function startRequest(
  options: ProxyOptions,
  { method, headers: given }: IncomingMessage,
  url: URL,
  outer: OutboundProxy | undefined,
): ClientRequest {
  const kept = Object.entries(given).filter(([name]) => !FOR_PROXY.includes(name));
  const headers = { ...Object.fromEntries(kept), host: url.host };
  if (outer !== undefined) return requestThrough(outer, url, { method, headers, agent: false });
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return request({
    host,
    port: url.port || 80,
    path: `${url.pathname}${url.search}`,
    method,
    headers,
    lookup: lookupFor(options, host),
    agent: false,
  });
}
