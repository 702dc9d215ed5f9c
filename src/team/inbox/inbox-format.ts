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

/** Identifies a message: its id or, if another program wrote none, a hash of its content. */
export function messageKey({ msg_id, from, timestamp, text }: InboxMessage): string {
  if (msg_id !== undefined && msg_id !== "") return msg_id;
  const content = JSON.stringify([from, timestamp, text]);
  return createHash("sha256").update(content).digest("hex").slice(0, 32);
}

/** Positions after damaged text that are tried for a whole entry: one damage needs a few, endless rubbish must stop. */
const MAX_ATTEMPTS = 100;
/** Damaged parts of one text: each may be read to the end of the text. */
const MAX_DAMAGED = 100;

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
  let from = start ?? 0;
  for (;;) {
    const end = start === undefined ? undefined : elementEnd(text, from);
    const whole = end === undefined ? undefined : parseElement(text.slice(from, end));
    if (end !== undefined && whole !== undefined) {
      entries.push(whole.element);
      from = end + 1;
      continue;
    }
    const next = damage.length < MAX_DAMAGED ? nextMessage(text, from) : undefined;
    damage.push(text.slice(from, next?.start));
    if (next === undefined) return { entries, damage: damage.filter((part) => !/^[\s\],]*$/.test(part)) };
    entries.push(next.entry);
    from = afterComma(text, next.end);
  }
}

/** Returns the next complete object that is a message. The text of a message never matches, since its quotes are escaped. */
function nextMessage(
  text: string,
  from: number,
): { readonly entry: unknown; readonly start: number; readonly end: number } | undefined {
  OBJECT.lastIndex = from;
  const places = text.matchAll(OBJECT);
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
    const at = places.next().value?.index;
    if (at === undefined) return undefined;
    const end = objectEnd(text, at);
    const value = end === undefined ? undefined : parseElement(text.slice(at, end));
    if (end !== undefined && value !== undefined && readEntry(value.element) !== undefined) {
      return { entry: value.element, start: at, end };
    }
  }
  return undefined;
}

/** The start of a non-empty object. */
const OBJECT = /\{\s*"/g;

function afterComma(text: string, at: number): number {
  return at + (/^\s*,/.exec(text.slice(at))?.[0].length ?? 0);
}

/**
 * Matches whole strings, brackets, commas, and the quote of an unterminated string. A run of plain characters is one
 * step: a step for each character would overflow the engine's stack on long texts.
 */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|["{}[\],]/gs;

/** Returns the end of the element at `from`: its comma, the array's closing bracket, or the end of the text. */
function elementEnd(text: string, from: number): number | undefined {
  let depth = 0;
  TOKEN.lastIndex = from;
  for (let token = TOKEN.exec(text); token !== null; token = TOKEN.exec(text)) {
    const [mark] = token;
    if (mark === '"') return undefined;
    if (depth === 0 && (mark === "," || mark === "]")) return token.index;
    if (mark === "{" || mark === "[") depth += 1;
    if (mark === "}" || mark === "]") depth -= 1;
  }
  return depth === 0 && text.slice(from).trim() !== "" ? text.length : undefined;
}

/** Returns the index after the bracket that closes the object at `from`. */
function objectEnd(text: string, from: number): number | undefined {
  let depth = 0;
  TOKEN.lastIndex = from;
  for (let token = TOKEN.exec(text); token !== null; token = TOKEN.exec(text)) {
    const [mark] = token;
    if (mark === '"') return undefined;
    if (mark === "{" || mark === "[") depth += 1;
    if (mark === "}" || mark === "]") depth -= 1;
    if (depth === 0) return token.index + 1;
  }
  return undefined;
}

function parseElement(text: string): { readonly element: unknown } | undefined {
  try {
    return { element: JSON.parse(text) };
  } catch {
    // Incomplete: the caller continues at the next message.
    return undefined;
  }
}
