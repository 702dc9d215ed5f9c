import { borderAfter, borderBefore } from "./graphemes.ts";

/*
 * All texts are cut here, between two characters: half of a surrogate pair is not valid text, and a server refuses each request that
 * contains one. Limits count UTF-16 units. `npm run cuts` finds cuts elsewhere.
 */

/** Returns the start of a text, of at most `max` units. A first character that does not fit is cut between its code points. */
export function textStart(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = borderBefore(text, max);
  return text.slice(0, end > 0 ? end : codePoints(text, max));
}

/** Returns the end of a text, of at most `max` units. A last character that does not fit is left out. */
export function textEnd(text: string, max: number): string {
  return text.length <= max ? text : text.slice(borderAfter(text, text.length - max));
}

/**
 * Cuts a text to at most `max` units, and appends a note about what is missing.
 * @param note returns the note
 */
export function cutText(text: string, max: number, note: (missing: string) => string = inParens): string {
  if (text.length <= max) return text;
  const start = textStart(text, max);
  return `${start}${note(moreCharacters(characterCount(text, start.length)))}`;
}

/** Cuts a short text for a list or a line to at most `max` units, including the sign `…` at its end. */
export function shortened(text: string, max: number): string {
  return text.length <= max ? text : `${textStart(text, max - 1)}…`;
}

/** {@link shortened} for a text whose end is its most important part. */
export function shortenedStart(text: string, max: number): string {
  return text.length <= max ? text : `…${textEnd(text, max - 1)}`;
}

/** Returns the number of code points of a text, starting at an index. */
export function characterCount(text: string, from = 0): number {
  let count = 0;
  for (let i = from; i < text.length; i += 1) {
    // The second half of a pair does not count.
    const isSecond = (text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800;
    if (!isSecond) count += 1;
  }
  return count;
}

function moreCharacters(count: number): string {
  return `${count} more ${count === 1 ? "character" : "characters"}`;
}

function inParens(missing: string): string {
  return `… (${missing})`;
}

/** Returns the length in units of the longest start of a text that fits and divides no code point. */
function codePoints(text: string, max: number): number {
  let length = 0;
  for (const char of text) {
    if (length + char.length > max) break;
    length += char.length;
  }
  return length;
}
