import { isAbsolute, join, normalize } from "node:path";
import type { ShellLine } from "./shell-line.ts";
import { baseName, commandStarts } from "./simple-command.ts";

/** Commands that change the files in their arguments with any options. */
const WRITERS: ReadonlySet<string> = new Set(
  "tee cp mv ln install touch truncate rm rmdir unlink mkdir mkfifo dd chmod chown shred rsync patch".split(
    " ",
  ),
);
/** Commands that change files only with a certain option or subcommand. */
const WRITES_WITH_OPTION: Readonly<Record<string, RegExp>> = {
  sed: /^(-[a-zA-Z]*i|--in-place)/,
  perl: /^-[a-zA-Z]*i/,
  sort: /^(-[a-zA-Z]*o|--output)/,
  curl: /^(-[a-zA-Z]*[oO]|--output|--remote-name)/,
  wget: /./,
  git: /^(rm|mv|restore|checkout|apply)$/,
};
/** Commands that change the working directory: their arguments count as well. */
const CHANGES_DIRECTORY: ReadonlySet<string> = new Set(["cd", "pushd"]);

/** Commands whose quoted arguments are scripts, not globs: a quoted pattern matches no other file. */
const TAKES_QUOTED_SCRIPT: ReadonlySet<string> = new Set(["sed", "perl"]);

/** A path that a word of a command names. */
export interface WrittenPath {
  readonly path: string;
  /** The path is a glob that may match a hidden file. Only globs with a leading dot do. */
  readonly isHiddenPattern: boolean;
}

/**
 * Returns the paths named by a command line if one of its commands changes files by its name (`tee x`). Files that a program
 * writes on its own are not visible. All words count, because only the command knows which of them it reads and which it
 * writes.
 */
export function writtenPaths(line: ShellLine | undefined, cwd: string, home = "/"): readonly WrittenPath[] {
  const commands = line?.commands ?? [];
  if (!commands.some(writes)) return [];
  const named = commands.filter(
    (words) => writes(words) || words.some((word) => CHANGES_DIRECTORY.has(word)),
  );
  return named.flatMap((words) => {
    const takesScript = TAKES_QUOTED_SCRIPT.has(words[0] ?? "");
    return words.map((word) => {
      const path = pathIn(word, cwd, home);
      const isExpanded = !takesScript || line?.patterns.has(word) === true;
      return { path, isHiddenPattern: isExpanded && HIDDEN_PATTERN.test(path) };
    });
  });
}

/** `.c*`, `.{claude,x}`, `{.claude,x}`. */
const HIDDEN_PATTERN = /(?:^|\/)\.[^/]*[*?[{]|\{(?:[^{}]*,)?\.[^{}]*[,}]/;

function pathIn(word: string, cwd: string, home: string): string {
  // `of=x`, `--output=x`.
  const path = word.replace(/^-*[\w-]+=/, "");
  if (path.startsWith("~/")) return join(home, path.slice(2));
  return isAbsolute(path) ? normalize(path) : join(cwd, path);
}

function writes(words: readonly string[]): boolean {
  const seen = new Set<string>();
  for (const i of commandStarts(words)) {
    const name = baseName(words[i] ?? "");
    if (WRITERS.has(name)) return true;
    const sign = Object.hasOwn(WRITES_WITH_OPTION, name) ? WRITES_WITH_OPTION[name] : undefined;
    // All words after a later occurrence also follow the first. A line may name the command thousands of times.
    if (sign === undefined || seen.has(name)) continue;
    seen.add(name);
    if (words.slice(i + 1).some((word) => sign.test(word))) return true;
  }
  return false;
}
