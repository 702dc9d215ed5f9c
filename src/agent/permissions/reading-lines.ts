import { basename, dirname, isAbsolute, join, normalize } from "node:path";
import { isDirectory } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { isPlainRepository } from "./commands/git-config.ts";
import { namesLike } from "./commands/harmless-code.ts";
import { MAX_READ, MAX_READ_DIRS } from "./commands/line-limits.ts";
import type { Reading } from "./commands/options.ts";
import { realOf } from "./commands/path-list.ts";
import { readingOf } from "./commands/readers.ts";
import { isMoreThanName, PatternMatches } from "./files/patterns.ts";
import { listWithCreated } from "./protected-patterns.ts";
import { mayExist, type PermissionQuestion } from "./question.ts";
import { type PermissionRules, parseRule } from "./rules.ts";
import type { ShellLine } from "./shell-line.ts";

/**
 * Returns the absolute paths that a command line reads if each of its commands only reads, and it writes to no file. Such a
 * line needs no rule: its files are checked like the files of Read calls. Undefined for every other line, and if the line could
 * read a file that a rule excludes, or make git run a program that the repository names.
 * @param matches the files that its patterns match
 */
export function pathsOfReadingLine(
  question: PermissionQuestion,
  matches = new PatternMatches(question.line?.patterns ?? new Set(), question.list),
): readonly string[] | undefined {
  const { line, rules, workingDirs, home = "~", resolve } = question;
  const { isPlain = (dir, part) => isPlainRepository(dir, part, home) } = question;
  if (line === undefined || line.unclear !== undefined) return undefined;
  // A loop may enter the directories again, relative to the last one, and run its earlier commands there.
  if (line.anywhere.entersRepeatedly) return undefined;
  if (line.files.some(({ kind }) => kind === "write")) return undefined;
  const cwd = workingDirs[0] ?? "/";
  const listed = matches.directories;
  if (listed === undefined) return undefined;
  const found = readings(line, cwd, home, matches);
  if (found === undefined) return undefined;
  const { all, dirs } = found;
  const paths = [...found.paths, ...listed.flatMap((path) => dirs.map((dir) => absolute(path, dir, home)))];
  if (all.some(({ tree }) => tree) && excludesFiles(rules)) return undefined;
  if (all.some(({ follows }) => follows) && paths.some(mayBeDirectory)) return undefined;
  const obeyed = all.flatMap((reading) => reading.obeys ?? []);
  if (obeyed.some((name) => dirs.some((dir) => isNear(dir, name, question)))) return undefined;
  const git = all.flatMap((reading) => reading.git ?? []);
  const what = git.includes("worktree") ? "worktree" : "objects";
  const real = (dir: string): string => resolve?.(dir) ?? dir;
  if (git.length > 0 && !dirs.every((dir) => isPlain(real(dir), what))) return undefined;
  // A reader without a path reads its input, or the working directory.
  return paths.length === 0 ? [cwd] : [...new Set(paths)];
}

/**
 * Returns the question about a line without the files that it redirects to; unchanged if a pattern of the line may match one of
 * these files, and a program would take its name for an option or an index.
 */
export function withoutWrites(question: PermissionQuestion): PermissionQuestion {
  const { line } = question;
  if (line === undefined) return question;
  const hasPatterns = line.patterns.size > 0;
  if (hasPatterns && line.files.some(({ path }) => isMoreThanName(basename(path)))) return question;
  const files = line.files.filter(({ kind }) => kind === "read");
  return { ...question, list: listWithCreated(question), line: { ...line, files } };
}

interface LineReadings {
  readonly all: readonly Reading[];
  readonly dirs: readonly string[];
  readonly paths: readonly string[];
}

function readings(
  line: ShellLine,
  cwd: string,
  home: string,
  matches: PatternMatches,
): LineReadings | undefined {
  const all: Reading[] = [];
  const dirs = [cwd];
  const paths: string[] = [];
  const inEachDir = (path: string): string[] => dirs.map((dir) => absolute(path, dir, home));
  for (const written of line.commands) {
    const { words, entered } = entering(written);
    if (entered !== undefined) {
      if (entered.startsWith("-") || dirs.length >= MAX_READ_DIRS || matches.has(entered)) return undefined;
      // Some shells remove `link/..` as text, others follow the link.
      const next = inEachDir(entered).flatMap((path) => [...new Set([path, normalize(path)])]);
      paths.push(...next);
      dirs.push(...next);
    }
    if (words === undefined) continue;
    for (const dir of dirs) {
      const found = readingsIn(dir, words, matches);
      if (found === undefined || paths.length > MAX_READ) return undefined;
      all.push(...found);
      const named = found.flatMap((reading) => reading.paths.filter((path) => path !== "-"));
      for (const path of named) paths.push(absolute(path, dir, home));
    }
  }
  return { all, dirs, paths: [...paths, ...line.files.flatMap(({ path }) => inEachDir(path))] };
}

/** Returns the reading of each form of a command in a directory; undefined if a form does more than read. */
function readingsIn(
  dir: string,
  words: readonly string[],
  matches: PatternMatches,
): readonly Reading[] | undefined {
  const found: Reading[] = [];
  for (const form of formsOf(words, dir, matches)) {
    const reading = form && readingOf(form);
    if (reading === undefined) return undefined;
    found.push(reading);
  }
  return readsAnyName(words, matches) ? found : undefined;
}

/** Returns whether a command only reads whichever file its patterns match first: not `awk *`. A shell sorts the names in its own order. */
function readsAnyName(words: readonly string[], matches: PatternMatches): boolean {
  const isPattern = (word: string, at: number): boolean => at > 0 && matches.has(word);
  if (!words.some(isPattern)) return true;
  // A pattern may match several files. find takes no second name, and for uniq and xxd, only their number matters.
  const program = words[0] === "timeout" ? words[2] : words[0];
  const count = /^(?:find|uniq|xxd)$/.test(program ?? "") ? 1 : 2;
  return [0, 1].every((i) => {
    const form = words.flatMap((word, at) => {
      const names = isPattern(word, at) ? namesLike(word) : [];
      return names.length === 0 ? [word] : Array<string>(count).fill(names[i] ?? names[0] ?? word);
    });
    return readingOf(form) !== undefined;
  });
}

interface Entering {
  /** The words of the command; undefined for `cd`. */
  readonly words?: readonly string[];
  /** The directory that a command enters. */
  readonly entered?: string | undefined;
}

/** Splits `git -C a log` into the directory and the command there. */
function entering(words: readonly string[]): Entering {
  const [name, second, third] = words;
  if (name === "cd" && words.length === 2) return { entered: second };
  return name === "git" && second === "-C" && third !== undefined
    ? { entered: third, words: ["git", ...words.slice(3)] }
    : { words };
}

/**
 * Returns the words of a command twice: as written, which shows the role of each word, and with its patterns expanded, because a
 * file may be a link or have the name of an option. The second form is undefined if only the shell can expand the patterns.
 */
function formsOf(
  words: readonly string[],
  dir: string,
  matches: PatternMatches,
): readonly (readonly string[] | undefined)[] {
  // The table lists the names of commands as written: `[` is not a pattern.
  const isPattern = (word: string, at: number): boolean => at > 0 && matches.has(word);
  if (!words.some(isPattern)) return [words];
  const expanded: string[] = [];
  for (const [at, word] of words.entries()) {
    const found = isPattern(word, at) ? matches.in(dir, word) : [word];
    if (found === undefined || expanded.length + found.length > MAX_READ) return [words, undefined];
    for (const name of found) expanded.push(name);
  }
  return [words, expanded];
}

/**
 * Returns whether a directory, or a parent of it below the home directory, has a file of this name. Also checks the real path of
 * the directory.
 */
function isNear(directory: string, name: string, question: PermissionQuestion): boolean {
  const { home = "~", exists = mayExist, resolve = realPathOf } = question;
  const homes = [home, realOf(home, resolve)];
  return [directory, realOf(directory, resolve)].some((dir) => isAbove(dir, name, homes, exists));
}

function isAbove(
  directory: string,
  name: string,
  homes: readonly string[],
  exists: (path: string) => boolean,
): boolean {
  for (let dir = normalize(directory); !homes.includes(dir) && dir !== dirname(dir); dir = dirname(dir))
    if (exists(join(dir, name))) return true;
  return false;
}

/** Returns whether a path is a directory; true if that cannot be checked. */
function mayBeDirectory(path: string): boolean {
  try {
    return isDirectory(path);
  } catch {
    return true;
  }
}

/** Returns whether a rule may exclude files that a reader of a whole tree would read too. */
function excludesFiles({ deny, ask }: PermissionRules): boolean {
  return [...deny, ...ask].some((rule) => {
    const parsed = parseRule(rule);
    return parsed === undefined || (parsed.tool.toLowerCase() === "read" && parsed.pattern !== undefined);
  });
}

/** Not normalized: `link/..` need not be the directory of the link. */
function absolute(path: string, dir: string, home: string): string {
  if (path === "~") return home;
  if (path.startsWith("~/")) return join(home, path.slice(2));
  return isAbsolute(path) ? path : `${dir}/${path}`;
}
