import { parsedUrl } from "../../text/parsed-url.ts";
import { isPrivateHost, plainHost } from "../permissions/host-rules.ts";

/**
 * Returns the address to fetch for an address from a model. http to a public host without an explicit port becomes https,
 * as in a browser. http to this machine or its network stays, since few hosts there have a certificate.
 * @returns undefined if it is not an http address, or has a user name or password, which would be sent
 */
export function webAddress(text: string): URL | undefined {
  const url = parsedUrl(text);
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    return undefined;
  if (url.protocol === "http:" && url.port === "" && !isPrivateHost(plainHost(url.hostname))) {
    url.protocol = "https:";
  }
  url.hash = "";
  return url;
}

/** Returns true if a redirect may be followed without permission: to the same host, and not from https to http. */
export function mayFollow(from: URL, to: URL): boolean {
  return (
    plainHost(from.hostname) === plainHost(to.hostname) &&
    (to.protocol === "https:" || from.protocol === "http:")
  );
}
