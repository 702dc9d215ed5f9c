import { expandBraces } from "./brace-expansion.ts";
import { ASSIGNMENT, commandStarts } from "./command-starts.ts";
import { baseName } from "./runners.ts";

/**
 * One piece of a word, or the space between two words; nothing that the shell expands, redirects, groups or comments out. `{}` is
 * literal, and so is `#` inside a word.
 */
const PIECE =
  /'(?<single>[^'\0]*)'|"(?<double>(?:[^"\\$`\0]|\\[^\0])*)"|\\(?<escaped>[^\n\0])|(?<plain>[^\s'"\\;&|<>(){}$`#\0]+|\{\}|(?<=\S)#)|(?<space>[ \t]+)/y;

/**
 * Returns the words of exactly one simple command, without quotes. Returns undefined for a text with an operator, expansion,
 * redirection, substitution, comment, open quote or leading assignment. Strict on purpose: a text that it does not understand is
 * not simple.
 */
export function simpleCommand(command: string): string[] | undefined {
  const words = readWords(trimBlanks(command));
  const first = words?.[0];
  return first === undefined || ASSIGNMENT.test(first) ? undefined : words;
}

/** Removes only what a shell treats as whitespace, unlike `trim`: `\u00a0git` names another program than `git`. */
function trimBlanks(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && " \t\n".includes(text.charAt(from))) from += 1;
  while (to > from && " \t\n".includes(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

function readWords(text: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  const piece = new RegExp(PIECE);
  while (piece.lastIndex < text.length) {
    const groups = piece.exec(text)?.groups;
    if (groups === undefined) return undefined;
    if (groups.space === undefined) {
      const double = groups.double?.replace(/\\\n/g, "").replace(/\\(["\\$`])/g, "$1");
      word = (word ?? "") + (groups.single ?? double ?? groups.escaped ?? groups.plain ?? "");
    } else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  return word === undefined ? words : [...words, word];
}

/**
 * Yields all runs of words that the shell may run as a command, for deny rules. It splits at each operator, quoted or not,
 * drops leading assignments, and starts at every word after a wrapper (`sudo`, `xargs`, …), with and without the directory of
 * the command's name. It yields too many rather than too few. A generator, because a long wrapped command has many.
 */
export function* possibleCommands(command: string): Generator<Command> {
  // `$IFS` is another way to write a space.
  const spaced = command.replace(/\$(IFS\b|\{IFS\})/g, " ");
  for (const text of new Set([spaced, expandBraces(spaced).text])) {
    for (const part of text.split(/[;&|\n\r(){}`<>]/)) {
      for (const form of new Set([part, part.replace(/["'\\]/g, "")])) {
        yield* commandForms(form.split(/\s+/).filter((word) => word !== ""));
      }
    }
  }
  // A shell alias of git, or a shell escape of an editor.
  for (const escaped of command.matchAll(/["'=]!([^"'\n]+)/g)) yield* possibleCommands(escaped[1] ?? "");
  for (const quoted of command.matchAll(/(?:\s-\w*c|\beval)\s+(["'])([\s\S]*?)\1/g)) {
    yield* possibleCommands(quoted[2] ?? "");
  }
}

/**
 * Yields the commands that the shell may run for these words: the words themselves, and the words after a wrapper, each also
 * without the options before a subcommand (`git -C x push`).
 */
export function* commandForms(words: readonly string[]): Generator<Command> {
  const line = new WordLine(words);
  for (const i of commandStarts(words)) {
    const name = words[i] ?? "";
    for (const at of [i + 1, ...subcommandIndexes(words, i + 1)]) {
      yield new Command(name, line, at);
      if (name.includes("/")) yield new Command(baseName(name), line, at);
    }
  }
}

/** Maximum number of options before a subcommand that are skipped: more than real commands need. */
const MAX_OPTIONS = 20;

/**
 * Returns the indexes after options that may be a subcommand. Only the program knows whether the word after an option is its
 * value.
 */
function subcommandIndexes(words: readonly string[], from: number): number[] {
  const found: number[] = [];
  let isValue = false;
  for (let at = from; at < Math.min(words.length, from + 2 * MAX_OPTIONS); at += 1) {
    const isOption = words[at]?.startsWith("-") === true;
    if (!isOption) {
      if (at > from) found.push(at);
      if (!isValue) break;
    }
    isValue = isOption;
  }
  return found;
}

/** An unescaped star, which matches any text; `\\*` is the character itself. */
export const STAR = /(?<!\\)\*/;

/** The texts between the stars of a pattern. */
interface Pieces {
  readonly first: string;
  readonly middle: readonly string[];
  readonly last: string;
}

function piecesOf(pattern: string): Pieces {
  const [first = "", ...middle] = pattern.split(STAR).map((piece) => piece.replaceAll("\\*", "*"));
  const last = middle.pop() ?? "";
  return { first, middle, last };
}

/** Words, and the offset of each word in their joined text. */
class WordLine {
  readonly words: readonly string[];
  readonly #starts: number[] = [];
  readonly #latest = new Map<Pieces, readonly number[]>();
  #text: string | undefined;

  constructor(words: readonly string[]) {
    this.words = words;
  }

  /** The words, each after a space. */
  get text(): string {
    if (this.#text !== undefined) return this.#text;
    let start = 0;
    for (const { length } of this.words) {
      this.#starts.push(start);
      start += length + 1;
    }
    this.#text = this.words.map((word) => ` ${word}`).join("");
    return this.#text;
  }

  /** Returns the offset of a word with the space before it; the length of the text after the last word. */
  startOf(at: number): number {
    const { length } = this.text;
    return this.#starts[at] ?? length;
  }

  /**
   * Returns, for each middle piece of a pattern, the last offset where it can begin so that the later pieces still fit; -1 if there
   * is none. The offsets are the same for every command that ends with this text.
   */
  latest(pieces: Pieces): readonly number[] {
    const known = this.#latest.get(pieces);
    if (known !== undefined) return known;
    const { middle, last } = pieces;
    const found: number[] = [];
    let end = this.text.length - last.length;
    for (const piece of middle.toReversed()) {
      end = end < piece.length ? -1 : this.text.lastIndexOf(piece, end - piece.length);
      found.push(end);
    }
    found.reverse();
    this.#latest.set(pieces, found);
    return found;
  }
}

/**
 * A command that patterns are compared with. It copies no words: a long wrapped command yields one Command for each of its words.
 */
export class Command {
  readonly #line: WordLine;
  readonly #at: number;
  readonly name: string;

  /** @param at index of the first word after the name */
  constructor(name: string, line: WordLine, at: number) {
    this.name = name;
    this.#line = line;
    this.#at = at;
  }

  static of([name = "", ...args]: readonly string[]): Command {
    return new Command(name, new WordLine(args), 0);
  }

  named(name: string): Command {
    return new Command(name, this.#line, this.#at);
  }

  get wordCount(): number {
    return 1 + Math.max(0, this.#line.words.length - this.#at);
  }

  word(index: number): string | undefined {
    return index === 0 ? this.name : this.#line.words[this.#at + index - 1];
  }

  /** Returns whether its words match a pattern. Commands of one line share the search in the text of their arguments. */
  matches(pieces: Pieces): boolean {
    const { first, middle, last } = pieces;
    const { name } = this;
    const { text } = this.#line;
    const start = this.#line.startOf(this.#at);
    // The arguments are so short that the last piece begins in the name.
    if (text.length - start < last.length) return matchesText(pieces, `${name}${text.slice(start)}`);
    const beginsWith = `${name}${text.slice(start, start + first.length)}`.startsWith(first);
    const end = name.length + text.length - start - last.length;
    if (!beginsWith || first.length > end || !text.endsWith(last)) return false;
    let at = first.length;
    for (const [i, piece] of middle.entries()) {
      const head = at < name.length ? `${name}${text.slice(start, start + piece.length)}` : "";
      const found = head === "" ? -1 : head.indexOf(piece, at);
      // This piece and the later ones begin in the arguments.
      if (found < 0 || found >= name.length)
        return start + Math.max(0, at - name.length) <= (this.#line.latest(pieces)[i] ?? -1);
      at = found + piece.length;
      if (at > end) return false;
    }
    return true;
  }
}

export type CommandMatcher = (command: Command) => boolean;

/** Returns a matcher for the pattern of a command: `git:*` is git with any arguments, a `*` elsewhere is any text, other words are literal. */
export function commandMatcher(pattern: string): CommandMatcher {
  const prefix = pattern.endsWith(":*");
  const wanted = prefix ? pattern.slice(0, -2) : pattern;
  if (!prefix && STAR.test(wanted)) {
    const pieces = piecesOf(wanted.split(/\s+/).join(" "));
    return (command) => command.matches(pieces);
  }
  const expected = simpleCommand(wanted) ?? wanted.trim().split(/\s+/);
  return (command) =>
    expected.every((word, i) => command.word(i) === word) &&
    (prefix || command.wordCount === expected.length);
}

/** Returns a matcher of texts for a pattern with stars. */
export function wildcard(pattern: string): (text: string) => boolean {
  const pieces = piecesOf(pattern);
  return (text) => matchesText(pieces, text);
}

/**
 * Returns whether a text matches. Compares piece by piece from the left, not with a regular expression: a rule of an untrusted
 * repository cannot make it slow.
 */
function matchesText({ first, middle, last }: Pieces, text: string): boolean {
  const end = text.length - last.length;
  if (first.length > end || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const piece of middle) {
    const found = text.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
