import type { Word, WordPart } from "unbash";
import { shortened } from "../../../text/characters/cut-text.ts";
import { MAX_VALUE_CHARS } from "../commands/line-limits.ts";
import { UNKNOWN } from "../commands/pattern-meetings.ts";
import { expandsBraces, isExpandedName, isPattern } from "./line-words.ts";

/** `$~x` and `$=x`. */
const ZSH_EXPANSION = /\$[~=^]+\{?\w+\}?/g;

/** The command that prints PWD. */
const SHOWS_PWD = /^(?:\$\(\s*pwd\s*\)|`pwd`)$/;

/** The values of words, as far as the line shows them. */
export class WordValues {
  /** Words that a shell may expand to file names. */
  readonly globs = new Set<string>();
  /** A shell expands braces in a word to several words. */
  expandsBraces = false;
  readonly #known = new Map<string, string>();
  readonly #exceed: (why: string) => void;
  readonly #knowsPlaces: boolean;
  #valueChars = MAX_VALUE_CHARS;

  /**
   * @param exceed called with the reason if the values are too long
   * @param knowsPlaces false if the line may change HOME, PWD or the command pwd
   */
  constructor(exceed: (why: string) => void, knowsPlaces: boolean) {
    this.#exceed = exceed;
    this.#knowsPlaces = knowsPlaces;
  }

  /** Sets a variable. A second value makes it unknown. */
  set(name: string, text: string, append: boolean): void {
    this.#known.set(name, append || this.#known.has(name) ? UNKNOWN : text);
  }

  /** Returns the value of a word. */
  of(word: Word): string {
    const { parts } = word;
    const isPlain = parts === undefined && !/["'\\]/.test(word.text);
    const shown = isPlain ? word.value.replace(ZSH_EXPANSION, UNKNOWN) : word.value;
    const expanded = parts === undefined ? shown : parts.map((part) => this.#part(part)).join("");
    const value = this.#knowsPlaces ? expanded : expanded.replace(/^~(?=\/|$)/, UNKNOWN);
    if (isPattern(word)) this.globs.add(value);
    this.expandsBraces ||= expandsBraces(word);
    return value;
  }

  #part(part: WordPart): string {
    switch (part.type) {
      case "DoubleQuoted":
      case "LocaleString":
        return part.parts.map((inner) => this.#part(inner)).join("");
      case "SimpleExpansion":
        return this.#variable(part.text.slice(1));
      case "ParameterExpansion":
        return part.operation === undefined && part.prefix === undefined && part.index === undefined
          ? this.#variable(part.parameter)
          : UNKNOWN;
      case "CommandExpansion":
        return SHOWS_PWD.test(part.text) ? this.#variable("PWD") : UNKNOWN;
      case "ArithmeticExpansion":
      case "ProcessSubstitution":
        return UNKNOWN;
      case "ExtendedGlob":
      case "BraceExpansion":
        return part.text;
      case "Literal":
        return part.value.replace(ZSH_EXPANSION, UNKNOWN);
      default:
        return part.value;
    }
  }

  #variable(name: string): string {
    if (name === "HOME") return this.#knowsPlaces ? "~" : UNKNOWN;
    if (name === "PWD") return this.#knowsPlaces ? "." : UNKNOWN;
    const value = this.#known.get(name) ?? UNKNOWN;
    this.#valueChars -= value.length;
    if (this.#valueChars >= 0) return value;
    // Each variable may double the length of the value before it.
    this.#exceed("the values of its variables are too long");
    return UNKNOWN;
  }
}

/** Returns why it is not known which program a command runs, as a clause; undefined if its name shows it. */
export function unknownProgram(word: Word, value: string): string | undefined {
  if (!value.includes(UNKNOWN) && !isExpandedName(word) && !isPattern(word)) return undefined;
  const shown = JSON.stringify(shortened(word.text.replaceAll(UNKNOWN, "$…"), 40));
  return `the program ${shown} is known only to the shell`;
}
