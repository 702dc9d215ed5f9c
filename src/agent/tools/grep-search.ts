import { dirname, join, relative } from "node:path";
import { messageOf } from "../../errors.ts";
import { pause } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";
import { entryOf } from "../../os/files/fs.ts";
import { ifReadable } from "../../os/files/if-readable.ts";
import { realBytes, realPathOf } from "../../os/files/symlinks.ts";
import { run } from "../../os/process/run.ts";
import { isTimeLimitError, timeLimit } from "../../os/time-limit.ts";
import { fileFilter, globOfType, isFile, listFiles } from "./list-files.ts";
import { SearchGaps } from "./search-gaps.ts";
import { readTextFile } from "./text-file.ts";

export interface GrepQuery {
  readonly pattern: string;
  /** A file or a directory, absolute. */
  readonly path: string;
  readonly glob?: string | undefined;
  /** Only files of this type (list-files.ts). */
  readonly type?: string | undefined;
  readonly ignoreCase: boolean;
  /** The pattern may match across line ends, and `.` matches them. */
  readonly multiline: boolean;
}

/** A match: one line, or several lines that match together. */
export interface GrepMatch {
  /** Absolute; bytes if it is not UTF-8. */
  readonly file: string | Buffer;
  /** The first line, counted from 1. */
  readonly line: number;
  readonly text: string;
  /** The number of lines. */
  readonly span: number;
}

export type GrepOutcome = { readonly matches: readonly GrepMatch[] } | { readonly problem: string };

interface GrepContext {
  readonly env: Env;
  readonly signal: AbortSignal;
  /** Receives the files and directories that the search leaves out. */
  readonly gaps?: SearchGaps | undefined;
}

/** Searches with ripgrep if it is installed, else in JavaScript. Matches are sorted by file name, then line. */
export async function search(query: GrepQuery, context: GrepContext): Promise<GrepOutcome> {
  return (await searchWithRipgrep(query, context)) ?? searchWithoutRipgrep(query, context);
}

const MORE_MATCHES = "there are more matches than can be read; narrow the search";

/** Matches ripgrep's message about a file or directory that it cannot read, unless it was removed meanwhile. */
const UNREAD = /^(?:rg: )?(.+?): (?:IO error for operation on .+: )?[^:]+ \(os error (?!2\))\d+\)$/gm;

/** @returns undefined if ripgrep is not installed, or cannot be started */
export async function searchWithRipgrep(
  query: GrepQuery,
  { env, signal, gaps }: GrepContext,
): Promise<GrepOutcome | undefined> {
  const { pattern, path, ignoreCase, multiline } = query;
  const args = [
    ..."--json --no-config --crlf --hidden --sort path --glob !.git".split(" "),
    ...(ignoreCase ? ["--ignore-case"] : []),
    ...(multiline ? ["--multiline", "--multiline-dotall"] : []),
    ...["--regexp", pattern, "--", path],
  ];
  const { code, signal: endedBy, stdout, stderr, failure } = await run("rg", args, { env, signal });
  signal.throwIfAborted();
  if (failure === "not-found" || failure === "not-started") return undefined;
  const problem = stderr.replace(UNREAD, "").trim();
  if (code === 2 && stdout === "" && problem !== "") return { problem };
  // For example, the system had no memory left.
  if (failure === undefined && endedBy !== undefined)
    return { problem: `The search failed: ripgrep was ended by ${endedBy}. Search a smaller directory.` };
  const lines = stdout.split("\n");
  if (failure === "output-limit") {
    gaps?.add(MORE_MATCHES);
    // The last line is incomplete.
    lines.pop();
  }
  // The filters are applied here: --glob of ripgrep would include files that .gitignore excludes.
  const filter = <T>(items: readonly T[], pathOf: (item: T) => string): readonly T[] | undefined =>
    isFile(path) ? items : matchingItems(items, (item) => relative(path, pathOf(item)), query);
  const matches = filter(lines.flatMap(readRipgrepLine), ({ file }) => String(file));
  const unread = [...stderr.matchAll(UNREAD)].map(([, named = ""]) => named);
  const files = filter(unread.filter(isKnownFile), (file) => file);
  if (matches === undefined || files === undefined) return { problem: SLOW_GLOB };
  // An unreadable directory may contain matching files, whatever its name.
  const others = unread.filter((named) => !isKnownFile(named));
  for (const file of [...files, ...others]) gaps?.addUnreadable(file);
  return { matches };
}

function isKnownFile(path: string): boolean {
  return ifReadable(() => entryOf(path))?.isFile() === true;
}

interface RipgrepText {
  readonly text?: string;
  readonly bytes?: string;
}

function readRipgrepLine(line: string): GrepMatch[] {
  // Other lines (begin, end, summary) are not needed.
  if (!line.startsWith('{"type":"match"') || !line.endsWith("}")) return [];
  const { data } = JSON.parse(line) as {
    data: { path: RipgrepText; lines: RipgrepText; line_number: number };
  };
  const text = String(decode(data.lines)).replace(/\r?\n$/, "");
  return [{ file: decode(data.path), line: data.line_number, text, span: text.split("\n").length }];
}

function decode({ text, bytes = "" }: RipgrepText): string | Buffer {
  return text ?? Buffer.from(bytes, "base64");
}

function filterOf({ glob, type }: GrepQuery): (path: string) => boolean {
  const [byGlob, byType] = [fileFilter(glob), fileFilter(type === undefined ? undefined : globOfType(type))];
  return (path) => byGlob(path) && byType(path);
}

/** Time limit in milliseconds to match all names with a filter. */
const FILTER_TIMEOUT_MS = 5000;
const SLOW_GLOB = "The glob takes too long to match; simplify it.";

/** Returns the items whose names match the filters; undefined if that takes too long. */
function matchingItems<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
  query: GrepQuery,
): T[] | undefined {
  const matches = filterOf(query);
  try {
    return timeLimit(FILTER_TIMEOUT_MS)(() => items.filter((item) => matches(nameOf(item))));
  } catch (error) {
    if (!isTimeLimitError(error)) throw error;
    return undefined;
  }
}

/** Time limit in milliseconds for one file; stops catastrophic backtracking. */
const FILE_TIMEOUT_MS = 2000;
/** Maximum files, and characters in them, between two checks for an interruption: the agent does nothing else meanwhile. */
const BATCH = { files: 100, characters: 8 * 1024 * 1024 };
/** Maximum characters of all matches: as many as are read of ripgrep's output. */
const MAX_FOUND = 64 * 1024 * 1024;

export async function searchWithoutRipgrep(query: GrepQuery, context: GrepContext): Promise<GrepOutcome> {
  const pattern = compile(query);
  if (typeof pattern === "string") return { problem: pattern };
  const { gaps = new SearchGaps() } = context;
  const files = isFile(query.path) ? [query.path] : await filesBelow(query, { ...context, gaps });
  if (files === undefined) return { problem: SLOW_GLOB };
  const matches: GrepMatch[] = [];
  let matched = 0;
  let unchecked = 0;
  const within = timeLimit(FILE_TIMEOUT_MS);
  for (const [i, file] of files.entries()) {
    if (i % BATCH.files === 0 || unchecked > BATCH.characters) {
      await pause(0, context.signal);
      unchecked = 0;
    }
    context.signal.throwIfAborted();
    if (matched > MAX_FOUND) {
      gaps.add(MORE_MATCHES);
      break;
    }
    const text = readableText(file, gaps);
    if (text === undefined) continue;
    unchecked += text.length;
    let found: readonly GrepMatch[];
    try {
      found = within(() => (query.multiline ? acrossLines : byLine)(pattern, file, text));
    } catch (error) {
      return { problem: `${failureOn(file, error)} No results are shown.` };
    }
    // Appended one by one: a push with too many arguments fails.
    for (const match of found) {
      matched += match.text.length;
      matches.push({ ...match, text: copyOf(match.text) });
    }
  }
  return { matches };
}

/** Copies a part of a text: the part itself would keep the whole text of its file in memory. */
function copyOf(part: string): string {
  return Buffer.from(part).toString();
}

function failureOn(file: string | Buffer, error: unknown): string {
  return isTimeLimitError(error)
    ? `The pattern takes too long on ${file}; simplify it, or search a smaller directory.`
    : `The pattern fails on ${file} (${messageOf(error)}); simplify it.`;
}

async function filesBelow(
  query: GrepQuery,
  { env, signal, gaps }: GrepContext & { readonly gaps: SearchGaps },
): Promise<(string | Buffer)[] | undefined> {
  const { path } = query;
  const listed = matchingItems(await listFiles(path, { env, signal, gaps }), ({ name }) => name, query);
  return listed?.map((file) => file.path).filter(liesBelow(path, gaps));
}

/** Returns a filter that drops files reached through a symlink: they may be outside the searched directory. */
function liesBelow(directory: string, gaps: SearchGaps): (file: string | Buffer) => boolean {
  const real = realPathOf(directory);
  const known = new Map<string, boolean>();
  return (file) => {
    if (typeof file !== "string")
      return gaps.unlessUnreadable(file, () => isRealPath(file, directory, real)) ?? false;
    const parent = dirname(file);
    const inside =
      known.get(parent) ??
      gaps.unlessUnreadable(parent, () => realPathOf(parent)) === join(real, relative(directory, parent));
    known.set(parent, inside);
    return inside && (gaps.unlessUnreadable(file, () => entryOf(file)?.isFile()) ?? false);
  };
}

function isRealPath(file: Buffer, directory: string, real: string): boolean {
  const below = file.subarray(Buffer.byteLength(join(directory, "/")));
  const own = Buffer.concat([Buffer.from(join(real, "/")), below]);
  return realBytes(file)?.equals(own) === true && entryOf(file)?.isFile() === true;
}

function readableText(file: string | Buffer, gaps: SearchGaps): string | undefined {
  const content = gaps.unlessUnreadable(file, () => readTextFile(file));
  return content?.problem === undefined ? content?.text : undefined;
}

/** Compiles a pattern, or returns why it is invalid. A leading `(?i)`, as in other tools, is a flag. */
function compile({ pattern, ignoreCase, multiline }: GrepQuery): RegExp | string {
  const source = pattern.replace(/^\(\?i\)/, "");
  const flags = `${multiline ? "gms" : ""}${ignoreCase || source !== pattern ? "i" : ""}`;
  try {
    return new RegExp(source, `${flags}u`);
  } catch {
    // Unicode mode refuses some escapes that other tools accept; without it they have their usual meaning.
    try {
      return new RegExp(source, flags);
    } catch (error) {
      // V8's message: `Invalid regular expression: /[/: Unterminated character class`.
      const why = messageOf(error).split(": ").at(-1) ?? "";
      return `${JSON.stringify(pattern)} is not a valid regular expression: ${why}. Escape characters that are literal.`;
    }
  }
}

function byLine(pattern: RegExp, file: string | Buffer, text: string): GrepMatch[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.flatMap((raw, i) => {
    const line = raw.replace(/\r$/, "");
    return pattern.test(line) ? [{ file, line: i + 1, text: line, span: 1 }] : [];
  });
}

/** Returns the whole lines of each match. A match that begins on the last line of the previous one is part of it. */
function acrossLines(pattern: RegExp, file: string | Buffer, text: string): GrepMatch[] {
  const found: GrepMatch[] = [];
  let covered = 0;
  let line = 1;
  let counted = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index < covered || match.index >= text.length) continue;
    const from = match.index === 0 ? 0 : text.lastIndexOf("\n", match.index - 1) + 1;
    if (from < covered) continue;
    const end = text.indexOf("\n", Math.max(match.index, match.index + match[0].length - 1));
    const whole = text.slice(from, end < 0 ? text.length : end);
    line += text.slice(counted, from).split("\n").length - 1;
    counted = from;
    covered = from + whole.length;
    found.push({ file, line, text: whole, span: whole.split("\n").length });
  }
  return found;
}
