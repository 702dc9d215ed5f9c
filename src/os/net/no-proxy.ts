import { BlockList, isIP } from "node:net";
import { domainToASCII } from "node:url";

/**
 * Returns whether a list of `NO_PROXY` names the host of a URL, as curl reads it: names with all their subdomains, addresses,
 * networks such as `10.0.0.0/8`, and `*` for every host, between commas or spaces. It also accepts the forms of other programs:
 * `*.example.org`, a port (`example.org:8080`), and the brackets of an IPv6 address.
 */
export function isExcepted(url: URL, list: string): boolean {
  const host = plainName(url.hostname);
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return list.split(/[\s,]+/).some((entry) => matches(entry, host, port));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  // An IPv6 address without brackets has no port.
  const [, target = entry, only = port] = /^(\[[^\]]*\](?:\/\d+)?|[^:]*):(\d+)$/.exec(entry) ?? [];
  if (only !== port) return false;
  const [base = "", bits] = target.replace(/[[\]]/g, "").split("/");
  return isIP(base) === 0 ? isInDomain(host, base) : isInNetwork(host, base, bits);
}

function isInDomain(host: string, entry: string): boolean {
  const plain = entry.replace(/^\*?\./, "");
  const domain = plainName(domainToASCII(plain) || plain);
  if (domain === "" || isIP(host) !== 0) return false;
  return host === domain || host.endsWith(`.${domain}`);
}

/** @param bits the length of the network's prefix; undefined for a single address */
function isInNetwork(host: string, base: string, bits: string | undefined): boolean {
  const length = isIP(base) === 4 ? 32 : 128;
  const prefix = bits === undefined ? length : Number(bits || Number.NaN);
  if (!(prefix >= 0 && prefix <= length)) return false;
  const network = new BlockList();
  network.addSubnet(base, prefix, familyOf(base));
  return isIP(host) !== 0 && network.check(host, familyOf(host));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}

/** Returns a host in lower case, without the brackets of an IPv6 address and without a final dot. */
function plainName(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
}
