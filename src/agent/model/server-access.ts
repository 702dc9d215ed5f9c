import { parsedUrl } from "../../text/parsed-url.ts";

/** Returns true for a URL with `http:` or `https:`, which `localhost:8080` is not. */
export function isServerAddress(address: string): boolean {
  return /^https?:$/.test(parsedUrl(address)?.protocol ?? "");
}

/**
 * Returns an address without its name and password, because people paste error messages elsewhere. A password that is not encoded
 * may contain "/", "?", "#" or "@", so this leaves out everything before the last "@".
 */
export function withoutCredentials(address: string): string {
  return address.replace(/^\s*([a-z][a-z\d+.-]*:\/+)?.*@/is, "$1");
}

/**
 * Returns why the key, or without a key the token, cannot be sent in a header; undefined if it can. Quotation marks and invisible
 * characters of a web page are often copied with a key. The text does not show the key.
 */
export function keyProblem(apiKey: string | undefined, authToken: string | undefined): string | undefined {
  const [variable, value] = apiKey
    ? ["ANTHROPIC_API_KEY", apiKey]
    : ["ANTHROPIC_AUTH_TOKEN", authToken ?? ""];
  // HTTP ignores white space around the value of a header.
  const key = value.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
  const code = /[^\t\x20-\x7e\x80-\xff]/u.exec(key)?.[0].codePointAt(0);
  if (code === undefined) return undefined;
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return `${variable} contains the character ${name}, which is not allowed in a key`;
}
