import { eastAsianWidth } from "get-east-asian-width";
import { REGIONAL_A } from "./terminal-text.ts";

/** Combining marks kept on one character; more would overwrite the rows above. */
const MAX_MARKS = 3;

/** Marks, format characters, and the vowels and final consonants of Hangul, which join the character before them. */
const ZERO_WIDTH = "[\\p{Mn}\\p{Me}\\p{Cf}\\u1160-\\u11ff]";

let zeroWidth: RegExp | undefined;

/** Splits a text into characters with their combining marks; each takes 0, 1 or 2 cells. */
export function cells(text: string): { readonly char: string; readonly width: number }[] {
  const out: { char: string; width: number }[] = [];
  let marks = 0;
  for (const char of text) {
    const width = widthOf(char);
    const last = out.at(-1);
    if (width > 0 || last === undefined) {
      out.push({ char, width });
      marks = 0;
    } else if (marks < MAX_MARKS) {
      last.char += char;
      marks += 1;
    }
  }
  return out;
}

function widthOf(char: string): number {
  const code = char.charCodeAt(0);
  if (code >= 0x20 && code < 0x7f) return 1;
  zeroWidth ??= new RegExp(ZERO_WIDTH, "u");
  if (zeroWidth.test(char)) return 0;
  const point = char.codePointAt(0) ?? code;
  // Half of a flag has no East Asian width, but terminals show it as an emoji.
  return isRegional(point) ? 2 : eastAsianWidth(point);
}

function isRegional(point: number): boolean {
  return point >= REGIONAL_A && point < REGIONAL_A + 26;
}

/** Returns the cells that a line of `gridText` takes. */
export function displayWidth(text: string): number {
  return /^[\x20-\x7e]*$/.test(text) ? text.length : cells(text).reduce((sum, cell) => sum + cell.width, 0);
}

/** Cuts a line to a width in cells and ends it in `…` if it was longer. */
export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let used = 0;
  let out = "";
  for (const cell of cells(text)) {
    if (used + cell.width > width - 1) break;
    out += cell.char;
    used += cell.width;
  }
  return width < 1 ? "" : `${out.trimEnd()}…`;
}
