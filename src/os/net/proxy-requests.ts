import {
  type ClientRequest,
  type IncomingMessage,
  request as plainRequest,
  type RequestOptions,
  STATUS_CODES,
} from "node:http";
import { Agent, request as tlsRequest } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ConnectionOptions } from "node:tls";
import { urlToHttpOptions } from "node:url";
import { messageOf } from "../../errors.ts";
import { after } from "../clock.ts";
import type { OutboundProxy } from "./outbound-proxy.ts";
import { ProxyError } from "./proxy-error.ts";

/** Milliseconds in which a proxy must open a tunnel: its server may be far away. */
const TUNNEL_MS = 30_000;
/** Milliseconds for which an unused tunnel stays open, as for other connections of Node. */
const UNUSED_MS = 5_000;

/** Starts a request that a proxy forwards itself, which is possible only without TLS. */
export function requestThrough(proxy: OutboundProxy, url: URL, options: RequestOptions): ClientRequest {
  const { auth } = urlToHttpOptions(url);
  return requestTo(proxy, {
    ...options,
    auth,
    path: `${url.protocol}//${url.host}${url.pathname}${url.search}`,
    headers: { ...options.headers, host: url.host, ...proxy.headers },
  });
}

function requestTo({ url }: OutboundProxy, options: RequestOptions): ClientRequest {
  return url.protocol === "https:" ? tlsRequest(url, options) : plainRequest(url, options);
}

/**
 * Opens a connection through a proxy (CONNECT).
 * @param target host and port, as in a URL
 * @throws ProxyError; an AbortError if the signal aborts
 */
export function openTunnel(proxy: OutboundProxy, target: string, signal?: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const headers = { host: target, ...proxy.headers };
    const connecting = requestTo(proxy, { method: "CONNECT", path: target, headers, agent: false, signal });
    const disarm = after(TUNNEL_MS, () =>
      connecting.destroy(new Error(`no answer within ${TUNNEL_MS / 1000} s`)),
    );
    connecting.once("close", disarm);
    connecting.once("error", (error) => reject(signal?.aborted ? error : proxyFailure(proxy, error)));
    connecting.once("connect", ({ statusCode = 0 }: IncomingMessage, socket: Socket, head: Buffer) => {
      if (statusCode < 200 || statusCode > 299) {
        socket.destroy();
        reject(refusal(proxy, target, statusCode));
        return;
      }
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    connecting.end();
  });
}

/** Explains why a proxy did not answer. */
export function proxyFailure({ label }: OutboundProxy, error: unknown): ProxyError {
  return new ProxyError(`The proxy ${label} cannot be reached: ${messageOf(error)}.`, {
    isLasting: false,
    cause: error,
  });
}

/** Explains a refusal. Shows no text of the proxy, which may be a page. */
export function refusal(
  { label, variable, headers }: OutboundProxy,
  target: string,
  status: number,
): ProxyError {
  const answer = [status, STATUS_CODES[status]].filter(Boolean).join(" ");
  const credentials =
    Object.keys(headers).length === 0
      ? ` Put a user name and password into ${variable}: http://user:password@host:port.`
      : ` It does not accept the user name and password in ${variable}.`;
  const isLasting = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return new ProxyError(
    `The proxy ${label} refused a connection to ${target}: ${answer}.${status === 407 ? credentials : ""}`,
    {
      isLasting,
    },
  );
}

/** The options of a request that uses a {@link TunnelAgent}. */
interface TunnelledOptions extends RequestOptions {
  /** Ends the attempt to open a tunnel. */
  readonly interruption?: AbortSignal | undefined;
}

/** Connects requests with TLS through a proxy, and keeps their connections as Node's own agent does. */
export class TunnelAgent extends Agent {
  readonly #proxy: OutboundProxy;

  constructor(proxy: OutboundProxy, keepsConnections: boolean) {
    super(keepsConnections ? { keepAlive: true, scheduling: "lifo", timeout: UNUSED_MS } : {});
    this.#proxy = proxy;
  }

  override createConnection(
    options: TunnelledOptions,
    done?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const { port, interruption } = options;
    const host = options.host ?? "";
    const target = `${host.includes(":") ? `[${host}]` : host}:${port}`;
    openTunnel(this.#proxy, target, interruption).then(
      (socket) => {
        const tls: ConnectionOptions = { ...(options as ConnectionOptions), socket };
        done?.(null, super.createConnection(tls as RequestOptions) as Duplex);
      },
      (error) => done?.(error, undefined as unknown as Duplex),
    );
    return undefined;
  }
}
