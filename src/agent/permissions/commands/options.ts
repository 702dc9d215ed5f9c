/** What a command reads that changes nothing and runs no other program. */
export interface Reading {
  /** Files and directories that its words name. */
  readonly paths: readonly string[];
  /** It prints or compares contents of files. False if it shows only names, sizes and dates. */
  readonly contents: boolean;
  /** It reads files below a directory, or of a repository, that its words do not name. */
  readonly tree?: boolean;
  /** The part of a git repository that it reads: a configuration could make git run programs. */
  readonly git?: "objects" | "worktree";
}

/** The options of a program, or of a subcommand, that neither write a file nor run a program. */
export interface Options {
  /** Letters of options without a value. */
  readonly flags: string;
  /** Letters of options with a value, which is the rest of the word or the next word. */
  readonly values: string;
  /** Names of long options. A name that ends in `=` has a value, `[=]` an optional one after an equals sign. */
  readonly long: ReadonlySet<string>;
  /** A number alone is an option: `head -5`. */
  readonly takesNumber: boolean;
}

export interface ReadOptions {
  /** Words that are no options and no values of options. */
  readonly operands: readonly string[];
  /** Option letters (`-l`) and names (`--list`) that occur. */
  readonly used: ReadonlySet<string>;
  /** Words with an option that the table does not list. */
  readonly unknown: readonly string[];
}

/** Reads the row of a table: `flags`, or `flags|values`, then long names. `#` among the flags means that a number is an option. */
export function options(row: string): Options {
  const [letters = "", ...long] = row.trim().split(/\s+/);
  const [flags = "", values = ""] = letters.split("|");
  return { flags, values, long: new Set(long), takesNumber: flags.includes("#") };
}

/**
 * Reads the words after a program's name. Only full names of long options count: an abbreviation may stand for another option
 * in another version.
 */
export function readOptions(words: readonly string[], known: Options): ReadOptions {
  const operands: string[] = [];
  const used = new Set<string>();
  const unknown: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (word === "--") {
      operands.push(...words.slice(at + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      operands.push(word);
      continue;
    }
    const { names, next } = word.startsWith("--") ? longOption(word, known) : shortOptions(word, known);
    for (const name of names) used.add(name);
    if (next === "unknown") unknown.push(word);
    if (next === "value") at += 1;
  }
  return { operands, used, unknown };
}

interface OptionWord {
  readonly names: readonly string[];
  /** `value`: the next word is the value of this option. */
  readonly next: "value" | "word" | "unknown";
}

function longOption(word: string, { long }: Options): OptionWord {
  const at = word.indexOf("=");
  const hasValue = at >= 0;
  const name = word.slice(2, hasValue ? at : undefined);
  const names = [`--${name}`];
  if (long.has(`${name}=`)) return { names, next: hasValue ? "word" : "value" };
  const isKnown = long.has(`${name}[=]`) || (!hasValue && long.has(name));
  return { names, next: isKnown ? "word" : "unknown" };
}

function shortOptions(word: string, { flags, values, takesNumber }: Options): OptionWord {
  if (takesNumber && /^-\d+$/.test(word)) return { names: [], next: "word" };
  const names: string[] = [];
  for (let i = 1; i < word.length; i += 1) {
    const letter = word.charAt(i);
    names.push(`-${letter}`);
    if (letter !== "#" && flags.includes(letter)) continue;
    if (!values.includes(letter)) return { names, next: "unknown" };
    return { names, next: i === word.length - 1 ? "value" : "word" };
  }
  return { names, next: "word" };
}
