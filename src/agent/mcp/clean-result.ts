import { ownSecrets, redactText } from "../../os/redact.ts";
import { cutText } from "../../text/characters/cut-text.ts";
import { wellFormed } from "../../text/characters/well-formed.ts";
import { stripControls } from "../../text/terminal-text.ts";
import type { ToolResult } from "../tool.ts";

/** Maximum characters of a result; clients truncate or refuse longer results. */
const MAX_RESULT = 150_000;
/** Maximum characters of the notes with a result. */
const MAX_NOTES = 20_000;
/** Maximum nesting of a value, because metadata of tasks comes from other programs. */
const MAX_DEPTH = 50;

/**
 * Returns the text of a result for an MCP client, followed by its notes: without secrets and control characters, which a client may
 * show in a terminal, well formed, and not too long.
 */
export function cleanResult({ data, content, notes = [] }: ToolResult): string {
  const isJson = data !== undefined && content.startsWith("{");
  const text = isJson
    ? JSON.stringify(wellFormed(cleanValue(data, 0)), undefined, 2)
    : stripControls(content);
  const redacted = wellFormed(redactText(text, ownSecrets()));
  const cut = cutText(redacted, MAX_RESULT, (missing) => `… [${missing}; ask for less]`);
  const about = wellFormed(cleanText(notes.join("\n\n")));
  return about === "" ? cut : `${cut}\n\n${cutText(about, MAX_NOTES)}`;
}

/** Strips and redacts the strings and keys of a JSON value. */
function cleanValue(value: unknown, depth: number): unknown {
  if (typeof value === "string") return cleanText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return "…";
  if (Array.isArray(value)) return value.map((one) => cleanValue(one, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [cleanText(key), cleanValue(one, depth + 1)]),
  );
}

/** A secret may contain control characters, and control characters may hide a secret. */
function cleanText(text: string): string {
  const secrets = ownSecrets();
  return redactText(stripControls(redactText(text, secrets)), secrets);
}

/** Maximum characters of a string in a result that is too long, tried in this order. */
const STRING_LIMITS = [100_000, 50_000, 25_000, 10_000, 2_000, 500, 100] as const;

/**
 * Returns the data of a result for an MCP client, cleaned as {@link cleanResult} cleans a text. If the data is too long, its
 * strings are truncated, then its longest lists; `omitted` has the number of entries that each list has lost.
 */
export function cleanData(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const clean = wellFormed(cleanValue(data, 0)) as Record<string, unknown>;
  if (isShort(clean)) return clean;
  let shorter = clean;
  for (const max of STRING_LIMITS) {
    shorter = withShortStrings(clean, max) as Record<string, unknown>;
    if (isShort(shorter)) return shorter;
  }
  return withShortLists(withFewKeys(shorter) as Record<string, unknown>);
}

/** Maximum keys of an object in a result that is too long. */
const MAX_KEYS = 200;

/** Returns the data of a result as text. */
export function dataText(data: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(data, undefined, 2);
}

function isShort(data: Readonly<Record<string, unknown>>): boolean {
  return dataText(data).length <= MAX_RESULT;
}

/** Truncates the strings of a JSON value. @param max maximum characters of each string */
export function withShortStrings(value: unknown, max: number): unknown {
  if (typeof value === "string") return cutText(value, max, (missing) => `… [${missing}; ask for less]`);
  if (Array.isArray(value)) return value.map((one) => withShortStrings(one, max));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withShortStrings(one, max)]));
}

/** Limits the keys of each object, and says how many are missing. Only data of other programs exceeds the limit. */
function withFewKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withFewKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const missing = entries.length - MAX_KEYS;
  const kept = entries.slice(0, MAX_KEYS).map(([key, one]) => [key, withFewKeys(one)] as const);
  return Object.fromEntries(missing > 0 ? [...kept, ["…", `${missing} more keys`]] : kept);
}

/** Halves the longest list until the data is short enough. */
function withShortLists(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const omitted: Record<string, number> = {};
  let shorter: Record<string, unknown> = { ...data };
  for (;;) {
    const lists = Object.entries(shorter).filter((one): one is [string, unknown[]] => Array.isArray(one[1]));
    const [longest] = lists.sort(([, a], [, b]) => b.length - a.length);
    if (isShort(shorter) || longest === undefined || longest[1].length === 0) return shorter;
    const [key, list] = longest;
    const kept = list.slice(0, Math.floor(list.length / 2));
    omitted[key] = (omitted[key] ?? 0) + list.length - kept.length;
    shorter = { ...shorter, [key]: kept, omitted };
  }
}
