import { BlockList, isIP } from "node:net";

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
