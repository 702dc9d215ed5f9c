import { isIP, type LookupFunction } from "node:net";
import { isDoneWithin } from "../done-within.ts";
import { RefusedAddress } from "./safe-lookup.ts";

/** Time limit of a lookup in milliseconds. If only the proxy can resolve names, a lookup may take much longer to fail. */
const LOOKUP_MS = 5_000;

/**
 * Asks a guarded lookup whether a name may be contacted, because a proxy resolves names itself. A public name that this machine
 * cannot resolve is left to the proxy: in many networks only the proxy can.
 * @throws RefusedAddress; an Error for a name of the local network that this machine cannot resolve
 */
export async function checkName(
  hostname: string,
  lookup: LookupFunction,
  signal?: AbortSignal,
): Promise<void> {
  const host = hostname.replace(/\.$/, "");
  // The caller checks addresses.
  if (isIP(host.replace(/^\[(.*)\]$/, "$1")) !== 0) return;
  let refused: unknown;
  let isResolved = false;
  const answered = new Promise<void>((resolve) => {
    lookup(host, { all: true }, (error) => {
      if (error instanceof RefusedAddress) refused = error;
      isResolved = error === null;
      resolve();
    });
  });
  await isDoneWithin(LOOKUP_MS, answered, signal);
  if (refused !== undefined) throw refused;
  if (!isResolved && isLocalName(host)) {
    throw new Error(`${host} looks like a name of the local network, and this machine cannot resolve it.`);
  }
}

/** Returns true for a name that no public name server knows. */
function isLocalName(host: string): boolean {
  return (
    !host.includes(".") ||
    /\.(local|localdomain|internal|intranet|private|lan|home|corp|home\.arpa)$/i.test(host)
  );
}
