import { type LookupAddress, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** As `lookup` of node:dns answers when it is asked for all addresses. */
type Resolve = (
  host: string,
  options: { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

/**
 * A `lookup` for node:http that gives no address which may not be reached. It is asked where the connection is made, so that a
 * name server cannot answer one thing to a check and another to the connection. A host that is an address already is never
 * looked up: its caller checks it.
 */
export function guardedLookup(
  mayReach: (address: string) => boolean,
  resolve: Resolve = lookup as Resolve,
): LookupFunction {
  return (host, options, done) => {
    resolve(host, { ...options, all: true }, (error, found) => {
      const [first] = found ?? [];
      if (error !== null || first === undefined) {
        return done(error ?? new Error(`${host} has no address.`), [], 0);
      }
      const refused = found.find(({ address }) => !mayReach(address));
      if (refused !== undefined) return done(new RefusedAddress(host, refused.address), [], 0);
      return options.all === true ? done(null, found) : done(null, first.address, first.family);
    });
  };
}

/** A host's name leads to an address that may not be reached. */
export class RefusedAddress extends Error {
  override readonly name = "RefusedAddress";
  readonly address: string;

  constructor(host: string, address: string) {
    super(`${host} leads to ${address}.`);
    this.address = address;
  }
}

/**
 * Networks whose addresses lead to this machine, to its neighbours or to nobody (the registries of RFC 6890), and those that
 * hold an IPv4 address of any kind in themselves. IPv4 addresses written as IPv6 are held against the IPv4 ones.
 */
const PRIVATE_NETWORKS =
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16 198.18.0.0/15 " +
  "224.0.0.0/4 240.0.0.0/4 ::/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/32 2002::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8";

let list: BlockList | undefined;

/** Whether an IP address is none of the public network; a text that is no address is not. */
export function isPrivateAddress(text: string): boolean {
  const address = text.replace(/%.*$/, "");
  const version = isIP(address);
  if (version === 0) return false;
  list ??= privateList();
  return list.check(address, version === 4 ? "ipv4" : "ipv6");
}

function privateList(): BlockList {
  const made = new BlockList();
  for (const network of PRIVATE_NETWORKS.split(" ")) {
    const [base = "", bits] = network.split("/");
    made.addSubnet(base, Number(bits), base.includes(":") ? "ipv6" : "ipv4");
  }
  return made;
}
