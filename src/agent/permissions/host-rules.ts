import { domainToASCII } from "node:url";
import { isPrivateAddress } from "../../os/net/safe-lookup.ts";

/** What the pattern of a rule about hosts begins with, as users of settings files write it: `WebFetch(domain:example.org)`. */
const PREFIX = "domain:";

/** The rule's pattern for one host. */
export function hostPattern(host: string): string {
  return PREFIX + host;
}

/** A host as rules compare it: in lower case, without the brackets of an address and the dot that may end a full name. */
export function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/\.$/, "")
    .replace(/^\[(.*)\]$/, "$1");
}

/**
 * Whether a pattern is about a host. One that allows means exactly the host that it names, `*.example.org` what is below
 * it, and `*` the public network; one that refuses means the host and what is below it, and everything where it is no pattern
 * about hosts.
 */
export function hostMatches(pattern: string, host: string, reach: "every" | "any"): boolean {
  if (!pattern.startsWith(PREFIX)) return reach === "any";
  const named = plainHost(pattern.slice(PREFIX.length).trim());
  if (named === "*") return reach === "any" || !isPrivateHost(host);
  const isBelow = named.startsWith("*.");
  const domain = asciiHost(isBelow ? named.slice(2) : named);
  if (reach === "every") return isBelow ? host.endsWith(`.${domain}`) : host === domain;
  return host === domain || host.endsWith(`.${domain}`);
}

/** As an address of the web has it: `bücher.example` is `xn--bcher-kva.example` there. */
function asciiHost(named: string): string {
  return domainToASCII(named) || named;
}

/** Whether a host as it is written is this machine, or an address of no public network. */
export function isPrivateHost(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || isPrivateAddress(host);
}
