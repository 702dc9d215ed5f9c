import { revealHidden } from "../terminal-text.ts";

/** A line of a unified diff: with its sign, the end of a hunk, or a note such as the mark that lines are left out. */
export interface DiffLine {
  readonly kind: " " | "-" | "+" | "gap" | "end" | "note";
  /** Without the sign, with hidden characters escaped. */
  readonly text: string;
  /** In the new file, or in the old one for a removed line; undefined if unknown. */
  readonly number?: number;
}

/** Numbers the lines of a unified diff. A header becomes the gap between two hunks; the first one is omitted. */
export function parsedDiff(lines: readonly string[]): DiffLine[] {
  const found: DiffLine[] = [];
  let next: { before: number; after: number } | undefined;
  const take = (side: "before" | "after"): { number?: number } => {
    if (next === undefined) return {};
    const { [side]: number } = next;
    next[side] += 1;
    return { number };
  };
  for (const line of lines) {
    const [, before, after] = HEADER.exec(line) ?? [];
    if (before !== undefined) {
      next = { before: Number(before), after: Number(after) };
      if (found.length > 0) found.push({ kind: "gap", text: "" });
      continue;
    }
    const sign = line.charAt(0);
    const text = shown(line.slice(1));
    if (sign === "-") found.push({ kind: sign, text, ...take("before") });
    else if (sign === "+") found.push({ kind: sign, text, ...take("after") });
    else if (sign === " ") {
      take("before");
      found.push({ kind: sign, text, ...take("after") });
    } else if (sign === "\\") found.push({ kind: "end", text: `\\${text.toLowerCase()}` });
    else found.push({ kind: "note", text: shown(line) });
  }
  return found;
}

const HEADER = /^@@ -(\d{1,9})(?:,\d+)? \+(\d{1,9})(?:,\d+)? @@/;

/** Escapes hidden characters, and line ends, which no line of a diff has. */
function shown(text: string): string {
  return PLAIN.test(text) ? text : revealHidden(text).replaceAll("\n", "\\u000a");
}

const PLAIN = /^[\x20-\x7e\t]*$/;
