import { dirname, join, normalize } from "node:path";
import { entryOf } from "../../os/files/fs.ts";
import { isBareRepository, isPlainRepository } from "./commands/git-config.ts";
import { MAX_DIRS } from "./commands/line-limits.ts";
import { absolute } from "./commands/path-list.ts";
import type { PermissionQuestion } from "./question.ts";
import type { ShellLine } from "./shell-line.ts";
import { commandStarts } from "./simple-command.ts";

/** Commands that change the directory of the shell. */
const ENTERS: ReadonlySet<string> = new Set(["cd", "chdir", "pushd", "popd"]);

/** Returns where a command changes the directory of the shell; undefined if it does not. */
export function enteringAt(words: readonly string[]): number | undefined {
  for (const at of commandStarts(words)) if (ENTERS.has(words[at] ?? "")) return at;
  return undefined;
}

/** `cd x`, `command cd x`. */
export function onlyEnters([first = "", second = ""]: readonly string[]): boolean {
  return ENTERS.has(first) || (/^(?:command|builtin)$/.test(first) && ENTERS.has(second));
}

/** Returns the directories that a line may be in; undefined if they are too many. */
export function directoriesOf(
  { anywhere }: ShellLine,
  cwd: string,
  home: string,
): readonly string[] | undefined {
  const dirs = new Set([cwd]);
  for (const command of anywhere.mentioned) {
    const at = enteringAt(command);
    if (at === undefined) continue;
    const words = command.slice(at + 1);
    // Only the shell knows which word is the directory: `cd -P x`, `cd -- x`, `pushd -n x`.
    for (const to of words.length === 0 ? ["~"] : words) {
      for (const dir of [...dirs]) dirs.add(absolute(to, dir, home));
      if (dirs.size > MAX_DIRS) return undefined;
    }
  }
  return [...dirs];
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
  const { line, workingDirs, home = "~", exists = mayExist } = question;
  if (line === undefined || words[0] !== "git" || !words.includes("push")) return false;
  const dirs = directoriesOf(line, workingDirs[0] ?? "/", home) ?? [];
  return words.some((word) =>
    dirs.some((dir) =>
      [`${word}/HEAD`, `${word}/.git`, `${word}.git/HEAD`].some((path) => exists(join(dir, path))),
    ),
  );
}

/**
 * Returns whether a line with a command of git enters another repository, in which git may run programs that its files name: a
 * directory of the project can be a bare repository.
 */
export function entersOtherRepository(question: PermissionQuestion): boolean {
  const { line, workingDirs, home = "~", exists = mayExist } = question;
  const { isPlain = (dir, part) => isPlainRepository(dir, part, home) } = question;
  if (line?.commands.some(([name]) => name === "git") !== true) return false;
  const [cwd = "/"] = workingDirs;
  const own = topOf(cwd, exists);
  const others = (directoriesOf(line, cwd, home) ?? []).filter((dir) => topOf(dir, exists) !== own);
  return others.some((dir) => !isPlain(dir, "worktree"));
}

/** Returns the directory of the repository that git finds for a directory; undefined without one. */
function topOf(directory: string, exists: (path: string) => boolean): string | undefined {
  for (let at = normalize(directory); ; at = dirname(at)) {
    if (exists(join(at, ".git")) || isBareRepository((name) => exists(join(at, name)))) return at;
    if (at === dirname(at)) return undefined;
  }
}
