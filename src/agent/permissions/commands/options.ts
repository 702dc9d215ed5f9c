/** The files that a read-only command reads. Such a command runs no other program. */
export interface Reading {
  /** Files and directories that its words name. */
  readonly paths: readonly string[];
  /** It prints or compares contents of files. False if it shows only names, sizes and dates. */
  readonly contents: boolean;
  /** It reads files below a directory, or of a repository, that its words do not name. */
  readonly tree?: boolean;
  /** It reads the entries of a directory that its words name, even through links. */
  readonly follows?: boolean;
  /** Names of files in its directory, or above, that could make it write. */
  readonly obeys?: readonly string[];
  /** The part of a git repository that it reads: a configuration could make git run programs. */
  readonly git?: "objects" | "worktree";
}

/** The options of a program, or of a subcommand, that neither write a file nor run a program. */
export interface Options {
  /** Letters of options without a value. */
  readonly flags: string;
  /** Letters of options with a value, which is the rest of the word or the next word. */
  readonly values: string;
  /** Letters of options whose value, if any, is the rest of the word: on one system at least, the next word is not the value. */
  readonly glued: string;
  /** Letters of options whose value may begin with `-`, such as a pattern. */
  readonly texts: string;
  /** Letters of options that are not harmless, with a value as in `values`, and as in `glued`. */
  readonly asks: string;
  readonly asksGlued: string;
  /**
   * Names of long options. A name that ends in `=` has a value, in `==` a value that may begin with `-`, in `[=]` an optional value
   * after an equals sign. A name that ends in `=!` is not harmless, and has a value.
   */
  readonly long: ReadonlySet<string>;
  /** A number alone is an option: `head -5`. */
  readonly takesNumber: boolean;
}

export interface ReadOptions {
  /** Words that are neither options nor values of options. */
  readonly operands: readonly string[];
  /** Option letters (`-l`) and names (`--list`) that occur. */
  readonly used: ReadonlySet<string>;
  /** Words with an option that the table does not list. */
  readonly unknown: readonly string[];
  /** The words in `unknown`, each with its option. */
  readonly asking: readonly AskingWord[];
  /** The values of options, by name and in order. */
  readonly values: readonly OptionValue[];
  /** False if only the program knows whether the words after one of its options are values. */
  readonly isKnown: boolean;
  /** Options after the first operand, and their values: a program that reads no options there takes them for operands. */
  readonly late: readonly string[];
}

/** A word with an option that is not harmless. */
export interface AskingWord {
  readonly word: string;
  /** The option alone, if nothing else in the word can be an option. */
  readonly option?: string | undefined;
}

interface OptionValue {
  readonly option: string;
  readonly value: string;
  readonly word: string;
  /** Index of the word that holds the value. */
  readonly at: number;
}

/** How a program reads options and operands. */
export interface OptionSyntax {
  /** Its options end after this number of operands. */
  readonly operands?: number | undefined;
  /** The same, by the first operand. */
  readonly operandsOf?: Readonly<Record<string, number>> | undefined;
  /** `--no-x` is an option if `--x` is. */
  readonly negates?: boolean | undefined;
  /** Words that are not options although they begin with `-`. */
  readonly words?: RegExp | undefined;
}

/**
 * Reads the row of a table: `flags|values|glued|texts|asks|asksGlued` (the last may be missing), then long names. `#` among the
 * flags means that a number is an option.
 */
export function options(row: string): Options {
  const [letters = "", ...long] = row.trim().split(/\s+/);
  const [flags = "", values = "", glued = "", texts = "", asks = "", asksGlued = ""] = letters.split("|");
  const takesNumber = flags.includes("#");
  return { flags, values, glued, texts, asks, asksGlued, long: new Set(long), takesNumber };
}

/** A negative number or a list of them, as in `head -n -5`, `cut -c -80` and `date -d '-1 day'`. */
const NUMBER = /^-\d+(?:[\d,.-]*|[bkKMGT]|\s*[a-z]+(?: ago)?)$/;

/**
 * Reads the words after a program's name. Only full names of long options count: an abbreviation may stand for another option
 * in another version.
 */
export function readOptions(
  words: readonly string[],
  known: Options,
  syntax: OptionSyntax = {},
): ReadOptions {
  const reader = new OptionReader(known, syntax);
  const late: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (reader.isAtEnd) break;
    if (word === "--") {
      if (reader.operands.length > 0) late.push(word);
      reader.operands.push(...words.slice(at + 1));
      break;
    }
    if (syntax.words?.test(word)) continue;
    if (!word.startsWith("-") || word === "-") {
      reader.operands.push(word);
      continue;
    }
    const end = at + (reader.option(word, words[at + 1] ?? "", at) ? 2 : 1);
    if (reader.operands.length > 0) late.push(...words.slice(at, end));
    at = end - 1;
  }
  const { operands, used, asking, values, isKnown } = reader;
  return { operands, used, asking, values, isKnown, late, unknown: asking.map(({ word }) => word) };
}

class OptionReader {
  readonly operands: string[] = [];
  readonly used = new Set<string>();
  readonly asking: AskingWord[] = [];
  readonly values: OptionValue[] = [];
  isKnown = true;
  readonly #known: Options;
  readonly #syntax: OptionSyntax;

  constructor(known: Options, syntax: OptionSyntax) {
    this.#known = known;
    this.#syntax = syntax;
  }

  get isAtEnd(): boolean {
    const { operands, operandsOf } = this.#syntax;
    const last = operandsOf?.[this.operands[0] ?? ""] ?? operands;
    return last !== undefined && this.operands.length >= last;
  }

  /** Returns whether the next word is the option's value. */
  option(word: string, next: string, at: number): boolean {
    const found = word.startsWith("--")
      ? longOption(word, this.#known, this.#syntax)
      : shortOptions(word, this.#known);
    for (const name of found.names) this.used.add(name);
    if (found.asks) this.asking.push({ word, option: found.alone });
    this.isKnown &&= found.isUnlisted !== true;
    if (found.next === "value" && mayBeOption(next)) this.asking.push({ word: next });
    const isNext = found.next !== "word";
    const value = isNext ? next : found.value;
    if (value !== undefined)
      this.values.push({ option: found.names.at(-1) ?? "", value, word, at: isNext ? at + 1 : at });
    return isNext;
  }
}

/** If a program's version takes no value here, the word is an unchecked option. */
function mayBeOption(value: string): boolean {
  return /^-./.test(value) && !NUMBER.test(value);
}

interface OptionWord {
  readonly names: readonly string[];
  /** `value`: the next word is the value of this option; `text`: it may also begin with `-`. */
  readonly next: "value" | "text" | "word";
  /** The value in the word itself. */
  readonly value?: string | undefined;
  readonly asks?: boolean | undefined;
  /** No table says whether it has a value. */
  readonly isUnlisted?: boolean | undefined;
  /** The option that asks, if nothing else in the word can be an option. */
  readonly alone?: string | undefined;
}

function longOption(word: string, { long }: Options, { negates }: OptionSyntax): OptionWord {
  const at = word.indexOf("=");
  const value = at < 0 ? undefined : word.slice(at + 1);
  const name = word.slice(2, at < 0 ? undefined : at);
  const names = [`--${name}`];
  const next = value === undefined ? "value" : "word";
  if (long.has(`${name}=`)) return { names, value, next };
  if (long.has(`${name}==`)) return { names, value, next: value === undefined ? "text" : "word" };
  if (long.has(`${name}=!`)) return { names, value, next, asks: true, alone: names[0] };
  const plain = negates && name.startsWith("no-") ? name.slice(3) : name;
  const isFlag = value === undefined && (long.has(name) || long.has(plain));
  const isKnown = long.has(`${name}[=]`) || (value === undefined && long.has(`${plain}[=]`)) || isFlag;
  return { names, value, next: "word", asks: !isKnown, isUnlisted: !isKnown, alone: names[0] };
}

function shortOptions(word: string, known: Options): OptionWord {
  if (known.takesNumber && /^-\d+$/.test(word)) return { names: [], next: "word" };
  const names: string[] = [];
  for (let i = 1; i < word.length; i += 1) {
    const letter = word.charAt(i);
    names.push(`-${letter}`);
    if (letter === "#" || !known.flags.includes(letter)) return { names, ...lastOption(word, i, known) };
  }
  return { names, next: "word" };
}

/** Reads the letter after which no other option follows in a word. */
function lastOption(word: string, at: number, known: Options): Omit<OptionWord, "names"> {
  const letter = word.charAt(at);
  const isLast = at === word.length - 1;
  const value = isLast ? undefined : word.slice(at + 1);
  if (known.glued.includes(letter)) return { value, next: "word" };
  if (known.texts.includes(letter)) return { value, next: isLast ? "text" : "word" };
  if (known.values.includes(letter)) return { value, next: isLast ? "value" : "word" };
  const takesNext = known.asks.includes(letter);
  // The rest of a word after an unlisted letter may be more options.
  const isListed = takesNext || known.asksGlued.includes(letter);
  const alone = isLast || isListed ? `-${letter}` : undefined;
  return { value, asks: true, isUnlisted: !isListed, alone, next: takesNext && isLast ? "value" : "word" };
}
