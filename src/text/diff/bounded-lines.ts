import { cutText } from "../characters/cut-text.ts";
import { MARK, moreLines } from "./left-out.ts";

/** Limits of a change that is kept for display. */
const MAX_LINES = 400;
const MAX_CHARS = 64_000;
const MAX_LINE = 4_000;

/** Shortens the lines of a change to at most 400 lines and 64,000 characters, and says how much is left out. */
export function boundedLines(lines: readonly string[]): string[] {
  const kept: string[] = [];
  let chars = 0;
  for (const [i, text] of lines.entries()) {
    const part = cutLine(text, MAX_LINE);
    chars += part.reduce((sum, { length }) => sum + length, 0);
    // Instead of “1 more line”, keep that line.
    const isTooMany = i >= MAX_LINES && i + 1 < lines.length;
    if (isTooMany || chars > MAX_CHARS) return [...kept, moreLines(lines.length - i)];
    kept.push(...part);
  }
  return kept;
}

/** Cuts a line to a number of characters. @returns the line, and how much of it is left out */
function cutLine(text: string, max: number): readonly string[] {
  return cutText(text, max, (missing) => `\n${MARK}${missing}`).split("\n");
}
