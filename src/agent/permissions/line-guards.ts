import { wrappedAt } from "./commands/data-words.ts";
import { MAX_DIRS } from "./commands/line-limits.ts";
import { contentsRead, hasManyColons, namesIn } from "./commands/named-words.ts";
import { absolute, type NamedPath, type NamedPaths, PathList } from "./commands/path-list.ts";
import { readingOf } from "./commands/readers.ts";
import { tokensOf } from "./commands/scripts.ts";
import { passedNames } from "./denied-names.ts";
import type { LineParts } from "./line-parts.ts";
import { patternsMeet } from "./path-rules.ts";
import type { PermissionQuestion } from "./question.ts";
import { parseRule, patternRuleFor, type RuleSubject, refusingRule } from "./rules.ts";
import type { ShellLine } from "./shell-line.ts";
import { baseName, commandStarts } from "./simple-command.ts";

interface LinePaths {
  /** Of words of commands that only read contents. */
  readonly read: NamedPaths;
  /** Of words of every other command: only the program knows which of them it writes. */
  readonly changed: NamedPaths;
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
  const { read, changed } = pathsIn(question);
  const excess = read.excess ?? changed.excess;
  if (excess !== undefined) return `The rule ${forFiles[0]} may apply: ${excess}.`;
  const found =
    wordRule(forFiles, "read", [...read.paths, ...changed.paths], question, subject) ??
    wordRule(forFiles, "write", changed.paths, question, subject);
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
export function changedByLine(question: PermissionQuestion): NamedPaths {
  return pathsIn(question).changed;
}

/** Returns the paths that commands of a line may read or change. */
export function namedByLine(question: PermissionQuestion): readonly string[] {
  const { read, changed } = pathsIn(question);
  return [...changed.paths, ...read.paths].map(({ path }) => path);
}

/** Cache of each line's paths: one decision needs them several times. */
const known = new WeakMap<ShellLine, { readonly key: string; readonly paths: LinePaths }>();

function pathsIn(question: PermissionQuestion): LinePaths {
  const { line, workingDirs, home } = question;
  if (line === undefined) return { read: NO_PATHS, changed: NO_PATHS };
  const key = `${workingDirs[0]}\n${home}`;
  const found = known.get(line);
  if (found?.key === key) return found.paths;
  const paths = collectPaths(line, workingDirs[0] ?? "/", home ?? "~");
  known.set(line, { key, paths });
  return paths;
}

const NO_PATHS: NamedPaths = { paths: [], excess: undefined };

function collectPaths(line: ShellLine, cwd: string, home: string): LinePaths {
  const { anywhere, patterns } = line;
  const dirs = directoriesOf(line, cwd, home);
  const commands = [...line.commands, ...anywhere.mentioned].filter(([name]) => !ENTERS.has(name ?? ""));
  const isGlob = (word: string): boolean => patterns.has(word) || anywhere.globs.has(word);
  const read = new PathList(cwd, dirs, home, anywhere.matchesHidden);
  const changed = new PathList(cwd, dirs, home, anywhere.matchesHidden);
  for (const words of commands) {
    const contents = contentsRead(words);
    const list = contents === undefined ? changed : read;
    const expands = expansionBy(words);
    const mayExpand = (word: string): boolean =>
      expands(word) || isGlob(word) || (list === changed && word.includes("{") && isBare(word));
    const names = contents ?? namesIn(words);
    if (names === undefined || contents?.some(hasManyColons) === true) list.exceed();
    else for (const word of names) list.add(word, mayExpand(word));
  }
  const passed = passedNames(anywhere);
  for (const word of [...anywhere.loose, ...redirectedIn(anywhere, "read"), ...passed])
    read.add(word, isGlob(word));
  const written = redirectedIn(anywhere, "write");
  const isChanging = written.length > 0 || commands.some((words) => contentsRead(words) === undefined);
  if (isChanging) {
    // Values of variables and items of loops may become words of each command.
    const tokens = anywhere.loose.flatMap(tokensOf);
    for (const word of [...written, ...anywhere.loose, ...tokens, ...(dirs ?? []).slice(1), ...passed])
      changed.add(word, isGlob(word));
  }
  const lists = new Set(commands.map((words) => listFor(words, read, changed)));
  for (const list of lists) for (const word of appendedNames(anywhere)) list?.add(word, false);
  return { read, changed };
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
  // JSON in the data has brackets too, but also quotes. A name of an output (`.#1`) counts with both.
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

const ENTERS: ReadonlySet<string> = new Set(["cd", "chdir", "pushd", "popd"]);

/** Returns the directories that a line may be in; undefined if they are too many. */
export function directoriesOf(
  { anywhere }: ShellLine,
  cwd: string,
  home: string,
): readonly string[] | undefined {
  const dirs = new Set([cwd]);
  for (const [name = "", ...words] of anywhere.mentioned) {
    if (!ENTERS.has(name)) continue;
    // Only the shell knows which word is the directory: `cd -P x`, `cd -- x`, `pushd -n x`.
    for (const to of words.length === 0 ? ["~"] : words) {
      for (const dir of [...dirs]) dirs.add(absolute(to, dir, home));
      if (dirs.size > MAX_DIRS) return undefined;
    }
  }
  return [...dirs];
}

/** Programs that expand a quoted pattern themselves. */
const EXPANDS_PATTERNS: ReadonlySet<string> = new Set(
  "find fd git rsync tar zip xargs rm cp mv ln tee install chmod split csplit".split(" "),
);
