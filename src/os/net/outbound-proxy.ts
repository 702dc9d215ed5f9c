import { parsedUrl } from "../../text/parsed-url.ts";
import { percentDecoded } from "../../text/percent-decoded.ts";
import type { Env } from "../env.ts";
import { isExcepted } from "./no-proxy.ts";
import { ProxyError } from "./proxy-error.ts";

/** The proxy of the environment that requests to a server go through. */
export interface OutboundProxy {
  /** For messages: its URL without credentials, and its variable. */
  readonly label: string;
  /** The variable that names it. */
  readonly variable: string;
  /** Without credentials. */
  readonly url: URL;
  /** Headers for the proxy alone: its credentials. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns the proxy for a server, from `https_proxy`, `http_proxy` and `all_proxy` in either spelling; undefined if no proxy is used.
 * As in curl, the lower-case names win, and there is no built-in exception for this machine. `HTTP_PROXY` is read too, except in a
 * CGI program, where a client can set it with a header.
 * @throws ProxyError if the variable is not the URL of an HTTP proxy
 */
export function outboundProxy(url: URL, env: Env): OutboundProxy | undefined {
  const [variable] = variablesFor(url.protocol, env).filter((name) => env[name]?.trim());
  if (variable === undefined) return undefined;
  if (isExcepted(url, env.no_proxy?.trim() || env.NO_PROXY || "")) return undefined;
  return parseProxy(variable, env[variable]?.trim() ?? "");
}

function variablesFor(protocol: string, { REQUEST_METHOD }: Env): readonly string[] {
  const all = ["all_proxy", "ALL_PROXY"];
  if (protocol === "https:") return ["https_proxy", "HTTPS_PROXY", ...all];
  return ["http_proxy", ...(REQUEST_METHOD === undefined ? ["HTTP_PROXY"] : []), ...all];
}

function parseProxy(variable: string, text: string): OutboundProxy {
  const url = parsedUrl(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  // The text may contain a password, so no message shows it.
  if (url === undefined || url.hostname === "") {
    throw new ProxyError(
      `${variable} is not the URL of a proxy. Write http://host:port, or http://user:password@host:port with characters such as @, # and / in the password as %40, %23 and %2F.`,
      { isLasting: true },
    );
  }
  if (!/^https?:$/.test(url.protocol)) {
    throw new ProxyError(
      `${variable} names a ${url.protocol}// proxy, but teams uses only HTTP proxies. Set it to http://host:port, or name the servers that need no proxy in NO_PROXY.`,
      { isLasting: true },
    );
  }
  const credentials = url.username === "" && url.password === "" ? undefined : credentialsOf(url);
  url.username = "";
  url.password = "";
  return {
    label: `${url.origin} (${variable})`,
    variable,
    url,
    headers: credentials === undefined ? {} : { "proxy-authorization": credentials },
  };
}

function credentialsOf({ username, password }: URL): string {
  const words = [username, password].map(percentDecoded).join(":");
  return `Basic ${Buffer.from(words).toString("base64")}`;
}
