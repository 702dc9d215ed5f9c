import { messageOf } from "../../errors.ts";
import { after } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";
import { httpFetch } from "../../os/net/http-fetch.ts";
import { guardedLookup, RefusedAddress } from "../../os/net/safe-lookup.ts";
import { parsedUrl } from "../../text/parsed-url.ts";
import { isPrivateHost, plainHost } from "../permissions/host-rules.ts";
import { mayFollow, webAddress } from "./web-address.ts";

/** Time limit in milliseconds for the whole fetch, including redirects; Bash can wait longer. */
const TIMEOUT_MS = 60_000;
/** Milliseconds without a byte after which a connection fails. */
const IDLE_MS = 20_000;
/** Maximum redirects within one host. */
const MAX_REDIRECTS = 10;
/** Maximum bytes of a page: twice the longest reference pages, and converted to text within two seconds. */
const MAX_BYTES = 2 * 1024 * 1024;
/** Bytes at the start that are searched for a NUL, the sign of a binary file. */
const SNIFFED = 8192;

/** The result of fetching an address. */
export type WebPage =
  | {
      readonly kind: "page";
      readonly url: URL;
      readonly status: number;
      /** The media type without parameters; empty if the server sends none. */
      readonly type: string;
      readonly text: string;
      /** True if the page was longer than the maximum. */
      readonly isCut: boolean;
    }
  /** A redirect to another host, or from https to http, which needs its own permission. */
  | { readonly kind: "elsewhere"; readonly url: URL; readonly to: URL }
  /** Why the page cannot be read, as one sentence. */
  | { readonly kind: "problem"; readonly problem: string };

/**
 * Fetches an address. It never reuses a connection of another caller, so that every IP address is checked.
 * @param mayConnect returns true if the IP address of a host may be contacted
 * @param env names the proxies
 * @throws the reason of `signal` if it aborts
 */
export async function webPage(
  url: URL,
  mayConnect: (address: string) => boolean,
  env: Env,
  signal: AbortSignal,
): Promise<WebPage> {
  const late = new AbortController();
  const disarm = after(TIMEOUT_MS, () => late.abort(new Error(`it took more than ${TIMEOUT_MS} ms.`)));
  const get = httpFetch(IDLE_MS, env, { lookup: guardedLookup(mayConnect), agent: false });
  try {
    return await follow(url, mayConnect, get, AbortSignal.any([signal, late.signal]));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RefusedAddress) return problem(privateAddressProblem(url, error.address));
    return problem(`${url.href} could not be fetched: ${messageOf(error)}`);
  } finally {
    disarm();
  }
}

async function follow(
  first: URL,
  mayConnect: (address: string) => boolean,
  get: typeof fetch,
  signal: AbortSignal,
): Promise<WebPage> {
  let url = first;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
    const host = plainHost(url.hostname);
    // A host that is an IP address needs no name lookup, so the lookup guard does not see it.
    if (isPrivateHost(host) && !mayConnect(host)) return problem(privateAddressProblem(url, host));
    const answer = await get(url.href, { signal, headers: HEADERS });
    const location = REDIRECTS.has(answer.status) ? answer.headers.get("location") : null;
    if (location === null) return await readPage(url, answer);
    await answer.body?.cancel();
    const to = webAddress(parsedUrl(location, url)?.href ?? "");
    if (to === undefined) return problem(`${url.href} redirects to ${location}, which cannot be fetched.`);
    if (!mayFollow(url, to)) return { kind: "elsewhere", url, to };
    url = to;
  }
  return problem(`${first.href} was redirected ${MAX_REDIRECTS + 1} times; nothing was read.`);
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const HEADERS = {
  accept: "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.1",
  "user-agent": "tmux-teams (WebFetch)",
};

async function readPage(url: URL, answer: Response): Promise<WebPage> {
  const [type = "", ...parameters] = (answer.headers.get("content-type") ?? "").toLowerCase().split(";");
  const { bytes, isCut } = await readBytes(answer);
  const named = type.trim();
  const about = `${url.href} is ${named === "" ? "not text" : named}`;
  if (/^image\/(?!svg)/.test(named)) return problem(`${about}, an image; only text can be read.`);
  if (bytes.subarray(0, SNIFFED).includes(0) || /^(audio|video|font)\/|\/(pdf|zip)$/.test(named)) {
    return problem(`${about}, a binary file; only text can be read.`);
  }
  const charset = parameters.map((text) => /^\s*charset="?([^"]+)/.exec(text)?.[1]).find(Boolean);
  return {
    kind: "page",
    url,
    status: answer.status,
    type: named,
    text: decode(bytes, charset, isCut),
    isCut,
  };
}

async function readBytes(answer: Response): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    pieces.push(piece);
    length += piece.length;
    // Leaving the loop closes the connection.
    if (length > MAX_BYTES) break;
  }
  return { bytes: Buffer.concat(pieces).subarray(0, MAX_BYTES), isCut: length > MAX_BYTES };
}

/**
 * Decodes with the server's character set, else with the page's own; UTF-8 if neither is known.
 * @param isCut leaves out a last character whose end is missing
 */
function decode(bytes: Buffer, named: string | undefined, isCut: boolean): string {
  const start = bytes.subarray(0, SNIFFED).toString("latin1");
  const label = named ?? /<meta[^>]{1,200}charset=["']?([\w-]+)/i.exec(start)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(label.trim()).decode(bytes, { stream: isCut });
  } catch {
    // An unknown character set.
    return new TextDecoder().decode(bytes, { stream: isCut });
  }
}

function privateAddressProblem(url: URL, address: string): string {
  return `${url.hostname} has the address ${address}, which belongs to this machine or its network; nothing was fetched. Only a rule for that address allows it: WebFetch(domain:${address}).`;
}

function problem(text: string): WebPage {
  return { kind: "problem", problem: text };
}
