import { listDir } from "../../../os/files/fs.ts";
import { foldedName, isAscii } from "../../../text/folded-name.ts";
import { MAX_PATTERNS } from "../commands/line-limits.ts";
import { decomposed, loosened } from "../commands/pattern-meetings.ts";
import { mayRunIndex } from "../syntax/line-words.ts";

/** Returns the names in a directory; none if it cannot be listed. */
export type ListNames = (directory: string) => readonly string[];

/** How many names one pattern may match, and how many directory entries are compared with it. */
export interface PatternLimits {
  readonly matches: number;
  readonly entries: number;
}

/** More than real commands need: each match is checked as a path. */
const LIMITS: PatternLimits = { matches: 500, entries: 5_000 };

/**
 * Returns the words to which a shell may expand a pattern in a directory; the pattern itself if nothing matches. Too many rather
 * than too few: case is ignored. Undefined if the matches are too many or known only to the shell, or if one of them is more than
 * a name to a program: a file can be named `-exec`, or `a[$(id)]`.
 */
export function expandPattern(
  pattern: string,
  directory: string,
  list: ListNames = listEntries,
  limits = LIMITS,
): readonly string[] | undefined {
  // Shells do not agree about the files that `**` matches.
  if (pattern.includes("**")) return undefined;
  let found = pattern.startsWith("/") ? ["/"] : [""];
  let entries = 0;
  for (const part of pattern.split("/")) {
    if (part === "") continue;
    const matches = matcherOf(part);
    if (matches === undefined) {
      // Not normalized: the directory before `..` may be a link.
      found = found.map((path) => (/^\/?$/.test(path) ? `${path}${part}` : `${path}/${part}`));
      continue;
    }
    found = found.flatMap((path) => {
      const names =
        entries > limits.entries ? [] : list(path.startsWith("/") ? path : `${directory}/${path}`);
      entries += names.length;
      return names.filter(matches).map((name) => (/^\/?$/.test(path) ? `${path}${name}` : `${path}/${name}`));
    });
    if (entries > limits.entries || found.length > limits.matches) return undefined;
  }
  if (found.some(isMoreThanName)) return undefined;
  return found.length === 0 ? [pattern] : found;
}

/** Returns whether the name of a file is more than a name to some program: an option, or an index that runs a command. */
export function isMoreThanName(name: string): boolean {
  return name.startsWith("-") || mayRunIndex(name);
}

/** Finds the files that the patterns of a line match. Lists each directory once, and compares each pattern with it once. */
export class PatternMatches {
  readonly #patterns: ReadonlySet<string>;
  readonly #list: ListNames;
  readonly #limits: PatternLimits | undefined;
  readonly #listed = new Map<string, readonly string[]>();
  readonly #found = new Map<string, readonly string[] | undefined>();
  /** The directories whose entries the shell lists, including for `echo`; undefined if unknown, or with too many patterns. */
  readonly directories: readonly string[] | undefined;

  constructor(patterns: ReadonlySet<string>, list: ListNames = listEntries, limits?: PatternLimits) {
    this.#patterns = patterns;
    this.#list = list;
    this.#limits = limits;
    this.directories = patterns.size > MAX_PATTERNS ? undefined : listedDirectories([...patterns]);
  }

  has(word: string): boolean {
    return this.#patterns.has(word);
  }

  /** Returns the words to which a shell may expand a pattern in a directory; undefined if they are unclear or too many. */
  in(directory: string, pattern: string): readonly string[] | undefined {
    const key = `${directory}\0${pattern}`;
    if (!this.#found.has(key)) {
      const found = expandPattern(pattern, directory, (path) => this.#names(path), this.#limits);
      this.#found.set(key, found);
    }
    return this.#found.get(key);
  }

  #names(directory: string): readonly string[] {
    const names = this.#listed.get(directory) ?? this.#list(directory);
    this.#listed.set(directory, names);
    return names;
  }
}

/** Returns the directories that a shell lists for patterns; undefined if they are unclear. */
function listedDirectories(patterns: readonly string[]): readonly string[] | undefined {
  const starts = patterns.map((pattern) => pattern.slice(0, pattern.search(/[*?[]/)));
  const isUnclear = patterns.some((pattern, i) => {
    const { length } = starts[i] ?? "";
    return pattern.slice(0, length).includes("$") || pattern.slice(length).split("/").includes("..");
  });
  return isUnclear ? undefined : [...new Set(starts.flatMap((start) => /^.*\//.exec(start) ?? []))];
}

/**
 * Returns a predicate that is true if a shell may expand a pattern to a word that begins with `-`, which a program then reads as
 * an option, or to an array index that a builtin evaluates. The directories are listed once.
 * @param directories undefined if they are too many
 * @param created the names of files that other commands may create first
 */
export function optionExpansion(
  directories: () => readonly string[] | undefined,
  list: ListNames = listEntries,
  created: readonly string[] = [],
): (pattern: string) => boolean {
  const own = created.filter(isMoreThanName);
  let options: readonly string[] | undefined;
  return (pattern) => {
    const matches = matcherOf(/^[^/]*/.exec(pattern)?.[0] ?? "");
    if (matches === undefined) return false;
    options ??= directories()?.flatMap((directory) => list(directory).filter(isMoreThanName));
    return own.some(matches) || (options?.some(matches) ?? true);
  };
}

/** Returns a matcher for one part of a pattern; undefined for a plain name. */
function matcherOf(part: string): ((name: string) => boolean) | undefined {
  if (!/[*?[]/.test(part)) return undefined;
  // Quotes and brackets are read differently by shells.
  if (/[^\w.,@%+=:*?~-]/.test(part))
    return (name) => part.startsWith(".") || part.startsWith("[") || !name.startsWith(".");
  const folded = foldedName(part);
  const [matches, matchesLoosely] = [nameMatcher(folded), nameMatcher(loosened(folded))];
  return (name) => {
    if (name.startsWith(".") && !part.startsWith(".")) return false;
    return isAscii(name) ? matches(name.toLowerCase()) : matchesLoosely(decomposed(name));
  };
}

/**
 * Returns a matcher for a pattern of `*`, `?` and other characters, which stand for themselves. No regular expression: a crafted
 * pattern and a crafted name could make one extremely slow.
 */
export function nameMatcher(pattern: string): (name: string) => boolean {
  const wanted = [...pattern.replace(/\*+/g, "*")];
  const least = wanted.filter((char) => char !== "*").length;
  return (name) => {
    if (name.length < least) return false;
    let [at, from] = [0, 0];
    /** The index of the last star, and where in the name its match ends. */
    let star = -1;
    let end = 0;
    while (from < name.length) {
      if (wanted[at] === "*") {
        star = at;
        end = from;
        at += 1;
      } else if (wanted[at] !== undefined && (wanted[at] === "?" || wanted[at] === name[from])) {
        at += 1;
        from += 1;
      } else if (star >= 0) {
        end += 1;
        at = star + 1;
        from = end;
      } else return false;
    }
    return wanted.slice(at).every((char) => char === "*");
  };
}

/** Returns the names in a directory; none if it cannot be listed. */
export function listEntries(directory: string): readonly string[] {
  try {
    return listDir(directory);
  } catch {
    // A file, or a directory that this user cannot list: nothing there can match.
    return [];
  }
}
