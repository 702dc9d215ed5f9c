import { createHash } from "node:crypto";
import { type InboxMessage, inboxMessage } from "../../schema/inbox.ts";

/** Fields that a peer may leave out; one of a wrong type is read as left out, and stays in the file as it is. */
const OPTIONAL = ["read", "color", "summary", "msgV", "msg_id", "type"] as const;

/** The entries of an inbox's text, or undefined when it is no array of JSON. */
export function parseEntries(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    // The answer says it; a repair follows.
    return undefined;
  }
}

/** Reads one entry; undefined when it lacks what every peer writes: string `from`, `text`, `timestamp` (interop.md). */
export function readEntry(entry: unknown): InboxMessage | undefined {
  const parsed = inboxMessage.safeParse(entry);
  if (parsed.success) return parsed.data;
  if (typeof entry !== "object" || entry === null) return undefined;
  const wrong = new Set(parsed.error.issues.map((issue) => issue.path[0]));
  const kept = Object.entries(entry).filter(
    ([key]) => !(wrong.has(key) && (OPTIONAL as readonly string[]).includes(key)),
  );
  return inboxMessage.safeParse(Object.fromEntries(kept)).data;
}

/** By what a message is known again: its id, or what it says where a foreign writer gave none. */
export function messageKey({ msg_id, from, timestamp, text }: InboxMessage): string {
  if (msg_id !== undefined && msg_id !== "") return msg_id;
  const said = JSON.stringify([from, timestamp, text]);
  return createHash("sha256").update(said).digest("hex").slice(0, 32);
}

/** Places behind a damage at which a whole entry is looked for in vain: of one damage a few, of rubbish without end no more. */
const MAX_ATTEMPTS = 100;

/**
 * The whole entries of an array that was cut off or written over: its elements up to where the text stops making sense, and
 * every message that stands whole behind that.
 */
export function recoverEntries(text: string): unknown[] {
  const entries: unknown[] = [];
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
    const next = nextMessage(text, from);
    if (next === undefined) return entries;
    entries.push(next.entry);
    from = afterComma(text, next.end);
  }
}

/** The next object that is whole and a message. No text of a message looks like one: its quotes are escaped. */
function nextMessage(
  text: string,
  from: number,
): { readonly entry: unknown; readonly end: number } | undefined {
  OBJECT.lastIndex = from;
  const places = text.matchAll(OBJECT);
  for (let looks = 0; looks < MAX_ATTEMPTS; looks += 1) {
    const at = places.next().value?.index;
    if (at === undefined) return undefined;
    const end = objectEnd(text, at);
    const value = end === undefined ? undefined : parseElement(text.slice(at, end));
    if (end !== undefined && value !== undefined && readEntry(value.element) !== undefined) {
      return { entry: value.element, end };
    }
  }
  return undefined;
}

/** Where an object with anything in it begins. */
const OBJECT = /\{\s*"/g;

function afterComma(text: string, at: number): number {
  return at + (/^\s*,/.exec(text.slice(at))?.[0].length ?? 0);
}

/**
 * Whole strings, what opens and closes, commas, and the quote of a string that does not end. Runs of plain characters are
 * one step each, since of steps a long text has more than the engine's stack holds.
 */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|["{}[\],]/gs;

/** Where the element that begins at `from` ends: at its comma, at the array's bracket, or at the end of the text. */
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

/** Behind the bracket that closes what opens at `from`. */
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
    // Not whole: salvage ends here.
    return undefined;
  }
}
