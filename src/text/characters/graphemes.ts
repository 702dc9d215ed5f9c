/** Code units to search before and after an index for the borders of a character; a longer one is divided between code points. */
const NEAR = 256;
/** The first code unit whose character may join the one before it. */
const JOINS_FROM = 0x300;

let segmenter: Intl.Segmenter | undefined;

/** Splits a text into its characters as a person sees them (grapheme clusters). */
export function graphemes(text: string): readonly string[] {
  return [...segments(text)].map(({ segment }) => segment);
}

/** Returns the last border between two characters that is not after `at`. Only the text near `at` is read. */
export function borderBefore(text: string, at: number): number {
  return characterAround(text, at)[0];
}

/** Returns the first border between two characters that is not before `at`. Only the text near `at` is read. */
export function borderAfter(text: string, at: number): number {
  return characterAround(text, at)[1];
}

/** Returns the start and the end of the character that `at` divides; `at` twice if it is a border. */
function characterAround(text: string, at: number): readonly [number, number] {
  const place = Math.max(0, Math.min(text.length, Math.floor(at)));
  if (isPlainBorder(text, place)) return [place, place];
  let from = place;
  while (from > place - NEAR && !isPlainBorder(text, from)) from -= 1;
  const isBorder = isPlainBorder(text, from);
  if (!isBorder) from = codePointStart(text, from);
  const { index, segment } = segments(text.slice(from, place + NEAR)).containing(place - from) ?? NOTHING;
  const [start, end] = [from + index, from + index + segment.length];
  if (start === place) return [place, place];
  // A character without an end nearby is divided between its code points.
  const isWhole = (isBorder || start > from) && (end < place + NEAR || end === text.length);
  return isWhole ? [start, end] : [codePointStart(text, place), codePointEnd(text, place)];
}

const NOTHING = { index: 0, segment: "" };

/** Created on first use: the data of a segmenter takes memory that an idle agent does not need. */
function segments(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}

/** True for a border that needs no segmenter: an end of the text, or a place between two characters that never join others. */
function isPlainBorder(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return true;
  const [left, right] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return left < JOINS_FROM && right < JOINS_FROM && !(left === 0x0d && right === 0x0a);
}

function codePointStart(text: string, at: number): number {
  return isHalf(text, at) ? at - 1 : at;
}

function codePointEnd(text: string, at: number): number {
  return isHalf(text, at) ? at + 1 : at;
}

/** True if a place is between the two units of one code point. */
function isHalf(text: string, at: number): boolean {
  return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
