import type { Style } from "../style.ts";
import { cleanCode } from "./clean-text.ts";
import { highlighted, MAX_CODE } from "./highlight.ts";
import { breakSpans, type Row, type Span } from "./spans.ts";

/** After this number of lines, a part of a long code block ends before the next empty line. */
const PART_LINES = 20;
/** After this number of lines, a part ends in any case. */
const MAX_PART_LINES = 40;
const INDENT: Span = { text: "  ", styles: [] };
const NONE: readonly Style[] = [];

/** Returns whether a part of a code block ends before its next line. Never after a blank one: it would not be shown. */
export function endsPart(lines: number, last: string, next: string): boolean {
  if (lines < PART_LINES || last.trim() === "") return false;
  return lines >= MAX_PART_LINES || next.trim() === "";
}

/**
 * Returns the rows of a code block, two columns to the right; long lines are broken. The parts of a long block get their colours
 * separately, so that a part looks the same without the others.
 * @param info the words after the fence; the first one names the language
 */
export function codeRows(lines: readonly string[], info: string, width: number): Row[] {
  const language = /^[\w+#.-]+/.exec(info.trim())?.[0]?.toLowerCase() ?? "";
  return partsOf(lines.map(cleanCode)).flatMap((part) => {
    const code = part.join("\n");
    const spans = (language === "" ? undefined : highlighted(code, language)) ?? [
      { text: code, styles: NONE },
    ];
    return breakSpans(spans, width - 2).map((row) => (row.length === 0 ? row : [INDENT, ...row]));
  });
}

function partsOf(lines: readonly string[]): string[][] {
  const parts = divided(lines, (part, line) => endsPart(part.length, part.at(-1) ?? "", line));
  return parts.flatMap((part) => {
    let length = 0;
    return divided(part, (_, line) => {
      length += line.length + 1;
      const isFull = length > MAX_CODE;
      if (isFull) length = line.length + 1;
      return isFull;
    });
  });
}

function divided(
  lines: readonly string[],
  endsBefore: (part: readonly string[], line: string) => boolean,
): string[][] {
  const parts: string[][] = [];
  for (const line of lines) {
    const part = parts.at(-1);
    if (endsBefore(part ?? [], line) || part === undefined) parts.push([line]);
    else part.push(line);
  }
  return parts;
}
