import { isAbsolute, join, normalize } from "node:path";
import { wrappedAt } from "./commands/data-words.ts";
import { contentsRead, namesIn } from "./commands/named-words.ts";
import { readingOf } from "./commands/readers.ts";
import { tokensOf } from "./commands/scripts.ts";
import { passedNames } from "./denied-names.ts";
import type { LineParts } from "./line-parts.ts";
import { patternsMeet } from "./path-rules.ts";
import type { PermissionQuestion } from "./question.ts";
import { parseRule, patternRuleFor, type RuleSubject, refusingRule } from "./rules.ts";
import type { ShellLine } from "./shell-line.ts";
import { baseName, commandStarts, expandBraces } from "./simple-command.ts";

/** A path that a word of a command may name. */
export interface NamedPath {
  readonly path: string;
  /** The path is a glob. */
  readonly isPattern: boolean;
  /** It may match a hidden file. Only globs with a leading dot do. */
  readonly isHiddenPattern: boolean;
}

/** The paths that the words of a line may name, absolute. */
interface LinePaths {
  /** Words of commands that only read contents. */
  readonly read: readonly NamedPath[];
  /** Words of every other command: only the program knows which of them it writes. */
  readonly changed: readonly NamedPath[];
  /** The line names more files than are checked. */
  readonly isCut: boolean;
}

/**
 * Returns why a deny or ask rule stops a line beyond the commands that it shows: the line is too complex to search, it hides a
 * program, or one of its words names a file of a rule for Read or Edit.
 */
export function lineRefusal(
  rules: readonly string[],
  question: PermissionQuestion,
  subject: RuleSubject,
): string | undefined {
  const { line } = question;
  if (line === undefined || rules.length === 0) return undefined;
  const { hidden } = line.anywhere;
  const rule = hidden === undefined ? undefined : patternRuleFor(rules, subject);
  if (rule !== undefined) return `The rule ${rule} may apply: ${hidden}.`;
  const forFiles = rules.filter(isForFiles);
  if (forFiles.length === 0) return undefined;
  const { read, changed, isCut } = pathsIn(question);
  if (isCut) return `The rule ${forFiles[0]} may apply: the line names too many files.`;
  const found =
    wordRule(forFiles, "read", [...read, ...changed], question, subject) ??
    wordRule(forFiles, "write", changed, question, subject);
  return found === undefined ? undefined : `The rule ${found} covers a file that the line names.`;
}

/** Returns the reason to refuse a line that is too complex for any rule. */
export function excessRefusal(rules: readonly string[], { line }: PermissionQuestion): string | undefined {
  const excess = line?.anywhere.excess;
  return excess === undefined || rules.length === 0 ? undefined : `No rule can be checked: ${excess}.`;
}

export function isForFiles(rule: string): boolean {
  const parsed = parseRule(rule);
  return parsed?.pattern !== undefined && /^(?:read|edit|write)$/i.test(parsed.tool);
}

function wordRule(
  rules: readonly string[],
  kind: "read" | "write",
  named: readonly NamedPath[],
  { resolve }: PermissionQuestion,
  subject: RuleSubject,
): string | undefined {
  const paths = [...new Set(named.map(({ path }) => path))];
  const globs = [...new Set(named.flatMap(({ path, isPattern }) => (isPattern ? [path] : [])))];
  const access = { kind, paths } as const;
  const realPaths = paths.map((path) => realOf(path, resolve ?? subject.resolve));
  return rules.find(
    (rule) =>
      refusingRule([rule], {
        ...subject,
        line: undefined,
        tool: kind === "read" ? "Read" : "Edit",
        access,
        realPaths,
      }) !== undefined ||
      (isAbout(rule, kind) && globs.some((glob) => globMeets(glob, rule, subject))),
  );
}

function isAbout(rule: string, kind: "read" | "write"): boolean {
  return /^\s*read/i.test(rule) === (kind === "read");
}

function globMeets(path: string, rule: string, subject: RuleSubject): boolean {
  const pattern = parseRule(rule)?.pattern;
  return pattern !== undefined && patternsMeet(pattern, path, subject);
}

export function realOf(path: string, resolve: ((path: string) => string) | undefined): string {
  try {
    return resolve?.(path) ?? path;
  } catch {
    // A loop of links: the path as written still counts.
    return path;
  }
}

/** Returns the paths that commands of a line may change: all words of each command that does more than read. */
export function changedByLine(question: PermissionQuestion): readonly NamedPath[] {
  return question.line === undefined ? [] : pathsIn(question).changed;
}

/** Returns the paths that commands of a line may read or change. */
export function namedByLine(question: PermissionQuestion): readonly string[] {
  const { read, changed } = pathsIn(question);
  return [...changed, ...read].map(({ path }) => path);
}

/** Returns whether a line names more files than are checked. */
export function namesTooManyFiles(question: PermissionQuestion): boolean {
  return question.line !== undefined && pathsIn(question).isCut;
}

/** The paths of the last lines: each decision needs them several times. */
const known = new WeakMap<ShellLine, { readonly key: string; readonly paths: LinePaths }>();

function pathsIn(question: PermissionQuestion): LinePaths {
  const { line, workingDirs, home } = question;
  if (line === undefined) return { read: [], changed: [], isCut: false };
  const key = `${workingDirs[0]}\n${home}`;
  const found = known.get(line);
  if (found?.key === key) return found.paths;
  const paths = collectPaths(line, workingDirs[0] ?? "/", home ?? "~");
  known.set(line, { key, paths });
  return paths;
}

function collectPaths(line: ShellLine, cwd: string, home: string): LinePaths {
  const { anywhere, patterns } = line;
  const dirs = directoriesOf(line, cwd, home);
  const commands = [...line.commands, ...anywhere.mentioned].filter(([name]) => !ENTERS.has(name ?? ""));
  const isGlob = (word: string): boolean => patterns.has(word) || anywhere.globs.has(word);
  const read = new PathList(dirs, home, anywhere.matchesHidden);
  const changed = new PathList(dirs, home, anywhere.matchesHidden);
  for (const words of commands) {
    const contents = contentsRead(words);
    const list = contents === undefined ? changed : read;
    const expands = expansionBy(words);
    const mayExpand = (word: string): boolean =>
      expands(word) || isGlob(word) || (list === changed && word.includes("{") && isBare(word));
    for (const word of contents ?? namesIn(words)) list.add(word, mayExpand(word));
  }
  const passed = passedNames(anywhere);
  for (const word of [...anywhere.loose, ...redirectedIn(anywhere, "read"), ...passed])
    read.add(word, isGlob(word));
  const written = redirectedIn(anywhere, "write");
  const isChanging = written.length > 0 || commands.some((words) => contentsRead(words) === undefined);
  if (isChanging) {
    // Values of variables and items of loops may become words of each command.
    const tokens = anywhere.loose.flatMap(tokensOf);
    for (const word of [...written, ...anywhere.loose, ...tokens, ...dirs.slice(1), ...passed])
      changed.add(word, isGlob(word));
  }
  const lists = new Set(commands.map((words) => listFor(words, read, changed)));
  for (const list of lists) for (const word of appendedNames(anywhere)) list?.add(word, false);
  return {
    read: read.paths,
    changed: changed.paths,
    isCut: read.isCut || changed.isCut || written.length > MAX_REDIRECTIONS || dirs.length > MAX_DIRS,
  };
}

function redirectedIn({ files }: LineParts, wanted: "read" | "write"): readonly string[] {
  return files.flatMap(({ kind, path }) => (kind === wanted ? [path] : []));
}

/** Returns whether the program of a command expands a quoted pattern itself. */
function expansionBy(words: readonly string[]): (word: string) => boolean {
  const programs = [...commandStarts(words)].map((at) => baseName(words[at] ?? ""));
  if (programs.some((name) => EXPANDS_PATTERNS.has(name))) return () => true;
  // curl expands brackets in URLs, and names files by what they matched.
  const isCurl = programs.includes("curl");
  return (word) => isCurl && ((word.includes("[") && isBare(word)) || /(?:^|\/)\.[^/]*\*/.test(word));
}

const isBare = (word: string): boolean => !/["'\s]/.test(word);

/** Returns where names belong that a command gets from its input: xargs and parallel append them to the command that they run. */
function listFor(words: readonly string[], read: PathList, changed: PathList): PathList | undefined {
  const at = words.findIndex((word) => APPENDS.test(word));
  if (at < 0) return undefined;
  const reading = readingOf(words.slice(at + (wrappedAt(words.slice(at)) ?? 0)));
  if (reading === undefined) return changed;
  return reading.contents ? read : undefined;
}

/** Words as absolute paths, in each directory that the line may be in. */
class PathList {
  readonly #dirs: readonly string[];
  readonly #home: string;
  readonly #matchesHidden: boolean;
  readonly #added = new Set<string>();
  readonly #found = new Map<string, NamedPath>();

  constructor(dirs: readonly string[], home: string, matchesHidden: boolean) {
    this.#dirs = dirs;
    this.#home = home;
    this.#matchesHidden = matchesHidden;
  }

  get isCut(): boolean {
    return this.#added.size > MAX_NAMES || this.#found.size > MAX_PATHS;
  }

  get paths(): readonly NamedPath[] {
    return [...this.#found.values()];
  }

  add(word: string, isPattern: boolean): void {
    const key = `${isPattern} ${word}`;
    if (this.#added.has(key) || this.isCut || word.length > MAX_PATH) return;
    this.#added.add(key);
    const hidden = this.#matchesHidden ? [word.replace(/(^|\/)(?:\?|(?=\*)|\[[^\]]*\])/g, "$1.")] : [];
    for (const text of new Set([word, ...hidden, ...expandBraces(word).split(" ")])) {
      if (this.isCut) return;
      for (const dir of this.#dirs) {
        const path = absolute(text, dir, this.#home);
        const isGlob = isPattern && /[*?[(]|\{.*\.\./.test(text);
        const isHiddenPattern = isPattern && HIDDEN_PATTERN.test(path);
        this.#found.set(`${isGlob} ${isHiddenPattern} ${path}`, { path, isPattern: isGlob, isHiddenPattern });
      }
    }
  }
}

/** Returns the names that the line itself gives to xargs or parallel: words of echo, here-documents, names that find looks for. */
function appendedNames({ mentioned, inputs }: LineParts): readonly string[] {
  const named = mentioned.flatMap(([name = "", ...rest]) => {
    if (/^(?:echo|printf|print)$/.test(name)) return rest.flatMap((word) => [word, ...tokensOf(word)]);
    return name === "find" ? rest.filter((_, at) => isSearchedName(rest, at)) : [];
  });
  return [...named, ...[...inputs.values()].flatMap(tokensOf)];
}

const APPENDS = /(?:^|\/)(?:g?xargs|parallel)$/;

/** `-name x`, but not `! -name x`. */
function isSearchedName(words: readonly string[], at: number): boolean {
  return (
    /^-i?(?:name|path|wholename)$/.test(words[at - 1] ?? "") && !/^(?:!|-not)$/.test(words[at - 2] ?? "")
  );
}

/** Maximum number of different words of a line that are checked as paths: more than real commands need. */
const MAX_NAMES = 2_000;
/** Maximum number of paths of these words, in all directories that the line may be in: the links of each are resolved. */
const MAX_PATHS = 4_000;
/** Maximum number of redirections that are decided like reads and writes. */
export const MAX_REDIRECTIONS = 500;
/** Maximum length of a path: no system opens a longer one. */
const MAX_PATH = 4_096;

const ENTERS: ReadonlySet<string> = new Set(["cd", "chdir", "pushd", "popd"]);
/** Maximum number of directories that a line may be in. */
const MAX_DIRS = 32;

/** Returns the directories that a line may be in. */
export function directoriesOf({ anywhere }: ShellLine, cwd: string, home: string): string[] {
  const dirs = new Set([cwd]);
  for (const [name = "", ...words] of anywhere.mentioned) {
    if (!ENTERS.has(name)) continue;
    // Only the shell knows which word is the directory: `cd -P x`, `cd -- x`, `pushd -n x`.
    for (const to of words.length === 0 ? ["~"] : words) {
      for (const dir of [...dirs]) dirs.add(absolute(to, dir, home));
      if (dirs.size > MAX_DIRS) return [...dirs];
    }
  }
  return [...dirs];
}

/** Programs that expand a quoted pattern themselves. */
const EXPANDS_PATTERNS: ReadonlySet<string> = new Set(
  "find fd git rsync tar zip xargs rm cp mv ln tee install chmod split csplit".split(" "),
);

/** `.c*`, `.@(claude)`, `.{claude,x}`, `{.claude,x}`. */
const HIDDEN_PATTERN =
  /(?:^|\/)\.[^/]*(?:[*?[(]|\{[^/]*(?:,|\.\.))|(?:^|[/}])\{(?:\.[^{}]*,|[^{}]*,\.[^{}]*[,}])/;

/** Links of the kernel to the directory of a process, and to the root: `/proc/self/cwd`. */
const PROCESS_LINK = /^\/+proc\/+[^/]+\/+(?:task\/+[^/]+\/+)?(cwd|root)(?=\/|$)/;

function absolute(written: string, dir: string, home: string): string {
  const word = written.replace(PROCESS_LINK, (_, link) => (link === "cwd" ? dir : "/"));
  if (word === "~") return home;
  if (word.startsWith("~/")) return join(home, word.slice(2));
  return isAbsolute(word) ? normalize(word) : join(dir, word);
}
