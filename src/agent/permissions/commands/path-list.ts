import { isAbsolute, join, normalize } from "node:path";
import { expandBraces } from "./brace-expansion.ts";
import { MAX_NAMES, MAX_PATH, MAX_PATHS } from "./line-limits.ts";
import { literally } from "./pattern-meetings.ts";

/** A path that a word of a command may name. */
export interface NamedPath {
  readonly path: string;
  /** The path is a glob. */
  readonly isPattern: boolean;
  /** It may match a hidden file. Only globs with a leading dot do. */
  readonly isHiddenPattern: boolean;
}

/** Paths that words of a line may name, absolute. */
export interface NamedPaths {
  readonly paths: readonly NamedPath[];
  /** Why there may be others, as a clause. */
  readonly excess: string | undefined;
}

/** Words as absolute paths, in each directory that the line may be in. */
export class PathList implements NamedPaths {
  readonly #dirs: readonly string[];
  readonly #hasAllDirs: boolean;
  readonly #home: string;
  readonly #matchesHidden: boolean;
  readonly #added = new Set<string>();
  readonly #found = new Map<string, NamedPath>();
  readonly #patterns = new Set<string>();
  #isCut = false;

  /** @param dirs undefined if they are too many */
  constructor(cwd: string, dirs: readonly string[] | undefined, home: string, matchesHidden: boolean) {
    this.#dirs = dirs ?? [cwd];
    this.#hasAllDirs = dirs !== undefined;
    this.#home = home;
    this.#matchesHidden = matchesHidden;
  }

  get excess(): string | undefined {
    if (!this.#hasAllDirs && this.#added.size > 0) return "it may be in too many directories";
    return this.#isFull ? "it names too many files" : undefined;
  }

  get #isFull(): boolean {
    return this.#isCut || this.#added.size > MAX_NAMES || this.#found.size > MAX_PATHS;
  }

  /** Records that a command names more files than are listed. */
  exceed(): void {
    this.#isCut = true;
  }

  get paths(): readonly NamedPath[] {
    return [...this.#found.values()];
  }

  /** The words, with their braces expanded, as patterns of paths in any directory. */
  get patterns(): readonly string[] {
    return [...this.#patterns];
  }

  /** @param isPattern a shell or the program may expand the word */
  add(word: string, isPattern: boolean): void {
    if (word.length > MAX_PATH) {
      // A long pattern may match short paths.
      this.#isCut ||= isPattern && /[{[*?(]/.test(word);
      return;
    }
    const key = `${isPattern} ${word}`;
    if (this.#added.has(key) || this.#isFull) return;
    this.#added.add(key);
    const hidden = this.#matchesHidden ? [word.replace(/(^|\/)(?:\?|(?=\*)|\[[^\]]*\])/g, "$1.")] : [];
    const expanded = expandBraces(word);
    this.#isCut ||= isPattern && !expanded.isWhole;
    for (const text of new Set([word, ...hidden, ...expanded.text.split(" ")])) {
      if (this.#isFull) return;
      const isGlob = isPattern && (/[*?[(]/.test(text) || hasAlternatives(text, /\.\./));
      this.#patterns.add(isGlob ? text : literally(text));
      for (const dir of this.#dirs) {
        const path = absolute(text, dir, this.#home);
        const isHiddenPattern = isPattern && mayMatchHidden(path);
        this.#found.set(`${isGlob} ${isHiddenPattern} ${path}`, { path, isPattern: isGlob, isHiddenPattern });
      }
    }
  }
}

/** Returns whether a pattern may match a hidden file: `.c*`, `.@(claude)`, `.{claude,x}`, `{.claude,x}`. */
function mayMatchHidden(path: string): boolean {
  const isHidden = (part: string): boolean =>
    part.startsWith(".") && (/[*?[(]/.test(part) || hasAlternatives(part, /,|\.\./));
  return path.split("/").some(isHidden) || HIDDEN_ALTERNATIVE.test(path);
}

/** Returns whether a separator of alternatives comes after a brace. */
function hasAlternatives(text: string, separator: RegExp): boolean {
  const open = text.indexOf("{");
  return open >= 0 && separator.test(text.slice(open));
}

const HIDDEN_ALTERNATIVE = /(?:^|[/}])\{(?:\.[^{}]*,|[^{}]*,\.[^{}]*[,}])/;

/** Links of the kernel to the directory of a process, and to the root: `/proc/self/cwd`. */
const PROCESS_LINK = /^\/+proc\/+[^/]+\/+(?:task\/+[^/]+\/+)?(cwd|root)(?=\/|$)/;

/** Returns a word as a path in a directory. */
export function absolute(written: string, dir: string, home: string): string {
  const word = written.replace(PROCESS_LINK, (_, link) => (link === "cwd" ? dir : "/"));
  if (word === "~") return home;
  if (word.startsWith("~/")) return join(home, word.slice(2));
  return isAbsolute(word) ? normalize(word) : join(dir, word);
}
