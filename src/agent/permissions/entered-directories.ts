import { dirname, join, normalize } from "node:path";
import { entryOf } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { isBareRepository, isPlainRepository } from "./commands/git-config.ts";
import { MAX_DIRS } from "./commands/line-limits.ts";
import { absolute, type Directory, followed } from "./commands/path-list.ts";
import { ANYWHERE, literally } from "./commands/pattern-meetings.ts";
import type { PermissionQuestion } from "./question.ts";
import type { ShellLine } from "./shell-line.ts";
import { commandStarts } from "./simple-command.ts";
import { UNKNOWN } from "./syntax/word-values.ts";

/** Commands that change the directory of the shell. */
const ENTERS: ReadonlySet<string> = new Set(["cd", "chdir", "pushd", "popd", "prevd", "nextd", "cdh"]);

/** Returns where a command changes the directory of the shell; undefined if it does not. */
export function enteringAt(words: readonly string[]): number | undefined {
  for (const at of commandStarts(words)) if (ENTERS.has(words[at] ?? "")) return at;
  return undefined;
}

/** `cd x`, `command cd x`. */
export function onlyEnters([first = "", second = ""]: readonly string[]): boolean {
  return ENTERS.has(first) || (/^(?:command|builtin)$/.test(first) && ENTERS.has(second));
}

/** Maximum number of commands of a line that change the directory: the directories after each of them are compared. */
const MAX_ENTERED = 64;
/** Options of `cd` and `pushd`, but not `-`, `-2` and `--`. */
const OPTION = /^-[A-Za-z@]+$|^--$/;
/** `-`, `+1`, `~-`, `~name`: the shell knows more directories than the line shows. */
const KNOWN_TO_SHELL = /^(?:[-+]\d*|~[^/].*)$/s;

/**
 * Returns the directories that a line may be in, the first as it is at the start; undefined if they are too many. One that only the
 * shell knows is a pattern.
 */
export function directoriesOf(
  { anywhere, patterns }: ShellLine,
  cwd: string,
  home: string,
  resolve: (path: string) => string = realPathOf,
): readonly Directory[] | undefined {
  const found = new EnteredDirectories(cwd, home, resolve);
  let count = 0;
  for (const command of anywhere.mentioned) {
    const at = enteringAt(command);
    if (at === undefined) continue;
    count += 1;
    const operands = command.slice(at + 1).filter((word) => !OPTION.test(word));
    if (operands.length === 0 && !/^(?:pushd|popd)$/.test(command[at] ?? "")) found.enter("~");
    // zsh replaces the first of two words in the path by the second.
    if (operands.length > 1 || (anywhere.searchesDirectories && operands.some(isSearched))) found.enterAny();
    for (const to of operands) {
      const isBack = to === "-" && count > 1;
      if (to.includes(UNKNOWN) || (KNOWN_TO_SHELL.test(to) && !isBack)) found.enterAny();
      else if (patterns.has(to) || anywhere.globs.has(to)) found.enterMatches(to);
      else if (!isBack) found.enter(to);
    }
    if (count > MAX_ENTERED || found.size > MAX_DIRS) return undefined;
  }
  return found.all;
}

/** The shell looks for such a word in the directories of CDPATH. */
function isSearched(word: string): boolean {
  return !/^\.{0,2}\//.test(word) && !word.startsWith("~");
}

class EnteredDirectories {
  readonly #found = new Map<string, Directory>();
  readonly #home: string;
  readonly #resolve: (path: string) => string;

  constructor(cwd: string, home: string, resolve: (path: string) => string) {
    this.#found.set(cwd, { path: cwd, isPattern: false });
    this.#home = home;
    this.#resolve = resolve;
  }

  get size(): number {
    return this.#found.size;
  }

  get all(): readonly Directory[] {
    return [...this.#found.values()];
  }

  enter(to: string): void {
    for (const { path, isPattern } of this.all) {
      const word = isPattern ? literally(to) : to;
      const next = absolute(word, path, this.#home);
      this.#add(next, isPattern && !/^[/~]/.test(to));
      // Shells remove `link/..` as text, or follow the link.
      const physical = isPattern ? undefined : followed(to, path, this.#home);
      if (physical !== undefined && this.#real(physical) !== this.#real(next)) this.#add(physical, false);
    }
  }

  enterMatches(pattern: string): void {
    for (const { path, isPattern } of this.all)
      this.#add(absolute(pattern, isPattern ? path : literally(path), this.#home), true);
  }

  enterAny(): void {
    this.#add(`/${ANYWHERE}`, true);
  }

  #add(path: string, isPattern: boolean): void {
    this.#found.set(path, { path, isPattern });
  }

  #real(path: string): string {
    try {
      return this.#resolve(path);
    } catch {
      // A loop of links: both count.
      return path;
    }
  }
}

/** A path that cannot be read may exist. */
function mayExist(path: string): boolean {
  try {
    return entryOf(path) !== undefined;
  } catch {
    return true;
  }
}

/** Returns whether git may push into a directory that has the name of a remote: there, it runs the hooks of that repository. */
export function pushesInto(question: PermissionQuestion, words: readonly string[]): boolean {
  const { line, workingDirs, home = "~", exists = mayExist, resolve } = question;
  if (line === undefined || words[0] !== "git" || !words.includes("push")) return false;
  const dirs = directoriesOf(line, workingDirs[0] ?? "/", home, resolve) ?? [];
  return words.some((word) =>
    dirs.some(({ path: dir }) =>
      [`${word}/HEAD`, `${word}/.git`, `${word}.git/HEAD`].some((path) => exists(join(dir, path))),
    ),
  );
}

/**
 * Returns whether a line with a command of git enters another repository, in which git may run programs that its files name: a
 * directory of the project can be a bare repository.
 */
export function entersOtherRepository(question: PermissionQuestion): boolean {
  const { line, workingDirs, home = "~", exists = mayExist, resolve } = question;
  const { isPlain = (dir, part) => isPlainRepository(dir, part, home) } = question;
  if (line?.commands.some(([name]) => name === "git") !== true) return false;
  const [cwd = "/"] = workingDirs;
  const own = topOf(cwd, exists);
  const dirs = directoriesOf(line, cwd, home, resolve) ?? [];
  const others = dirs.filter(({ path }) => topOf(path, exists) !== own);
  return others.some(({ path, isPattern }) => isPattern || !isPlain(path, "worktree"));
}

/** Returns the directory of the repository that git finds for a directory; undefined without one. */
function topOf(directory: string, exists: (path: string) => boolean): string | undefined {
  for (let at = normalize(directory); ; at = dirname(at)) {
    if (exists(join(at, ".git")) || isBareRepository((name) => exists(join(at, name)))) return at;
    if (at === dirname(at)) return undefined;
  }
}
