import { isAbsolute, join, normalize, relative } from "node:path";
import { expandBraces } from "./brace-expansion.ts";
import { MAX_NAMES, MAX_PATH, MAX_PATHS } from "./line-limits.ts";
import { ANYWHERE, literally, UNKNOWN } from "./pattern-meetings.ts";

/** A path that a word of a command may name. */
export interface NamedPath {
  readonly path: string;
  /** The path is a glob. */
  readonly isPattern: boolean;
  /** It may match a hidden file. Only globs with a leading dot do. */
  readonly isHiddenPattern: boolean;
  /** Only values of variables name it. */
  readonly isValue?: boolean;
}

/** Paths that words of a line may name, absolute. */
export interface NamedPaths {
  readonly paths: readonly NamedPath[];
  /** Why there may be more paths, as a clause. */
  readonly excess: string | undefined;
}

/** A directory that a line may be in. */
export interface Directory {
  readonly path: string;
  /** The path is a glob. */
  readonly isPattern: boolean;
}

/** Words as absolute paths, in each directory that the line may be in. */
export class PathList implements NamedPaths {
  readonly #dirs: readonly Directory[];
  readonly #hasAllDirs: boolean;
  readonly #home: string;
  readonly #matchesHidden: boolean;
  readonly #links: ReadonlySet<string>;
  readonly #added = new Set<string>();
  readonly #found = new Map<string, NamedPath>();
  readonly #patterns = new Set<string>();
  #isCut = false;
  /** Whether the word that is being added is only the value of a variable. */
  #addsValue = false;

  /**
   * @param dirs undefined if there are too many
   * @param links names of links that the line may create
   */
  constructor(
    cwd: string,
    dirs: readonly Directory[] | undefined,
    home: string,
    matchesHidden: boolean,
    links: ReadonlySet<string>,
  ) {
    const all = dirs ?? [{ path: cwd, isPattern: false }];
    const isLinked = all.some(
      ({ path }) => path !== cwd && afterLinks(relative(cwd, path), links) !== undefined,
    );
    this.#dirs = isLinked ? [...all, { path: `/${ANYWHERE}`, isPattern: true }] : all;
    this.#hasAllDirs = dirs !== undefined;
    this.#home = home;
    this.#matchesHidden = matchesHidden;
    this.#links = links;
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

  /**
   * @param isPattern a shell or the program may expand the word
   * @param isValue it is only the value of a variable
   */
  add(word: string, isPattern: boolean, isValue = false): void {
    if (word.length > MAX_PATH) {
      // A long pattern may match short paths.
      this.#isCut ||= isPattern && /[{[*?(]/.test(word);
      return;
    }
    const key = `${isPattern} ${isValue} ${word}`;
    if (this.#added.has(key) || this.#isFull) return;
    this.#added.add(key);
    this.#addsValue = isValue;
    const hidden = this.#matchesHidden ? [word.replace(/(^|\/)(?:\?|(?=\*)|\[[^\]]*\])/g, "$1.")] : [];
    const expanded = expandBraces(word);
    this.#isCut ||= isPattern && !expanded.isWhole;
    for (const text of new Set([word, ...hidden, ...expanded.text.split(" ")])) {
      if (this.#isFull) return;
      this.#addText(text, isPattern);
    }
  }

  #addText(text: string, isPattern: boolean): void {
    const isGlob = isPattern && (/[*?[(]/.test(text) || hasAlternatives(text, /\.\./));
    this.#patterns.add(isGlob ? text : literally(text));
    for (const dir of this.#dirs) this.#addIn(dir, text, isPattern, isGlob);
    // In fish, `a**` also matches names below directories.
    if (isGlob && /[^/*]\*\*|\*\*[^/*]/.test(text) && text.length < MAX_PATH / 4)
      for (const dir of this.#dirs)
        this.#addIn(dir, text.replace(/\*{2,}/g, `*/${ANYWHERE}/*`), isPattern, true);
    const partly = withUnknownName(text);
    if (partly !== undefined) for (const dir of this.#dirs) this.#addIn(dir, partly, false, true);
    for (const rest of [...(afterLinks(text, this.#links) ?? []), ...afterUnknown(text)])
      this.#set(`/${ANYWHERE}/${isGlob ? rest : literally(rest)}`, true, isPattern);
  }

  #addIn(dir: Directory, text: string, isPattern: boolean, isGlob: boolean): void {
    if (dir.isPattern && !/^[/~]/.test(text)) {
      const inside = isGlob ? text : literally(text);
      const isAny = dir.path.endsWith(ANYWHERE);
      this.#set(
        absolute(isAny ? inside.replace(PARENTS, "") : inside, dir.path, this.#home),
        true,
        isPattern,
      );
      if (!isAny && text.includes("..")) this.#set(`${dir.path}/${inside}`, true, isPattern);
      return;
    }
    this.#set(absolute(text, dir.path, this.#home), isGlob, isPattern);
    const real = followed(text, dir.path, this.#home);
    if (real !== undefined) this.#set(real, isGlob, isPattern);
  }

  #set(path: string, isGlob: boolean, isExpanded: boolean): void {
    const isHiddenPattern = isExpanded && mayMatchHidden(path);
    const key = `${isGlob} ${isHiddenPattern} ${path}`;
    const isValue = this.#addsValue && this.#found.get(key)?.isValue !== false;
    this.#found.set(key, { path, isPattern: isGlob, isHiddenPattern, isValue });
  }
}

const PARENTS = /^(?:\.{1,2}\/)+/;

/** Returns the parts of a path after a directory that only the shell knows: `$X/a`, `~+/a`, `/dev/fd/3/a`. */
function afterUnknown(path: string): readonly string[] {
  const parts = path.split("/");
  const at = Math.max(
    parts.findLastIndex((part) => part.includes(UNKNOWN)),
    /^~./.test(parts[0] ?? "") ? 0 : -1,
  );
  const rest = (at < 0 ? afterDescriptor(path) : parts.slice(at + 1).join("/")) ?? "";
  // A directory before `..` does not matter in an unknown one.
  return [rest.replace(/^(?:.*\/)?\.\.\//s, "").replace(PARENTS, "")].filter((text) => text !== "");
}

/** Returns a path in a known directory, whose name only the shell knows, as a pattern: `a/$X`. */
function withUnknownName(path: string): string | undefined {
  const at = path.lastIndexOf("/");
  const isName = at > 0 && !path.slice(0, at).includes(UNKNOWN) && path.includes(UNKNOWN, at);
  return isName ? literally(path) : undefined;
}

/** Returns the parts of a path after each of these links, which may lead anywhere; undefined if it passes through none. */
function afterLinks(path: string, links: ReadonlySet<string>): readonly string[] | undefined {
  if (links.size === 0) return undefined;
  const parts = path.split("/");
  const at = parts.flatMap((part, i) => (links.has(part) && i < parts.length - 1 ? [i + 1] : []));
  const isLink = links.has(parts.at(-1) ?? "");
  if (at.length === 0 && !isLink) return undefined;
  // Of several links, only the first and the last count.
  const ends = new Set([at[0], at.at(-1)].filter((i) => i !== undefined));
  return [...ends].map((i) => parts.slice(i).join("/").replace(PARENTS, "")).filter((rest) => rest !== "");
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

/** A path through a link of the kernel to the working directory or the root of a process: `/proc/self/cwd`, `/dev/fd/../cwd`. */
const PROCESS_LINK = /^(\/+(?:proc|dev\/+fd)\/.*?)\/(cwd|root)(\/.*)?$/s;
const PROCESS = /^\/proc\/[^/]+(?:\/task\/[^/]+)?$/;

/** Replaces such a link by its target. */
function withoutProcessLink(word: string, dir: string): string {
  const [, above = "", link, rest = ""] = PROCESS_LINK.exec(word) ?? [];
  if (link === undefined || !PROCESS.test(normalize(withProcess(above)).replace(/\/$/, ""))) return word;
  return link === "cwd" ? `${dir}${rest}` : withoutProcessLink(rest || "/", dir);
}

/** Replaces `/dev/fd` and `/dev/stdin`, links to the descriptors of a process, by their targets. */
function withProcess(word: string): string {
  return word
    .replace(/^\/+dev\/+fd(?=\/|$)/, "/proc/self/fd")
    .replace(/^\/+dev\/+std(?:in|out|err)(?=\/|$)/, "/proc/self/fd/0");
}

/** A path through an open descriptor, which may be any directory: `cat /dev/fd/3/a 3< sub`. */
const DESCRIPTOR = /^\/proc\/.*\/fd\/+[^/.]+(?=\/|$)/s;

/** Returns the rest of a path after the descriptor of a process; empty for the descriptor itself. Undefined for every other path. */
export function afterDescriptor(word: string): string | undefined {
  if (!/^\/+(?:proc|dev)\//.test(word)) return undefined;
  const path = withProcess(word.replace(/\/(?:\.?\/)+/g, "/"));
  const start = DESCRIPTOR.exec(path)?.[0];
  return start === undefined ? undefined : path.slice(start.length + 1);
}

/** Returns a word as a path in a directory. */
export function absolute(written: string, dir: string, home: string): string {
  const word = withoutProcessLink(written, dir);
  if (word === "~") return home;
  if (word.startsWith("~/")) return join(home, word.slice(2));
  if (isAbsolute(word)) return normalize(word);
  // The directory before `..` may be a link.
  return dir.includes("/..") ? `${dir}/${word}` : join(dir, word);
}

/** Returns a word with `..` as a path in a directory as the system follows it: `..` is the parent of a link's target. */
export function followed(word: string, dir: string, home: string): string | undefined {
  if (!/(?:^|\/)\.\.(?:\/|$)/.test(word)) return undefined;
  const place = word.startsWith("~/") ? `${home}/${word.slice(2)}` : word;
  return isAbsolute(place) ? place : `${dir}/${place}`;
}

/** Returns where a path leads; the path itself if its links cannot be resolved. */
export function realOf(path: string, resolve: ((path: string) => string) | undefined): string {
  try {
    return resolve?.(path) ?? path;
  } catch {
    // A loop of links: the path as written still counts.
    return path;
  }
}
