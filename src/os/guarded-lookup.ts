import { type LookupAddress, lookup } from "node:dns";
import type { LookupFunction } from "node:net";

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
