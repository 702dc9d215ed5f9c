import { revealHidden } from "../terminal-text.ts";

/** Unchanged lines around a change. */
const CONTEXT = 3;
/** The line after a last line without a line end, as in the output of `diff -u`. */
export const NO_NEWLINE = "\\ No newline at end of file";

interface Options {
  /** The texts are parts of a file at an unknown place: the hunks have no header, and their end is not the end of a file. */
  readonly isPart?: true;
  /** Finds the change between lines that differ at both ends. Without it, all of them are replaced. */
  readonly search?: LineSearch;
}

/** Adjacent lines with the same sign. Each line includes its line end. */
export interface Run {
  readonly sign: " " | "-" | "+";
  readonly lines: readonly string[];
}

export type LineSearch = (before: readonly string[], after: readonly string[]) => readonly Run[];

/**
 * Returns the change between two texts as the hunks of a unified diff, with three lines of context. Hidden characters are
 * escaped. A carriage return at each line end of both texts is left out.
 * @returns no lines if the texts are equal
 */
export function changeLines(before: string, after: string, options: Options = {}): string[] {
  if (before === after) return [];
  const { isPart, search = replacedLines } = options;
  const [from, to] = isPart ? wholeLines(before, after) : withoutReturns(before, after);
  const start = commonStart(from, to);
  const end = commonEnd(from, to, start);
  const head = from.slice(0, start);
  const near = lastLines(head, CONTEXT);
  const runs: Run[] = [
    { sign: " ", lines: near },
    ...search(linesOf(from.slice(start, from.length - end)), linesOf(to.slice(start, to.length - end))),
    { sign: " ", lines: firstLines(from.slice(from.length - end), CONTEXT) },
  ];
  const first = countLineEnds(head) - near.length;
  return hunks(runs).flatMap(({ runs: own, skipped }) => {
    const body = own.flatMap(({ sign, lines }) => lines.flatMap((text) => rowsOf(sign, text)));
    return isPart ? body : [header(own, first + skipped.before, first + skipped.after), ...body];
  });
}

export function replacedLines(before: readonly string[], after: readonly string[]): Run[] {
  return [
    { sign: "-", lines: before },
    { sign: "+", lines: after },
  ];
}

/** Lines that precede a hunk and are not in it, in the old and in the new text. */
interface Skipped {
  readonly before: number;
  readonly after: number;
}

interface Hunk {
  readonly runs: readonly Run[];
  readonly skipped: Skipped;
}

/** Cuts runs into hunks: of a long unchanged part, only the lines next to a change remain. */
function hunks(all: readonly Run[]): Hunk[] {
  const found: Hunk[] = [];
  let own: Run[] = [];
  let skipped: Skipped = { before: 0, after: 0 };
  const seen = { before: 0, after: 0 };
  for (const run of all) {
    const { sign, lines } = run;
    const isLong = sign === " " && lines.length > 2 * CONTEXT;
    if (isLong) {
      found.push({ runs: [...own, { sign, lines: lines.slice(0, CONTEXT) }], skipped });
      own = [{ sign, lines: lines.slice(-CONTEXT) }];
    } else own.push(run);
    if (sign !== "+") seen.before += lines.length;
    if (sign !== "-") seen.after += lines.length;
    if (isLong) skipped = { before: seen.before - CONTEXT, after: seen.after - CONTEXT };
  }
  return [...found, { runs: own, skipped }];
}

function header(runs: readonly Run[], before: number, after: number): string {
  const count = (without: Run["sign"]): number =>
    runs.reduce((sum, { sign, lines }) => sum + (sign === without ? 0 : lines.length), 0);
  const range = (skipped: number, lines: number): string => `${lines === 0 ? skipped : skipped + 1},${lines}`;
  return `@@ -${range(before, count("+"))} +${range(after, count("-"))} @@`;
}

function rowsOf(sign: Run["sign"], text: string): readonly string[] {
  if (text.endsWith("\n")) return [`${sign}${revealed(text.slice(0, -1))}`];
  return [`${sign}${revealed(text)}`, NO_NEWLINE];
}

/** {@link revealHidden}, fast for the usual line. */
function revealed(text: string): string {
  return /^[\x20-\x7e\t]*$/.test(text) ? text : revealHidden(text);
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}

function firstLines(text: string, count: number): string[] {
  let end = 0;
  for (let i = 0; i < count && end < text.length; i += 1) end = text.indexOf("\n", end) + 1 || text.length;
  return linesOf(text.slice(0, end));
}

/** Returns the last lines of a text that is empty or ends in a line end. */
function lastLines(text: string, count: number): string[] {
  let start = text.length;
  for (let i = 0; i < count && start > 0; i += 1)
    start = start < 2 ? 0 : text.lastIndexOf("\n", start - 2) + 1;
  return linesOf(text.slice(start));
}

function countLineEnds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Returns the length of the whole lines that both texts begin with. */
function commonStart(a: string, b: string): number {
  const least = Math.min(a.length, b.length);
  let same = 0;
  while (same < least && a.charCodeAt(same) === b.charCodeAt(same)) same += 1;
  return same === 0 ? 0 : a.lastIndexOf("\n", same - 1) + 1;
}

/** Returns the length of the whole lines that both texts end with, after their common start. */
function commonEnd(a: string, b: string, start: number): number {
  const most = Math.min(a.length, b.length) - start;
  let same = 0;
  while (same < most && a.charCodeAt(a.length - 1 - same) === b.charCodeAt(b.length - 1 - same)) same += 1;
  const isAtLine = (text: string): boolean =>
    text.length - same === start || text.charCodeAt(text.length - same - 1) === LINE_FEED;
  if (same === 0 || (isAtLine(a) && isAtLine(b))) return same;
  const next = a.indexOf("\n", a.length - same) + 1;
  return next === 0 ? 0 : a.length - next;
}

const LINE_FEED = 10;

/** Removes the carriage returns if each line of both texts ends in one: the change is then in the lines. */
function withoutReturns(before: string, after: string): readonly [string, string] {
  if (!hasOnlyCrlf(before) || !hasOnlyCrlf(after)) return [before, after];
  return [before.replaceAll("\r\n", "\n"), after.replaceAll("\r\n", "\n")];
}

function hasOnlyCrlf(text: string): boolean {
  return text.includes("\r\n") && !/(?<!\r)\n/.test(text);
}

/** Ends both parts in a line end, so that equal last lines compare as equal. */
function wholeLines(...texts: readonly [string, string]): readonly [string, string] {
  const [before, after] = texts;
  const end = (text: string): string => (text === "" ? "" : `${text}\n`);
  return texts.every((text) => text === "" || text.endsWith("\n")) ? texts : [end(before), end(after)];
}
