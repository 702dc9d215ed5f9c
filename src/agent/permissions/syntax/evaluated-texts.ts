import type { SyntaxNode } from "unbash";
import { mayRunIndex } from "./line-words.ts";

/** Builtins that run a command in the array index of a word, even of a quoted one: `test -v 'a[$(rm x)]'`. */
const EVALUATES_INDEXES: ReadonlySet<string> = new Set(
  "test [ printf read unset wait export declare typeset local readonly let mapfile readarray getopts shift return exit repeat integer float break continue".split(
    " ",
  ),
);

/** Returns whether a command runs the text in the array index of a word. */
export function evaluatesIndexes(words: readonly string[]): boolean {
  return words.some((word) => EVALUATES_INDEXES.has(word));
}

/** Records how a line evaluates its texts: arithmetic runs commands in array indexes, a prompt runs every command. */
export class Evaluations {
  #indexes = false;
  #prompts = false;

  /** Records which texts a part of the line evaluates. */
  note(node: SyntaxNode): void {
    switch (node.type) {
      case "ArithmeticExpansion":
      case "ArithmeticCommand":
      case "ArithmeticFor":
      case "TestCommand":
      case "Slice":
        this.#indexes = true;
        break;
      case "ParameterExpansion":
        this.#indexes ||= node.index !== undefined || node.prefix !== undefined;
        break;
      case "Assignment":
        this.#indexes ||= node.index !== undefined;
        break;
      case "Word":
        this.#indexes ||= node.text.includes("$[");
        // zsh's `${(e)x}`.
        this.#prompts ||= node.text.includes("${(");
        break;
      case "Transform":
      case "Unknown":
        this.#prompts = true;
        break;
      default:
        break;
    }
  }

  noteCommand(words: readonly string[]): void {
    this.#indexes ||= evaluatesIndexes(words);
    this.#prompts ||= words[0] === "print" && words.some((word) => /^-\w*P/.test(word));
  }

  /** Returns whether the shell may run commands in a text that is one of the line's values. */
  mayRun(text: string): boolean {
    return (this.#prompts && /\$\(|`/.test(text)) || (this.#indexes && mayRunIndex(text));
  }
}
