import { ASSIGNMENT } from "../commands/command-starts.ts";
import { baseName, runnerOf } from "../commands/runners.ts";
import type { LineParts } from "../syntax/parts.ts";

/** Builtins whose words set variables. */
const SETS_VARIABLES = /^(?:export|declare|typeset|local|readonly)$/;
/** Builtins that run a script. */
const SOURCES = /^(?:\.|source)$/;

/** The words of a command by their role for files. */
interface WordRoles {
  /** The command without values of variables, and without the paths of the files in `reads`. */
  readonly own: readonly string[];
  /** Words that only set variables: `NAME=value`. */
  readonly values: readonly string[];
  /** Files that it certainly does not change: the program or script that it runs, and configurations that its options name. */
  readonly reads: readonly string[];
}

/** Returns the roles of the words of a command, as far as its name shows them. */
export function rolesOf(words: readonly string[], parts: LineParts): WordRoles {
  const [name = ""] = words;
  const isBuiltin = SETS_VARIABLES.test(name) || SOURCES.test(name);
  if (isRenamed(name, isBuiltin ? parts.builtins : parts.functions))
    return { own: words, values: [], reads: [] };
  if (SETS_VARIABLES.test(name)) {
    const isValue = (word: string): boolean => ASSIGNMENT.test(word);
    return { own: words.filter((word) => !isValue(word)), values: words.filter(isValue), reads: [] };
  }
  const script = scriptAt(words);
  const program = script === undefined ? programAt(words) : undefined;
  const configurations = configurationsIn(words, program ?? 0);
  const isRead = (_: string, i: number): boolean => i === script || i === program || configurations.has(i);
  const own = words.map((word, i) => (i === program ? baseName(word) : isRead(word, i) ? "_" : word));
  return { own, values: [], reads: words.filter(isRead) };
}

/** Options of programs that name a configuration or a key to read. Source: their manuals. */
const READS: readonly (readonly [program: RegExp, option: RegExp])[] = [
  [/^(?:kubectl|helm|oc|flux|argocd)$/, /^--kubeconfig$/],
  [/^mvnw?$/, /^(?:-s|--settings|-gs|--global-settings|-t|--toolchains)$/],
  [/^(?:mysql|mariadb|mysqldump|mysqladmin)$/, /^--defaults(?:-extra)?-file$/],
  [/^(?:ssh|scp|sftp|mosh)$/, /^-[iF]$/],
  [/^curl$/, /^(?:-K|--config|--netrc-file)$/],
];

/**
 * Returns the indexes of the values of such options. An option may itself be the value of the option before it:
 * `cp a -c --kubeconfig b`.
 * @param from index of the program
 */
function configurationsIn(words: readonly string[], from: number): ReadonlySet<number> {
  const name = baseName(words[from] ?? "");
  const option = READS.find(([program]) => program.test(name))?.[1];
  if (option === undefined) return new Set();
  const end = words.indexOf("--");
  const found = words.flatMap((word, i) => {
    if (i <= from || (end >= 0 && i > end)) return [];
    const [start = ""] = word.split("=", 1);
    const isNext = option.test(words[i - 1] ?? "") && words[i - 2]?.startsWith("-") === false;
    return isNext || (start !== word && option.test(start)) ? [i] : [];
  });
  return new Set(found);
}

/** Returns whether a line may redefine a name. @param names the names of its functions; undefined if it may redefine any name */
export function isRenamed(name: string, names: ReadonlySet<string> | undefined): boolean {
  return names === undefined || names.has(name);
}

const WRAPS = /^(?:env|sudo|doas|time|timeout|nice|nohup|command|exec|stdbuf)$/;
/** Options, numbers and variables before the program of a wrapper. */
const BEFORE_PROGRAM = /^-|^[\d.]+[smhd]?$|^[A-Za-z_]\w*\+?=/;

/** Returns the index of the program that a wrapper runs; undefined if the word may be the value of an option. */
function programAt(words: readonly string[]): number | undefined {
  if (!WRAPS.test(baseName(words[0] ?? ""))) return undefined;
  return unlessValue(
    words,
    words.findIndex((word, i) => i > 0 && !BEFORE_PROGRAM.test(word)),
  );
}

/** Programs that edit the file that they name, or run its commands later. */
const TAKES_FILE = /^(?:ed|at|batch|parallel|crontab)$/;

/** Returns the index of the script that a shell or an interpreter runs; undefined if the word may be the value of an option. */
function scriptAt(words: readonly string[]): number | undefined {
  const [name = ""] = words;
  if (SOURCES.test(name)) return words.length > 1 ? 1 : undefined;
  if (runnerOf(name)?.runsInput !== true || TAKES_FILE.test(baseName(name))) return undefined;
  return unlessValue(
    words,
    words.findIndex((word, i) => i > 0 && !word.startsWith("-")),
  );
}

/** Returns the index; undefined if it is -1 or 0, or if the word before it is an option, whose value it may be. */
function unlessValue(words: readonly string[], at: number): number | undefined {
  return at > 0 && words[at - 1]?.startsWith("-") === false ? at : undefined;
}
