import { type LookupAddress, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** The `lookup` of node:dns with the option `all`. */
type Resolve = (
  host: string,
  options: { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

/**
 * Returns a `lookup` for node:http that refuses addresses which must not be reached. It resolves the host for the
 * connection itself, so a name server cannot give a check and the connection different answers. A host that is an
 * address is never looked up: the caller must check it.
 */
export function guardedLookup(
  mayConnect: (address: string) => boolean,
  resolve: Resolve = lookup as Resolve,
): LookupFunction {
  return (host, options, done) => {
    resolve(host, { ...options, all: true }, (error, found) => {
      const [first] = found ?? [];
      if (error !== null || first === undefined) {
        return done(error ?? new Error(`${host} has no address.`), [], 0);
      }
      const refused = found.find(({ address }) => !mayConnect(address));
      if (refused !== undefined) return done(new RefusedAddress(host, refused.address), [], 0);
      return options.all === true ? done(null, found) : done(null, first.address, first.family);
    });
  };
}

/** A host name resolves to an address that must not be reached. */
export class RefusedAddress extends Error {
  override readonly name = "RefusedAddress";
  readonly address: string;

  constructor(host: string, address: string) {
    super(`${host} resolves to ${address}, which must not be contacted.`);
    this.address = address;
  }
}

/**
 * Networks that lead to this machine, to its neighbours or nowhere (the registries of RFC 6890), and those that embed an
 * IPv4 address of any kind. IPv4 addresses in IPv6 form are checked against the IPv4 networks.
 */
const PRIVATE_NETWORKS =
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16 198.18.0.0/15 " +
  "224.0.0.0/4 240.0.0.0/4 ::/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/32 2002::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8";

let list: BlockList | undefined;

/** True if an IP address is not public; false for any other text. */
export function isPrivateAddress(text: string): boolean {
  const address = text.replace(/%.*$/, "");
  const version = isIP(address);
  if (version === 0) return false;
  list ??= privateList();
  return list.check(address, version === 4 ? "ipv4" : "ipv6");
}

function privateList(): BlockList {
  const networks = new BlockList();
  for (const network of PRIVATE_NETWORKS.split(" ")) {
    const [base = "", bits] = network.split("/");
    networks.addSubnet(base, Number(bits), base.includes(":") ? "ipv6" : "ipv4");
  }
  return networks;
}
