import { brokenRows } from "../word-wrap.ts";
import { changedWords, type Part } from "./changed-words.ts";
import { type DiffLine, parsedDiff } from "./diff-line.ts";
import { quiet, styledRow, wrappedParts } from "./diff-text.ts";
import { isMark, moreLines } from "./left-out.ts";

interface Options {
  /** Columns of the terminal; Infinity for no wrapping. */
  readonly width: number;
  /** No colours; the signs remain. */
  readonly plain: boolean;
  /** Uses only ASCII for the signs between hunks and before continued lines. */
  readonly ascii?: boolean;
  /** Maximum number of rows; one more row says how many lines are left out. */
  readonly limit?: number;
}

/** Columns that a text needs in a row; a narrower terminal shows no line numbers. */
const MIN_TEXT = 12;

/**
 * Returns the rows that show the lines of a unified diff, with line numbers, colours, and changed words in reversed
 * colours. Long lines are wrapped. Hidden characters are escaped, so the rows are safe to print.
 */
export function diffRows(lines: readonly string[], options: Options): string[] {
  const { limit = Number.POSITIVE_INFINITY, plain } = options;
  const all = parsedDiff(lines);
  const write = rowWriter(all, options);
  const rows: string[] = [];
  for (const i of all.keys()) {
    const own = write(i);
    const total = rows.length + own.length;
    // Instead of “1 more line”, show that line.
    const fits = total <= limit || (total === limit + 1 && i === all.length - 1);
    if (!fits) return [...rows, ...own.slice(0, limit - rows.length), quiet(leftOut(all.slice(i)), plain)];
    rows.push(...own);
  }
  return rows;
}

/** Returns each line of a unified diff with the rows that show it, as {@link diffRows} does without a limit. */
export function diffLineRows(
  lines: readonly string[],
  options: Omit<Options, "limit">,
): { readonly line: DiffLine; readonly rows: readonly string[] }[] {
  const all = parsedDiff(lines);
  const write = rowWriter(all, options);
  return all.map((line, i) => ({ line, rows: write(i) }));
}

function leftOut(lines: readonly DiffLine[]): string {
  const counted = lines.filter(({ kind }) => kind !== "gap" && kind !== "end");
  return moreLines(counted.reduce((sum, { text }) => sum + countOf(text), 0));
}

/** Returns how many lines a line of {@link moreLines} stands for; 1 for any other line. */
function countOf(text: string): number {
  const [, count] = /^… (\d+) more lines?$/.exec(text) ?? [];
  return count === undefined ? 1 : Number(count);
}

/** Returns a function that returns the rows of the line at an index. */
function rowWriter(
  all: readonly DiffLine[],
  { width, plain, ascii = false }: Options,
): (at: number) => string[] {
  const digits = all.reduce((most, { number: n = 0 }) => Math.max(most, n === 0 ? 0 : String(n).length), 0);
  const signs = ascii ? { gap: "...", next: ">", tab: ">" } : { gap: "⋮", next: "↳", tab: "→" };
  const isNumbered = digits > 0 && width - digits - 3 >= MIN_TEXT;
  const margin = isNumbered ? digits + 1 : 0;
  const room = Math.max(1, width - margin - 2);
  const pad = " ".repeat(margin);
  const numberOf = ({ number: n }: DiffLine): string =>
    isNumbered && n !== undefined ? quiet(`${String(n).padStart(digits)} `, plain) : pad;
  const textRows = (line: DiffLine, parts: readonly Part[]): string[] =>
    wrappedParts(parts, room, signs.tab).map((row, i) => {
      const [first, sign] = i === 0 ? [numberOf(line), line.kind] : [pad, signs.next];
      return `${first}${styledRow(`${sign} `, row, line.kind, plain)}`.trimEnd();
    });
  const pairs = new Map<number, readonly Part[]>();
  /** Removed lines before this index have been compared with the added ones. */
  let compared = 0;
  return (at) => {
    const line = all[at];
    if (line === undefined) return [];
    const { kind, text } = line;
    if (kind === "gap") return [quiet(signs.gap.padStart(margin - 1), plain)];
    if (kind === "end") return brokenRows(text, room).map((row) => quiet(`${pad}${row}`, plain));
    if (kind === "note") return brokenRows(text, width).map((row) => (isMark(row) ? quiet(row, plain) : row));
    if (kind === "-" && at >= compared) compared = pairWithAdded(all, at, pairs);
    return textRows(line, pairs.get(at) ?? [{ text, changed: false }]);
  };
}

/** Compares removed lines, from an index on, with the lines that replace them, one by one. @returns the end of the removed lines */
function pairWithAdded(all: readonly DiffLine[], from: number, pairs: Map<number, readonly Part[]>): number {
  let added = from;
  while (all[added]?.kind === "-" || all[added]?.kind === "end") added += 1;
  for (let i = from; i < added; i += 1) {
    const [before, after] = [all[i], all[added + i - from]];
    if (before?.kind !== "-" || after?.kind !== "+") break;
    const [left, right] = changedWords(before.text, after.text);
    pairs.set(i, left);
    pairs.set(added + i - from, right);
  }
  return added;
}
