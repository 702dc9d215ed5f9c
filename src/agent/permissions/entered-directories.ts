import { dirname, join, normalize, relative, sep } from "node:path";
import { realPathOf } from "../../os/files/symlinks.ts";
import { commandStarts, commandsNamed } from "./commands/command-starts.ts";
import { linksMadeBy } from "./commands/created-links.ts";
import { isBareRepository, isPlainRepository, localRemotesAt } from "./commands/git-config.ts";
import { MAX_DIRS, MAX_PATTERNS } from "./commands/line-limits.ts";
import { absolute, type Directory, followed } from "./commands/path-list.ts";
import { ANYWHERE, literally, UNKNOWN } from "./commands/pattern-meetings.ts";
import { optionExpansion } from "./files/patterns.ts";
import { mayExist, type PermissionQuestion } from "./question.ts";
import type { ShellLine } from "./shell-line.ts";

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
 * Returns the directories that a line may be in, the first as it is at the start; undefined if they are too many. A directory that only
 * the shell knows is a pattern.
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
    const isExpanded = (word: string): boolean => patterns.has(word) || anywhere.globs.has(word);
    // `cd -` leads back to a directory that the line was in.
    for (const to of operands) if (to !== "-" || count === 1) found.enterWord(to, isExpanded(to));
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

  enterWord(to: string, isExpanded: boolean): void {
    if (to.includes(UNKNOWN) || KNOWN_TO_SHELL.test(to)) this.enterAny();
    else if (isExpanded) this.#enterMatches(to);
    else this.enter(to);
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

  #enterMatches(pattern: string): void {
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

/** Returns a predicate: whether a shell may expand a word of the line to an option. */
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
  return optionExpansion(directories, list);
}

/** Returns whether a command is git, also by its path and after a wrapper. */
function runsGit(words: readonly string[]): boolean {
  return commandsNamed(words, /^git$/).length > 0;
}

/**
 * Returns why a rule does not cover a command although it matches: git would act in a repository that the rule's author does not know,
 * and may run programs that it names. Undefined if it would not.
 */
export function actsElsewhere(
  question: PermissionQuestion,
  words: readonly string[],
  isWide: boolean,
): string | undefined {
  if (!runsGit(words)) return undefined;
  return isWide && words.includes("push") && pushesInto(question, words)
    ? "git may run the hooks of a repository on this machine, to which it pushes"
    : entersElsewhere(question);
}

/** Returns why a line with a command of git that enters another repository needs a person; undefined if it enters none. */
export function entersElsewhere(question: PermissionQuestion): string | undefined {
  const place = otherRepository(question);
  return place === undefined ? undefined : `git may run programs that ${place} names`;
}

/** Returns whether git may push into a directory: there, it runs the hooks of that repository. */
function pushesInto(question: PermissionQuestion, words: readonly string[]): boolean {
  const { line, workingDirs, home = "~", exists = mayExist, resolve } = question;
  if (line === undefined) return false;
  const { localRemotes = localRemotesAt } = question;
  const dirs = DIRECTORIES.get(question) ?? directoriesOf(line, workingDirs[0] ?? "/", home, resolve) ?? [];
  DIRECTORIES.set(question, dirs);
  const [remote] = words.slice(words.indexOf("push") + 1).filter((word) => !word.startsWith("-"));
  // A word that is a file may name a repository, as `.git` in a worktree does.
  const own = remote === undefined ? [] : ["", ".git", ".bundle"].map((end) => `${remote}${end}`);
  const places = words.flatMap((word) => [`${word}/HEAD`, `${word}/.git`, `${word}.git/HEAD`]);
  return dirs.some(({ path: dir }) => {
    const remotes = localRemotes(dir);
    const isLocal = remote === undefined ? remotes.length > 0 : remotes.includes(remote);
    return isLocal || [...own, ...places].some((path) => exists(join(dir, path)));
  });
}

/**
 * Returns the other repository that a line with a command of git enters, in words; undefined if it enters none in which git may run
 * programs that its files name. A directory of the project can be a bare repository.
 */
function otherRepository(question: PermissionQuestion): string | undefined {
  if (!ENTERING.has(question)) ENTERING.set(question, findOtherRepository(question));
  return ENTERING.get(question);
}

/** Caches for one decision, which asks once for each command of a line. */
const ENTERING = new WeakMap<PermissionQuestion, string | undefined>();
const DIRECTORIES = new WeakMap<PermissionQuestion, readonly Directory[]>();

/** Maximum length of a directory that a reason names, in characters. */
const MAX_SHOWN = 80;

function repositoryIn(path: string): string {
  return path.length > MAX_SHOWN ? "another repository" : `a repository in ${path}`;
}

function findOtherRepository(question: PermissionQuestion): string | undefined {
  const { line, workingDirs, home = "~", exists = mayExist, resolve = realPathOf } = question;
  const { isPlain = (dir, part) => isPlainRepository(dir, part, home) } = question;
  if (line?.commands.some(runsGit) !== true) return undefined;
  const [cwd = "/"] = workingDirs;
  const dirs = directoriesOf(line, cwd, home, resolve);
  if (dirs === undefined) return "a repository in one of too many directories";
  if (dirs.length === 1) return undefined;
  const own = topOf(resolve(cwd), exists);
  const made = line.commands.flatMap((words) => (words[0] === "git" ? [] : (linksMadeBy(words) ?? [])));
  const isMade = (path: string): boolean =>
    made.includes("any") ||
    relative(cwd, path)
      .split(sep)
      .some((part) => made.includes(part));
  for (const { path, isPattern } of dirs.slice(1)) {
    if (isPattern) return "a repository in a directory that only the shell knows";
    const real = realOr(path, resolve);
    // The command makes it, so it cannot be read yet.
    if (isMade(path) || isMadeByGit(line, real, exists)) return repositoryIn(path);
    const top = topOf(real, exists);
    if (top !== own && !isPlain(real, "worktree")) return repositoryIn(top ?? real);
  }
  return undefined;
}

/** Returns whether git may create a directory from another branch, where an unchecked repository may be. */
function isMadeByGit({ commands }: ShellLine, path: string, exists: (path: string) => boolean): boolean {
  const isMade = commands.some(
    (words) =>
      words[0] === "git" && !/^(?:clone|worktree)$/.test(words[1] ?? "") && linksMadeBy(words) === "any",
  );
  return isMade && !exists(path);
}

function realOr(path: string, resolve: (path: string) => string): string {
  try {
    return resolve(path);
  } catch {
    // A loop of links: no program enters it.
    return path;
  }
}

/** Returns the directory of the repository that git finds for a directory; undefined without one. */
function topOf(directory: string, exists: (path: string) => boolean): string | undefined {
  for (let at = normalize(directory); ; at = dirname(at)) {
    if (exists(join(at, ".git")) || isBareRepository((name) => exists(join(at, name)))) return at;
    if (at === dirname(at)) return undefined;
  }
}
