import { domainToASCII } from "node:url";
import { isPrivateAddress } from "../../os/net/safe-lookup.ts";
import { parsedUrl } from "../../text/parsed-url.ts";

/** Prefix of a rule's pattern for a host, as in settings files: `WebFetch(domain:example.org)`. */
const PREFIX = "domain:";

/** Returns the pattern of a rule for exactly this host. */
export function hostPattern(host: string): string {
  return PREFIX + host;
}

/** Normalizes a host for rules: lower case, without the brackets of an IPv6 address and without a final dot. */
export function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/\.$/, "")
    .replace(/^\[(.*)\]$/, "$1");
}

/** Returns the host in a text of another program, normalized as in URLs (`127.1:8080` is `127.0.0.1`); undefined without one. */
export function hostIn(text: string): string | undefined {
  const rest = text.replace(/^[a-z][a-z\d+.-]*:\/\//i, "");
  const url = parsedUrl(`http://${rest}`) ?? parsedUrl(`http://[${rest}]`);
  return url && plainHost(url.hostname);
}

/**
 * Returns whether a pattern covers a host.
 * @param reach `every` for allow rules: a name covers exactly that host, `*.example.org` the hosts below it, and `*` the public
 *   network. `any` for deny and ask rules: a name covers its host and all hosts below it, and a pattern without `domain:`, or with
 *   another text than a host (`domain:https://example.org`), covers every host.
 */
export function hostMatches(pattern: string, host: string, reach: "every" | "any"): boolean {
  if (!pattern.startsWith(PREFIX)) return reach === "any";
  const named = hostNamedBy(pattern);
  if (named === "*") return reach === "any" || !isPrivateHost(host);
  // Its author may mean any host.
  if (reach === "any" && namesNoHost(pattern)) return true;
  const isBelow = named.startsWith("*.");
  const domain = asciiHost(isBelow ? named.slice(2) : named);
  if (reach === "every") return isBelow ? host.endsWith(`.${domain}`) : host === domain;
  return host === domain || host.endsWith(`.${domain}`);
}

/** Returns whether a pattern has another text than a host after `domain:`. */
export function namesNoHost(pattern: string): boolean {
  const named = hostNamedBy(pattern);
  return pattern.startsWith(PREFIX) && named !== "*" && !isHost(named.replace(/^\*\./, ""));
}

function hostNamedBy(pattern: string): string {
  return plainHost(pattern.slice(PREFIX.length).trim());
}

/** Converts a name to the ASCII form of URLs: `bücher.example` becomes `xn--bcher-kva.example`. */
function asciiHost(named: string): string {
  return domainToASCII(named) || named;
}

/** Returns whether a text is a name or an address, without a scheme, a port or a star. */
function isHost(text: string): boolean {
  return IPV6.test(text) || (domainToASCII(text) !== "" && !text.includes("*"));
}

const IPV6 = /^[\da-f]*:[\da-f]*:[\da-f:.]*$/;

/** Returns whether a host is this machine or an address outside the public network, judged by its text alone. */
export function isPrivateHost(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || isPrivateAddress(host);
}
