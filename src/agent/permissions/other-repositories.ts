import { dirname, join, normalize, relative, sep } from "node:path";
import { realPathOf } from "../../os/files/symlinks.ts";
import { changesDirectory, commandsNamed } from "./commands/command-starts.ts";
import { linksMadeBy } from "./commands/created-links.ts";
import { isBareRepository, isPlainRepository, localRemotesAt } from "./commands/git-config.ts";
import { MAX_DIRS } from "./commands/line-limits.ts";
import { absolute, type Directory } from "./commands/path-list.ts";
import { mayExist, type PermissionQuestion } from "./question.ts";
import type { ShellLine } from "./shell-line.ts";
import { directoriesOf } from "./syntax/entered-directories.ts";

/** Returns whether a command is git, even by its path and after a wrapper. */
function runsGit(words: readonly string[]): boolean {
  return commandsNamed(words, /^git$/).length > 0;
}

/**
 * Returns why a rule does not cover a command although it matches: git would act in a repository that the rule's author does not
 * know, and may run programs that the repository names. Undefined if git acts in no such repository.
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

/** Returns why a person must allow a line that runs git and enters another repository; undefined if it enters none. */
export function entersElsewhere(question: PermissionQuestion): string | undefined {
  const place = otherRepository(question);
  return place === undefined ? undefined : `git may run programs that ${place} names`;
}

/** Options of `git push` whose value is the next word. */
const PUSH_VALUE = /^(?:-[a-zA-Z46]*o|--(?:push-option|recurse-submodules|receive-pack|exec|repo))$/;
/** Maximum number of words of a push that are checked as paths: a push with more may be into a directory. */
const MAX_PUSHED = 100;

/** Returns whether git may push into a directory of this machine, where it runs the hooks of that repository. */
function pushesInto(question: PermissionQuestion, words: readonly string[]): boolean {
  const { line, workingDirs, home = "~", exists = mayExist, resolve } = question;
  if (line === undefined) return false;
  if (words.length > MAX_PUSHED) return true;
  const { localRemotes = localRemotesAt } = question;
  const dirs = DIRECTORIES.get(question) ?? directoriesOf(line, workingDirs[0] ?? "/", home, resolve) ?? [];
  DIRECTORIES.set(question, dirs);
  const operands = words
    .slice(words.indexOf("push") + 1)
    .filter((word, at, all) => !word.startsWith("-") && !PUSH_VALUE.test(all[at - 1] ?? ""));
  const [remote] = operands;
  // A word that is a file may name a repository, as `.git` in a worktree does.
  const own = remote === undefined ? [] : ["", ".git", ".bundle"].map((end) => `${remote}${end}`);
  const places = words.flatMap((word) => [`${word}/HEAD`, `${word}/.git`, `${word}.git/HEAD`]);
  return dirs.some(({ path: dir }) => {
    const remotes = localRemotes(dir);
    const named = remotes.filter((name) => remote === undefined || operands.includes(name));
    return named.length > 0 || [...own, ...places].some((path) => exists(join(dir, path)));
  });
}

/**
 * Describes the other repository that a line with git enters and whose files may make git run programs; undefined if it enters
 * none. A directory of the project can be a bare repository.
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
  const own = topOf(realOr(cwd, resolve), exists);
  if (own !== undefined && isNestedBare(own, exists)) return repositoryIn(own);
  const dirs = directoriesOf(line, cwd, home, resolve);
  const named = new Set(
    line.commands.flatMap((words) => (words[0] === "git" && words[1] === "-C" ? [words[2] ?? ""] : [])),
  );
  if (dirs === undefined || named.size > MAX_DIRS)
    return "a repository in one of the command's many directories";
  if (dirs.length === 1 && named.size === 0) return undefined;
  const isCreated = createsDirectory(line, cwd, exists);
  for (const { path, isPattern } of dirs.slice(1)) {
    if (isPattern) return "a repository in a directory that only the shell knows";
    const real = realOr(path, resolve);
    if (isCreated(path, real)) return repositoryIn(path);
    const top = topOf(real, exists);
    if (top !== own && !isPlain(real, "worktree")) return repositoryIn(top ?? real);
  }
  // Repositories that exist are checked where the command reads them.
  const places = dirs.flatMap(({ path }) => [...named].map((word) => absolute(word, path, home)));
  const created = places.find((path) => isCreated(path, realOr(path, resolve)));
  return created === undefined ? undefined : repositoryIn(created);
}

/** Returns a predicate that is true for a directory that the line may create: a repository in it cannot be checked yet. */
function createsDirectory(
  { commands }: ShellLine,
  cwd: string,
  exists: (path: string) => boolean,
): (path: string, real: string) => boolean {
  const creators = commands.filter((words) => words[0] === "git" && linksMadeBy(words) === "any");
  const names = new Set(commands.flatMap((words) => (words[0] === "git" ? [] : (linksMadeBy(words) ?? []))));
  // git writes the configuration at the top of a clone or a worktree. A directory below it may be another repository.
  const isTop = (words: readonly string[], real: string): boolean =>
    /^(?:clone|worktree)$/.test(words[1] ?? "") && exists(dirname(real));
  return (path, real) =>
    names.has("any") ||
    relative(cwd, path)
      .split(sep)
      .some((part) => names.has(part)) ||
    (!exists(real) && creators.some((words) => !isTop(words, real)));
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

/** Returns whether a repository is a bare one inside another repository: a branch or an archive may have added it. */
function isNestedBare(top: string, exists: (path: string) => boolean): boolean {
  const above = dirname(top);
  return above !== top && !exists(join(top, ".git")) && topOf(above, exists) !== undefined;
}

/**
 * Returns whether a line may turn a directory into a bare repository and run git there afterwards. The decision about the line
 * cannot see that repository: a branch can add it to an existing directory.
 */
export function mayFindNewRepository({ anywhere: { mentioned } }: ShellLine): boolean {
  const creator = mentioned.find((words) => linksMadeBy(words) === "any");
  const isAfter = (words: readonly string[]): boolean => runsGit(words) || changesDirectory(words);
  return creator !== undefined && mentioned.some((words) => words !== creator && isAfter(words));
}
