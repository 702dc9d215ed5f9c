import { isAbsolute, join } from "node:path";
import { isPlainRepository } from "./commands/git-config.ts";
import type { Reading } from "./commands/options.ts";
import { readingOf } from "./commands/readers.ts";
import type { PermissionQuestion } from "./question.ts";
import { type PermissionRules, parseRule } from "./rules.ts";
import type { ShellLine } from "./shell-line.ts";

/**
 * Returns the absolute paths that a command line reads if each of its commands only reads, and it writes to no file. Such a
 * line needs no rule: its files are decided like calls of Read. Undefined for every other line, and if it could read a file that
 * a rule excludes, or make git run a program that the repository names.
 */
export function pathsOfReadingLine(question: PermissionQuestion): readonly string[] | undefined {
  const { line, rules, workingDirs, home = "~", resolve, isPlain = isPlainRepository } = question;
  if (line === undefined || line.unclear !== undefined) return undefined;
  if (line.files.some(({ kind }) => kind === "write")) return undefined;
  const cwd = workingDirs[0] ?? "/";
  const found = readings(line, cwd, home);
  if (found === undefined) return undefined;
  const { all, dirs, paths } = found;
  if (all.some(({ tree }) => tree) && excludesFiles(rules)) return undefined;
  const git = all.flatMap((reading) => reading.git ?? []);
  const what = git.includes("worktree") ? "worktree" : "objects";
  const real = (dir: string): string => resolve?.(dir) ?? dir;
  if (git.length > 0 && !dirs.every((dir) => isPlain(real(dir), what))) return undefined;
  // A reader without a path reads its input, or the working directory.
  return paths.length === 0 ? [cwd] : [...new Set(paths)];
}

/** Maximum number of directories that a line may be in: each relative path counts in all of them. */
const MAX_DIRS = 8;

interface LineReadings {
  readonly all: readonly Reading[];
  readonly dirs: readonly string[];
  readonly paths: readonly string[];
}

function readings(line: ShellLine, cwd: string, home: string): LineReadings | undefined {
  const all: Reading[] = [];
  const dirs = [cwd];
  const paths: string[] = [];
  const inEachDir = (path: string): string[] => dirs.map((dir) => absolute(path, dir, home));
  for (const words of line.commands) {
    const entered = words[0] === "cd" && words.length === 2 ? words[1] : undefined;
    if (entered !== undefined && !entered.startsWith("-") && dirs.length < MAX_DIRS) {
      const next = inEachDir(entered);
      paths.push(...next);
      dirs.push(...next);
      continue;
    }
    const reading = readingOf(words);
    // A pattern may match a link that leads outside.
    const isPattern = reading?.contents === true && words.some((word) => line.patterns.has(word));
    if (reading === undefined || isPattern) return undefined;
    all.push(reading);
    paths.push(...reading.paths.filter((path) => path !== "-").flatMap(inEachDir));
  }
  return { all, dirs, paths: [...paths, ...line.files.flatMap(({ path }) => inEachDir(path))] };
}

/** Returns whether a rule excludes files that a reader of a whole tree would read too. */
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
