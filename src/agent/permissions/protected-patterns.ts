import { basename } from "node:path";
import { commandStarts } from "./commands/command-starts.ts";
import { MAX_PATTERNS } from "./commands/line-limits.ts";
import type { NamedPath } from "./commands/path-list.ts";
import {
  hasWildcard,
  isAnywhere,
  literally,
  namesMeet,
  pathPatternsMeet,
} from "./commands/pattern-meetings.ts";
import { readingOf } from "./commands/readers.ts";
import { writerOf } from "./commands/writers.ts";
import { type ListNames, listEntries, optionExpansion, PatternMatches } from "./files/patterns.ts";
import { mayMatchStartupFile } from "./files/startup-files.ts";
import type { PermissionQuestion } from "./question.ts";
import type { ShellLine } from "./shell-line.ts";
import { directoriesOf } from "./syntax/entered-directories.ts";

/**
 * Returns the files that patterns of a line match now, as far as their names may be protected; undefined if they are too many to
 * check. A pattern that begins with a wildcard may match any name, so only the files that exist count: `rm *.json`.
 * @param directories other protected directories
 */
export function matchedFiles(
  changed: readonly NamedPath[],
  directories: readonly string[],
  { list }: PermissionQuestion,
): readonly string[] | undefined {
  const known = new Set(directories.flatMap((directory) => directory.split("/").map(literally)));
  const mayMatch = (part: string): boolean =>
    hasWildcard(part) &&
    (mayMatchStartupFile(part) || [...known, ...REPOSITORY].some((name) => namesMeet(part, name)));
  const patterns = new Set([...listedPatterns(changed)].filter((path) => path.split("/").some(mayMatch)));
  if (patterns.size > MAX_PATTERNS) return undefined;
  const matches = new PatternMatches(patterns, list);
  const found: string[] = [];
  for (const pattern of patterns) {
    const paths = matches.in("/", pattern);
    if (paths === undefined) return undefined;
    found.push(...paths.filter((path) => path !== pattern));
  }
  return found;
}

/** Returns the patterns that a shell compares with the entries of directories. */
function listedPatterns(named: readonly NamedPath[]): ReadonlySet<string> {
  const all = named.flatMap(({ path, isPattern }) => (isPattern && !isAnywhere(path) ? [path] : []));
  return new Set(all.map((path) => path.replaceAll("**", "*")));
}

/** Maximum number of files whose links are resolved, of one pattern and of all patterns of a line. */
const MAX_RESOLVED = 10_000;

/**
 * Returns the real paths of files that patterns of a line match now through links: their names do not show where they lead.
 * Undefined if the files are too many, or known only to the shell: any of them may be such a link.
 */
export function filesThroughLinks(
  named: readonly NamedPath[],
  { list }: PermissionQuestion,
  resolve: (path: string) => string,
): readonly string[] | undefined {
  const patterns = listedPatterns(named);
  if (patterns.size > MAX_PATTERNS) return undefined;
  const matches = new PatternMatches(patterns, list, { matches: MAX_RESOLVED, entries: 10 * MAX_RESOLVED });
  const found: string[] = [];
  for (const pattern of patterns) {
    const paths = matches.in("/", pattern);
    if (paths === undefined || found.length + paths.length > MAX_RESOLVED) return undefined;
    found.push(...paths);
  }
  return found.map(resolve).filter((path, i) => path !== found[i]);
}

/** Entries of a repository that a pattern may match. */
const REPOSITORY = ["HEAD", "objects", "refs", "config", "commondir"];

/** Returns whether a path or pattern may be a directory or below it. False if a part of it begins with a wildcard. */
export function isPatternInside(pattern: string, directory: string): boolean {
  const parts = pattern.split("/");
  const isKnown = parts.every((part) => !/^[*?[{(]/.test(part));
  return isKnown && pathPatternsMeet(parts, directory.split("/").map(literally));
}

/** Returns a predicate that is true for a word of the line that a shell may expand to an option. */
export function expandsToOption({
  line,
  workingDirs,
  home = "~",
  list,
  resolve,
}: PermissionQuestion): (word: string) => boolean {
  if (line === undefined) return () => false;
  if (line.patterns.size > MAX_PATTERNS) return () => true;
  const directories = (): readonly string[] | undefined => {
    const dirs = directoriesOf(line, workingDirs[0] ?? "/", home, resolve);
    return dirs?.some(({ isPattern }) => isPattern) === true ? undefined : dirs?.map(({ path }) => path);
  };
  return optionExpansion(directories, list, createdNames(line));
}

/** Returns a function that lists a directory, and adds the names of the files that the line may create there. */
export function listWithCreated({ line, list = listEntries }: PermissionQuestion): ListNames {
  let created: readonly string[] | undefined;
  return (directory) => {
    created ??= line === undefined ? [] : createdNames(line);
    return [...new Set([...list(directory), ...created])];
  };
}

/**
 * Returns the names of files that a line may create. A word that begins with `-` counts only after `--`, and only for a program
 * that writes files.
 */
function createdNames({ commands, files }: ShellLine): readonly string[] {
  const words = commands.flatMap((own) => {
    if (readingOf(own) !== undefined) return [];
    const isWriter = [...commandStarts(own)].some((at) => writerOf(own[at] ?? "") !== undefined);
    const end = isWriter ? own.indexOf("--") : -1;
    return own.filter((word, at) => at > 0 && (!word.startsWith("-") || (end >= 0 && at > end)));
  });
  return [...words, ...files.map(({ path }) => path)].map((word) => basename(word));
}
