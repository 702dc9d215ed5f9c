import { isPrivateHost, plainHost } from "../permissions/host-rules.ts";

/**
 * The address that is fetched for one that a model wrote. Plain http to a public host without a port of its own becomes https, as
 * a browser tries it first; to this machine or its network, where hardly anything has a certificate, it stays.
 * @returns undefined for what is no http address, or holds a user name or password, which would be sent along
 */
export function webAddress(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return undefined;
  if (url.protocol === "http:" && url.port === "" && !isPrivateHost(plainHost(url.hostname))) {
    url.protocol = "https:";
  }
  url.hash = "";
  return url;
}

/** Whether a redirection may be followed without asking: to the same host, and not from https to what anybody can read. */
export function isSamePlace(from: URL, to: URL): boolean {
  return (
    plainHost(from.hostname) === plainHost(to.hostname) &&
    (to.protocol === "https:" || from.protocol === "http:")
  );
}
