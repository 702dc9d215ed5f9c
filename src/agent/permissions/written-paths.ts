import { isAbsolute, join, normalize } from "node:path";
import type { ShellLine } from "./shell-line.ts";
import { baseName, commandStarts } from "./simple-command.ts";

/** Commands that change the files that their words name, whatever their options are. */
const WRITERS: ReadonlySet<string> = new Set(
  "tee cp mv ln install touch truncate rm rmdir unlink mkdir mkfifo dd chmod chown shred rsync patch".split(
    " ",
  ),
);
/** Those that do so with a certain word. */
const WRITES_WITH_OPTION: Readonly<Record<string, RegExp>> = {
  sed: /^(-[a-zA-Z]*i|--in-place)/,
  perl: /^-[a-zA-Z]*i/,
  sort: /^(-[a-zA-Z]*o|--output)/,
  curl: /^(-[a-zA-Z]*[oO]|--output|--remote-name)/,
  wget: /./,
  git: /^(rm|mv|restore|checkout|apply)$/,
};
/** Commands behind which a relative path is somewhere else: what they name counts as well. */
const CHANGES_DIRECTORY: ReadonlySet<string> = new Set(["cd", "pushd"]);

/** Those that expand no pattern themselves: what of theirs is quoted names no file but the one that is called so. */
const TAKES_QUOTED_SCRIPT: ReadonlySet<string> = new Set(["sed", "perl"]);

/** What a word of a command names. */
export interface WrittenPath {
  readonly path: string;
  /** It may become any hidden file: a pattern without a dot in front means none of those. */
  readonly isHiddenPattern: boolean;
}

/**
 * The paths that a command line names which changes files by the name of one of its commands (`tee x`); what programs do by themselves
 * nobody sees. Rather one too many: which words are read and which are written only the command knows.
 */
export function writtenPaths(line: ShellLine | undefined, cwd: string, home = "/"): readonly WrittenPath[] {
  const commands = line?.commands ?? [];
  if (!commands.some(writes)) return [];
  const named = commands.filter(
    (words) => writes(words) || words.some((word) => CHANGES_DIRECTORY.has(word)),
  );
  return named.flatMap((words) => {
    const isScripted = TAKES_QUOTED_SCRIPT.has(words[0] ?? "");
    return words.map((word) => {
      const path = pathIn(word, cwd, home);
      const mayBecome = !isScripted || line?.patterns.has(word) === true;
      return { path, isHiddenPattern: mayBecome && HIDDEN_PATTERN.test(path) };
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
    // Behind its first place stands all that stands behind the others: a line may name it thousands of times.
    if (sign === undefined || seen.has(name)) continue;
    seen.add(name);
    if (words.slice(i + 1).some((word) => sign.test(word))) return true;
  }
  return false;
}
