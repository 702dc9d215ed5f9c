import { APPENDS_INPUT, commandStarts } from "../commands/command-starts.ts";
import { wrappedAt } from "../commands/data-words.ts";
import { searchedNames } from "../commands/named-words.ts";
import type { PathList } from "../commands/path-list.ts";
import { readingOf } from "../commands/readers.ts";
import { baseName } from "../commands/runners.ts";
import { tokensOf } from "../commands/scripts.ts";
import type { LineParts } from "../syntax/parts.ts";

/** Returns a predicate: whether the program of a command expands a quoted word itself. */
export function expandsPatterns(words: readonly string[]): (word: string) => boolean {
  const programs = [...commandStarts(words)].map((at) => baseName(words[at] ?? ""));
  if (programs.some((name) => EXPANDS_PATTERNS.has(name))) return () => true;
  // curl expands brackets in URLs, and names files by the matched text.
  const isCurl = programs.includes("curl");
  // JSON in the data has brackets too, but also quotes. The name of an output (`.#1`) counts even with quotes.
  return (word) => isCurl && ((word.includes("[") && isBare(word)) || /(?:^|\/)\.[^/]*\*/.test(word));
}

/** Returns whether a word has no quote and no whitespace. */
export const isBare = (word: string): boolean => !/["'\s]/.test(word);

/**
 * Returns the list for names that a command gets from its input: xargs and parallel append them to the command that they run.
 * Undefined for every other command, and if the names are only shown.
 */
export function listForInput(
  words: readonly string[],
  read: PathList,
  changed: PathList,
): PathList | undefined {
  const at = words.findIndex((word) => APPENDS_INPUT.test(word));
  if (at < 0) return undefined;
  const reading = readingOf(words.slice(at + (wrappedAt(words.slice(at)) ?? 0)));
  if (reading === undefined) return changed;
  return reading.contents ? read : undefined;
}

/** Returns the names that the line itself gives to xargs or parallel: words of echo, here-documents, names that find looks for. */
export function appendedNames({ mentioned, inputs }: LineParts): readonly string[] {
  const named = mentioned.flatMap(([name = "", ...rest]) => {
    if (/^(?:echo|printf|print)$/.test(name)) return rest.flatMap((word) => [word, ...tokensOf(word)]);
    return name === "find" ? searchedNames(rest) : [];
  });
  return [...named, ...[...inputs.values()].flatMap(tokensOf)];
}

/** Programs that expand a quoted pattern themselves. */
const EXPANDS_PATTERNS: ReadonlySet<string> = new Set(
  "find fd git rsync tar zip xargs rm cp mv ln tee install chmod split csplit".split(" "),
);
