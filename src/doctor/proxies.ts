import { messageOf } from "../errors.ts";
import type { Env } from "../os/env.ts";
import { connectionProblem } from "../os/net/connection-problem.ts";
import { type OutboundProxy, outboundProxy } from "../os/net/outbound-proxy.ts";
import { namesProxy } from "../os/net/proxy-error.ts";
import { type Finding, fail, ok } from "./finding.ts";

const NAME = "proxy";
/** Time limit in milliseconds for a connection to a proxy, which is seldom far away. */
const TIMEOUT_MS = 5_000;

/** Checks whether each proxy of the environment accepts connections. Sends nothing. */
export async function checkProxies(env: Env): Promise<readonly Finding[]> {
  if (!namesProxy(env)) return [];
  const used = new Map<string, { readonly proxy: OutboundProxy; readonly schemes: string[] }>();
  for (const scheme of ["https", "http"]) {
    try {
      const proxy = outboundProxy(new URL(`${scheme}://example.com`), { ...env, no_proxy: "", NO_PROXY: "" });
      if (proxy === undefined) continue;
      const { schemes } = used.get(proxy.label) ?? { schemes: [] };
      used.set(proxy.label, { proxy, schemes: [...schemes, scheme] });
    } catch (error) {
      return [fail(NAME, messageOf(error), "Correct the variable, or unset it.")];
    }
  }
  return Promise.all([...used.values()].map(({ proxy, schemes }) => checkProxy(proxy, schemes)));
}

async function checkProxy(proxy: OutboundProxy, schemes: readonly string[]): Promise<Finding> {
  const named = Object.keys(proxy.headers).length === 0 ? "" : ", with the user of its URL";
  const about = `${proxy.label}, for ${schemes.join(" and ")}${named}`;
  const problem = await connectionProblem(proxy.url, TIMEOUT_MS);
  if (problem === undefined) return ok(NAME, `${about}: accepts connections`);
  return fail(
    NAME,
    `${about}: does not answer (${problem})`,
    `Correct or unset ${proxy.variable}, or start the proxy.`,
  );
}

/** Describes how a server is reached, as the end of a sentence; empty if the environment names no proxy. */
export function routeText(server: string, env: Env): string {
  if (!namesProxy(env)) return "";
  try {
    const proxy = outboundProxy(new URL(server), env);
    return proxy === undefined ? ", without a proxy" : `, through the proxy ${proxy.label}`;
  } catch {
    // checkProxies reports this error.
    return "";
  }
}
