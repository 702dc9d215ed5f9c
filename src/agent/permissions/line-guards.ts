import { basename, isAbsolute, join, normalize } from "node:path";
import picomatch from "picomatch";
import { readingOf } from "./commands/readers.ts";
import { harmfulCode } from "./commands/runners.ts";
import { isTextOption, scriptWords, tokensOf } from "./commands/scripts.ts";
import { UNKNOWN } from "./line-parts.ts";
import type { PermissionQuestion } from "./question.ts";
import { parseRule, patternRuleFor, type RuleSubject, refusingRule } from "./rules.ts";
import type { ShellLine } from "./shell-line.ts";
import { baseName, expandBraces } from "./simple-command.ts";

/** A path that a word of a command may name. */
export interface NamedPath {
  readonly path: string;
  /** The path is a glob that may match a hidden file. Only globs with a leading dot do. */
  readonly isHiddenPattern: boolean;
}

/** The paths that the words of a line may name, absolute. */
interface LinePaths {
  /** Words of commands that only read contents. */
  readonly read: readonly string[];
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
  const { read, changed } = pathsIn(question);
  const written = changed.map(({ path }) => path);
  const found =
    wordRule(forFiles, "read", [...read, ...written], question, subject) ??
    wordRule(forFiles, "write", written, question, subject);
  return found === undefined ? undefined : `The rule ${found} covers a file that the line names.`;
}

/** Returns why a line may write a file of a rule for Edit: only the shell knows where it writes. */
export function unknownTarget({ line, rules }: PermissionQuestion): string | undefined {
  const isUnknown = line?.anywhere.files.some(({ kind, path }) => kind === "write" && path.includes(UNKNOWN));
  const edits = [...rules.deny, ...rules.ask].find((rule) => isForFiles(rule) && !/^\s*read/i.test(rule));
  return isUnknown === true && edits !== undefined
    ? `The rule ${edits} may apply: only the shell knows where the line writes.`
    : undefined;
}

/** Returns the reason to refuse a line that is too complex for any rule. */
export function excessRefusal(rules: readonly string[], { line }: PermissionQuestion): string | undefined {
  const excess = line?.anywhere.excess;
  return excess === undefined || rules.length === 0 ? undefined : `No rule can be checked: ${excess}.`;
}

function isForFiles(rule: string): boolean {
  const parsed = parseRule(rule);
  return parsed?.pattern !== undefined && /^(?:read|edit|write)$/i.test(parsed.tool);
}

function wordRule(
  rules: readonly string[],
  kind: "read" | "write",
  paths: readonly string[],
  { resolve }: PermissionQuestion,
  subject: RuleSubject,
): string | undefined {
  const all = [...new Set(paths)].slice(0, MAX_RESOLVED);
  const globs = all.filter((path) => /[*?[]/.test(basename(path)));
  const access = { kind, paths: all } as const;
  const realPaths = all.map((path) => realOf(path, resolve ?? subject.resolve));
  return rules.find(
    (rule) =>
      refusingRule([rule], {
        ...subject,
        line: undefined,
        tool: kind === "read" ? "Read" : "Edit",
        access,
        realPaths,
      }) !== undefined ||
      (isAbout(rule, kind) && globs.some((glob) => globMayMatch(glob, rule))),
  );
}

function isAbout(rule: string, kind: "read" | "write"): boolean {
  return /^\s*read/i.test(rule) === (kind === "read");
}

/** Returns whether the last part of a glob in a command may match the file that a rule names: `cat .e??`. */
function globMayMatch(path: string, rule: string): boolean {
  const wanted = basename(parseRule(rule)?.pattern ?? "");
  const glob = basename(path);
  if (wanted === "" || /[*?[\]{}]/.test(wanted)) return false;
  if (glob.length > MAX_GLOB || glob.split("*").length > MAX_STARS) return true;
  // A glob matches a hidden file only if it begins with a dot.
  return picomatch.isMatch(wanted, glob, { nocase: true, dot: glob.startsWith(".") });
}

/** Limits of globs that are matched: longer ones count as a match, because a crafted one can be slow. */
const MAX_GLOB = 100;
const MAX_STARS = 6;
/** Maximum number of paths whose links are resolved for one line. */
const MAX_RESOLVED = 4_000;

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
  const inEachDir = (word: string): string[] =>
    [...new Set([word, ...expandBraces(word).split(" ")])].flatMap((text) =>
      dirs.map((dir) => absolute(text, dir, home)),
    );
  const commands = [...line.commands, ...anywhere.mentioned].filter(([name]) => !ENTERS.has(name ?? ""));
  const changing = commands.filter((words) => contentsRead(words) === undefined);
  const read = [...commands.flatMap((words) => contentsRead(words) ?? []), ...anywhere.loose];
  const written = anywhere.files.flatMap(({ kind, path }) => (kind === "write" ? [path] : []));
  if (changing.length === 0 && written.length === 0) {
    return { read: [...new Set(plain(read).flatMap(inEachDir))], changed: [], isCut: false };
  }
  const changed = new Map<string, NamedPath>();
  const added = new Set<string>();
  const add = (word: string, isExpanded = false): void => {
    const key = `${isExpanded} ${word}`;
    if (added.has(key) || added.size > MAX_NAMES || word.length > MAX_PATH) return;
    added.add(key);
    for (const path of inEachDir(word)) {
      const isHiddenPattern = isExpanded && HIDDEN_PATTERN.test(path);
      changed.set(`${isHiddenPattern} ${path}`, { path, isHiddenPattern });
    }
  };
  const isGlob = (word: string): boolean =>
    word.includes("{") || patterns.has(word) || anywhere.globs.has(word);
  for (const words of changing) {
    const expands = words.some((word) => EXPANDS_PATTERNS.has(baseName(word)));
    for (const word of namesIn(words)) add(word, expands || isGlob(word));
  }
  // Values of variables and items of loops may become words of each command.
  for (const word of [...written, ...anywhere.loose, ...anywhere.loose.flatMap(tokensOf), ...dirs.slice(1)])
    add(word);
  return {
    read: [...new Set(plain(read).flatMap(inEachDir))],
    changed: [...changed.values()],
    isCut: added.size > MAX_NAMES || written.length > MAX_REDIRECTIONS,
  };
}

/** Maximum number of different words of a line that are checked as paths: above honest use. */
const MAX_NAMES = 2_000;
/** Maximum number of redirections that are decided like reads and writes. */
export const MAX_REDIRECTIONS = 500;
/** Maximum length of a path: no system opens a longer one. */
const MAX_PATH = 4_096;

function plain(words: readonly string[]): readonly string[] {
  return [...new Set(words)].filter((word) => word.length <= MAX_PATH).slice(0, MAX_NAMES);
}

/** Returns the files whose contents a command reads, if it changes nothing; undefined for every other command. */
function contentsRead(words: readonly string[]): readonly string[] | undefined {
  if (isPrintingSed(words)) return words.slice(1);
  const reading = readingOf(words);
  if (reading === undefined) return undefined;
  // `HEAD:.env` is a file of a revision.
  return reading.contents ? reading.paths.flatMap((path) => [path, path.slice(path.indexOf(":") + 1)]) : [];
}

const ENTERS: ReadonlySet<string> = new Set(["cd", "chdir", "pushd", "popd"]);
/** Maximum number of directories that a line enters: more count as the working directory. */
const MAX_DIRS = 8;

function directoriesOf({ anywhere }: ShellLine, cwd: string, home: string): string[] {
  const dirs = [cwd];
  for (const [name = "", to] of anywhere.mentioned) {
    if (!ENTERS.has(name) || to === undefined || dirs.length >= MAX_DIRS) continue;
    dirs.push(...dirs.map((dir) => absolute(to, dir, home)));
  }
  return [...new Set(dirs)];
}

/** Programs that expand a quoted pattern themselves. */
const EXPANDS_PATTERNS: ReadonlySet<string> = new Set(
  "find fd git rsync tar zip xargs rm cp mv ln tee install chmod".split(" "),
);

/** `.c*`, `.{claude,x}`, `{.claude,x}`. */
const HIDDEN_PATTERN = /(?:^|\/)\.[^/]*[*?[{]|\{(?:[^{}]*,)?\.[^{}]*[,}]/;

/** sed without `-i` and without commands that write, which only prints. */
function isPrintingSed(words: readonly string[]): boolean {
  const writes = /^(?:-[a-zA-Z]*[if]|--in-place|--file)/;
  return words[0] === "sed" && !words.some((word) => writes.test(word)) && harmfulCode(words).length === 0;
}

/** Returns the texts in a command's words that may be paths. */
function namesIn(words: readonly string[]): string[] {
  const named = words.slice(1).filter((_, i) => {
    const before = isTextOption(words, i);
    return isTextOption(words, i + 1) === undefined && before !== "with-next";
  });
  const suffixed = suffixesOf(words).flatMap((suffix) => named.map((word) => `${word}${suffix}`));
  return [...named.flatMap(namesInWord), ...suffixed, ...scriptWords(words).flatMap(tokensOf)];
}

/** Returns a word, and the parts of it that a program may take for a path. */
function namesInWord(word: string): string[] {
  const afterEquals = word.includes("=")
    ? [word.slice(word.indexOf("=") + 1), word.slice(word.lastIndexOf("=") + 1)]
    : [];
  const parts = /[:@]/.test(word) ? word.split(/[:@]/, MAX_PARTS) : [];
  // `-t.git`, `-Dt.claude`: the text after some letters is a value.
  const cluster = /^-\w/.test(word) ? word.slice(0, MAX_CLUSTER).length : 0;
  const values = Array.from({ length: Math.max(0, cluster - 2) }, (_, i) => word.slice(i + 2));
  return [word, ...afterEquals, ...parts, ...values];
}

/** Maximum number of parts of a word that may be paths. */
const MAX_PARTS = 64;

/** Maximum number of letters before a value in the same word. */
const MAX_CLUSTER = 12;

/** `cp --suffix=rc` keeps a copy of `.bash` as `.bashrc`. */
function suffixesOf(words: readonly string[]): string[] {
  return words.flatMap((word, at) => {
    const glued = /^(?:--suffix=|-[bfvrn]*S|-i|--in-place=)(.+)$/.exec(word)?.[1];
    const next = word === "-S" || word === "--suffix" ? words[at + 1] : undefined;
    return [glued, next].filter((text) => text !== undefined);
  });
}

function absolute(word: string, dir: string, home: string): string {
  if (word === "~") return home;
  if (word.startsWith("~/")) return join(home, word.slice(2));
  return isAbsolute(word) ? normalize(word) : join(dir, word);
}
