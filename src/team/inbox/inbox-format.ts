import { createHash } from "node:crypto";
import { parseShape } from "../../schema/guards/guard.ts";
import { messageForm } from "../../schema/guards/inbox.ts";
import type { InboxMessage } from "../../schema/inbox.ts";

/** Fields that another program may omit. A value of the wrong type is ignored, and stays in the file unchanged. */
const OPTIONAL = ["read", "color", "summary", "msgV", "msg_id", "type"] as const;

/** Parses the text of an inbox; undefined if it is not a JSON array. */
export function parseEntries(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    // The caller repairs the file.
    return undefined;
  }
}

/** Reads one entry; undefined without the fields that every program writes: strings `from`, `text`, `timestamp` (interop.md). */
export function readEntry(entry: unknown): InboxMessage | undefined {
  const parsed = parseShape(messageForm, entry);
  if (parsed.success) return parsed.data;
  if (typeof entry !== "object" || entry === null) return undefined;
  const wrong = new Set(parsed.error.issues.map((issue) => issue.path[0]));
  const kept = Object.entries(entry).filter(
    ([key]) => !(wrong.has(key) && (OPTIONAL as readonly string[]).includes(key)),
  );
  return parseShape(messageForm, Object.fromEntries(kept)).data;
}

/**
 * Returns a message without a time, as people write it by hand, with the time of its file; any other entry as it is.
 * @param time of the file, ISO
 */
export function withTime(entry: unknown, time: () => string): unknown {
  if (typeof entry !== "object" || entry === null) return entry;
  const { from, text, timestamp } = entry as Readonly<Record<string, unknown>>;
  const isTimeless = typeof from === "string" && typeof text === "string" && timestamp === undefined;
  return isTimeless ? { ...entry, timestamp: time() } : entry;
}

/** Returns whether an entry is a message, with or without a time. */
export function isMessage(entry: unknown): boolean {
  return readEntry(withTime(entry, () => "")) !== undefined;
}

/** Identifies a message: its id or, if another program wrote none, a hash of its content. */
export function messageKey({ msg_id, from, timestamp, text }: InboxMessage): string {
  if (msg_id !== undefined && msg_id !== "") return msg_id;
  const content = JSON.stringify([from, timestamp, text]);
  return createHash("sha256").update(content).digest("hex").slice(0, 32);
}

/** Returns the key of an entry; undefined if it is unreadable. */
export function entryKey(entry: unknown): string | undefined {
  const message = readEntry(entry);
  return message && messageKey(message);
}

/** Returns when a message was sent, in milliseconds since the epoch; 0 for an invalid time. */
export function sentAt({ timestamp }: InboxMessage): number {
  return Date.parse(timestamp) || 0;
}

/** Maximum characters that a recovery may read, as a multiple of the text's length: it must end in any garbage. */
const MAX_READ = 100;
const BLANK = /^[\s\],]*$/;

interface Recovered {
  readonly entries: unknown[];
  /** The texts between these entries that are part of no entry. */
  readonly damage: string[];
}

/**
 * Returns the whole entries of an array that was truncated or overwritten: all elements up to the first damage, and
 * every complete message after it.
 */
export function recoverEntries(text: string): unknown[] {
  return recover(text).entries;
}

/** Returns the same entries, and the damaged text between them. */
export function recover(text: string): Recovered {
  const entries: unknown[] = [];
  const damage: string[] = [];
  const start = /^\s*\[/.exec(text)?.[0].length;
  const budget = { left: MAX_READ * text.length };
  let from = start ?? 0;
  for (;;) {
    const here = elementAt(text, from, start !== undefined, budget);
    const next = here ?? nextMessage(text, from, budget);
    const between = here === undefined ? text.slice(from, next?.start) : "";
    if (!BLANK.test(between)) damage.push(between);
    if (next === undefined) return { entries, damage };
    entries.push(next.entry);
    from = next.end;
  }
}

/** An entry of an inbox in its text. */
interface Found {
  readonly entry: unknown;
  readonly start: number;
  /** After its comma or the array's bracket. */
  readonly end: number;
}

/** The number of characters that may still be read. */
interface Budget {
  left: number;
}

/** Reads the element at `from`. After a message, anything may follow; after another element, only what JSON allows. */
function elementAt(text: string, from: number, isArray: boolean, budget: Budget): Found | undefined {
  const start = afterMatch(/\s*/y, text, from) ?? from;
  const isObject = text[start] === "{";
  if (!isObject && !isArray) return undefined;
  const end =
    isObject || text[start] === "[" ? bracketEnd(text, start, budget) : plainEnd(text, start, budget);
  const value = end === undefined ? undefined : parseElement(text.slice(start, end));
  if (end === undefined || value === undefined) return undefined;
  const closed = afterMatch(/\s*(?:[,\]]|$)/y, text, end);
  if ((closed === undefined || !isArray) && !isMessage(value.element)) return undefined;
  return { entry: value.element, start, end: closed ?? end };
}

/** Returns the next complete object that is a message. The text of a message never matches, since its quotes are escaped. */
function nextMessage(text: string, from: number, budget: Budget): Found | undefined {
  const object = /\{\s*"/g;
  object.lastIndex = from;
  for (let found = object.exec(text); found !== null && budget.left > 0; found = object.exec(text)) {
    const message = elementAt(text, found.index, false, budget);
    if (message !== undefined) return message;
  }
  return undefined;
}

/** Returns the index after a match of a sticky pattern at `at`. */
function afterMatch(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/**
 * Matches whole strings, brackets, and the quote of an unterminated string. A run of plain characters is one step: a
 * step for each character would overflow the engine's stack on long texts.
 */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|["{}[\]]/gs;

/** Returns the index after the bracket that closes the object or array at `from`. */
function bracketEnd(text: string, from: number, budget: Budget): number | undefined {
  let depth = 0;
  TOKEN.lastIndex = from;
  for (let token = TOKEN.exec(text); token !== null; token = TOKEN.exec(text)) {
    const [mark] = token;
    if (mark === '"') break;
    if (mark === "{" || mark === "[") depth += 1;
    if (mark === "}" || mark === "]") depth -= 1;
    if (depth > 0) continue;
    budget.left -= TOKEN.lastIndex - from;
    return TOKEN.lastIndex;
  }
  budget.left -= text.length - from;
  return undefined;
}

/** Returns the index after the string, number or word at `from`. */
function plainEnd(text: string, from: number, budget: Budget): number | undefined {
  const end = afterMatch(/"[^"\\]*(?:\\.[^"\\]*)*"|[^"{}[\],]+/sy, text, from);
  budget.left -= (end ?? text.length) - from;
  return end;
}

function parseElement(text: string): { readonly element: unknown } | undefined {
  try {
    return { element: JSON.parse(text) };
  } catch {
    // Incomplete: the caller continues at the next message.
    return undefined;
  }
}
