import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { request } from "node:https";
import type { LookupFunction } from "node:net";
import type { Env } from "../env.ts";
import { checkName } from "./check-name.ts";
import { type OutboundProxy, outboundProxy } from "./outbound-proxy.ts";
import { proxyFailure, refusal, requestThrough, TunnelAgent } from "./proxy-requests.ts";

/** How one request reaches its server through a proxy. */
export interface ProxyRoute {
  send(options: RequestOptions): ClientRequest;
  /** Returns the error for a request that failed before its response began. */
  explain(error: unknown): unknown;
  /** @throws ProxyError if the response is the proxy's refusal */
  check(response: IncomingMessage): void;
}

interface Connections {
  /** Refuses names; see {@link checkName}. */
  readonly lookup?: LookupFunction | undefined;
  /** `false` opens a new connection for each request. */
  readonly agent?: RequestOptions["agent"];
}

/** Finds the route to a server through the proxies of an environment, and keeps their open connections. */
export class ProxyRoutes {
  readonly #env: Env;
  readonly #connections: Connections;
  readonly #tunnels = new Map<string, TunnelAgent>();

  constructor(env: Env, connections: Connections) {
    this.#env = env;
    this.#connections = connections;
  }

  /**
   * Returns the route to a server; undefined if the server is reached directly.
   * @throws ProxyError if the environment names no usable proxy; RefusedAddress
   */
  async routeTo(url: URL, signal: AbortSignal | undefined): Promise<ProxyRoute | undefined> {
    const proxy = outboundProxy(url, this.#env);
    if (proxy === undefined) return undefined;
    const { lookup, agent } = this.#connections;
    if (lookup !== undefined) await checkName(url.hostname, lookup, signal);
    const isFresh = agent === false;
    if (url.protocol === "http:") return forwarding(proxy, url, isFresh);
    const tunnel = isFresh ? new TunnelAgent(proxy, false) : this.#tunnelThrough(proxy);
    return {
      send: (options) => request(url, { ...options, agent: tunnel, interruption: signal } as RequestOptions),
      explain: (error) => error,
      check: () => undefined,
    };
  }

  #tunnelThrough(proxy: OutboundProxy): TunnelAgent {
    const { label } = proxy;
    const tunnel = this.#tunnels.get(label) ?? new TunnelAgent(proxy, true);
    this.#tunnels.set(label, tunnel);
    return tunnel;
  }
}

function forwarding(proxy: OutboundProxy, url: URL, isFresh: boolean): ProxyRoute {
  return {
    send: (options) => requestThrough(proxy, url, isFresh ? { ...options, agent: false } : options),
    explain: (error) => proxyFailure(proxy, error),
    check: (response) => {
      // Only a proxy may answer with this status.
      if (response.statusCode !== 407) return;
      response.destroy();
      throw refusal(proxy, url.host, response.statusCode);
    },
  };
}
