import { textStart } from "../characters/cut-text.ts";

/** Maximum characters of an address that terminals accept in a link. */
const MAX_LENGTH = 2000;
const LINKED = /^(?:https?:\/\/|mailto:|file:\/\/)/i;
const BARE = /\bhttps?:\/\/[^\s<>"'`|\\]+/gi;

/**
 * Returns an address as a terminal's link may contain it: only visible ASCII characters.
 * @returns undefined if the address is not http, https, mailto or file, or is too long
 */
export function linkTarget(address: string): string | undefined {
  if (!LINKED.test(address)) return undefined;
  const target = address.replace(/\p{Cs}/gu, "\ufffd").replace(/[^\x21-\x7e]/gu, encodeURIComponent);
  return target.length <= MAX_LENGTH ? target : undefined;
}

/** True if a link's text already shows its address. */
export function showsAddress(text: string, address: string): boolean {
  return plainAddress(text) === plainAddress(address);
}

function plainAddress(text: string): string {
  return text
    .trim()
    .replace(/^(?:https?:\/\/|mailto:)/i, "")
    .replace(/\/$/, "");
}

/** True if a text looks like an address: as the text of a link to another target, it would disguise that target. */
export function looksLikeAddress(text: string): boolean {
  return /^\s*(?:[a-z][a-z\d+.-]*:\/\/|www\.|[\w.-]+\.[a-z]{2,}(?:[/:?#]|\s*$)|[^\s@]+@[^\s@]+\s*$)/i.test(
    textStart(text, 300),
  );
}

/** Splits a text at the addresses in it; every second part is an address, without the punctuation after it. */
export function splitAtAddresses(text: string): string[] {
  const parts: string[] = [];
  let end = 0;
  for (const match of text.matchAll(BARE)) {
    const address = withoutEnd(match[0]);
    parts.push(text.slice(end, match.index), address);
    end = match.index + address.length;
  }
  return [...parts, text.slice(end)];
}

/** Removes punctuation at the end, and a closing parenthesis without an opening one. */
function withoutEnd(address: string): string {
  let end = address.length;
  while (end > 0 && ".,:;!?*_~".includes(address.charAt(end - 1))) end -= 1;
  const rest = address.slice(0, end);
  return rest.endsWith(")") && !rest.includes("(") ? withoutParentheses(rest) : rest;
}

function withoutParentheses(address: string): string {
  let end = address.length;
  while (end > 0 && ").,:;!?".includes(address.charAt(end - 1))) end -= 1;
  return address.slice(0, end);
}
