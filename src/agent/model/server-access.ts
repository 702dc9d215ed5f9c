import { parsedUrl } from "../../text/parsed-url.ts";

/** Whether a model's server can have this address: one with `http:` or `https:`, not `localhost:8080`. */
export function isServerAddress(address: string): boolean {
  return /^https?:$/.test(parsedUrl(address)?.protocol ?? "");
}

/**
 * Returns an address without a name and password in it: people paste messages elsewhere. A password that is not encoded may hold "/",
 * "?", "#" or "@", so this leaves out everything before the last "@".
 */
export function withoutCredentials(address: string): string {
  return address.replace(/^\s*([a-z][a-z\d+.-]*:\/+)?.*@/is, "$1");
}

/**
 * Returns why the key, else the token, cannot be sent in a header; undefined if it can. Quotation marks and invisible characters of a web
 * page are often copied with a key. The text does not show the key.
 */
export function keyProblem(apiKey: string | undefined, authToken: string | undefined): string | undefined {
  const [variable, value] = apiKey
    ? ["ANTHROPIC_API_KEY", apiKey]
    : ["ANTHROPIC_AUTH_TOKEN", authToken ?? ""];
  // White space around the value of a header does not count.
  const key = value.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
  const code = /[^\t\x20-\x7e\x80-\xff]/u.exec(key)?.[0].codePointAt(0);
  if (code === undefined) return undefined;
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return `${variable} contains the character ${name}, which is not allowed in a key`;
}
