import { forEachChild, type ParameterExpansionPart, parse, type SyntaxNode } from "unbash";
import { shellQuote } from "../../text/shell-quote.ts";

/** Characters without a meaning in a shell: a value of only these is not quoted, which keeps commands readable. */
const PLAIN = /^[A-Za-z0-9@%+:,./_-]+$/;

/** In a word with these an unquoted value could become part of a variable's name or of a brace expansion. */
const JOINS_VALUES = /[{$]/;

/** Operators of `[[ ]]` that evaluate their operands, including a command substitution in a subscript. */
const EVALUATING = /^-(?:eq|ne|lt|le|gt|ge|v|R)$/;

/**
 * The syntax around a value. `parameter` is a parameter expansion in which quotes protect a text; in an `operand`, they do
 * not (a default inside double quotes, a subscript).
 */
type Place =
  | "commands"
  | "word"
  | "single"
  | "double"
  | "ansi"
  | "parameter"
  | "operand"
  | "arithmetic"
  | "backticks";

/**
 * The shape of the innermost syntax at a place. A value is inserted only if this agrees with the parser, which treats
 * some unknown syntax as plain text.
 */
const SHAPES: { readonly [P in Place]?: RegExp } = {
  word: /^(?:[^\s'"`\\$;&|<>()]|\\[\s\S]|\$\w|[?*+@!]\([^\s'"`\\$;&<>()]*\))*$/,
  single: /^'[^']*'$/,
  double: /^(?:[^"`\\]|\\[\s\S])*$/,
  ansi: /^\$'(?:[^'\\]|\\[\s\S])*'$/,
};

/** The beginning of a comment. */
const IN_COMMENT = /(?:^|[\s;&|()])#[^\n]*$/;

interface Span {
  readonly pos: number;
  readonly end: number;
  readonly place: Place;
}

/** A parsed shell command into which values can be inserted, each as one word. */
export class QuotingContexts {
  readonly #command: string;
  /** The spans of all nodes, outer before inner. */
  readonly #spans: Span[] = [];
  #error: string | undefined;
  /** Offsets of the first here-document and the first `case`. */
  #hereDoc = Number.POSITIVE_INFINITY;
  #case = Number.POSITIVE_INFINITY;

  /** @param command the command with letters in place of the values */
  constructor(command: string) {
    this.#command = command;
    this.#visit(parse(command));
  }

  /**
   * Returns the text to write for a value between two offsets: quoted if needed; inside quotes, the text closes them first
   * and reopens them.
   * @throws Error with a sentence without its subject, if no quoting can keep the value one word there
   */
  quote(value: string, from: number, to: number): string {
    if (value.includes("\0")) throw new Error("contains a NUL character, which no command can contain");
    const span = this.#spans.findLast(({ pos, end }) => pos <= from && to <= end);
    const place = span?.place ?? "commands";
    const text = span === undefined ? "" : this.#command.slice(span.pos, span.end);
    const obstacle = this.#obstacle(from, place, text);
    if (obstacle !== undefined) throw new Error(`cannot be inserted ${obstacle}`);
    const quoted = shellQuote(value);
    switch (place) {
      case "single":
        return `'${quoted}'`;
      case "double":
        return `"${quoted}"`;
      case "ansi":
        return `'${quoted}$'`;
      case "word": {
        const isDescriptor = /[<>]/.test(this.#command.charAt(to));
        return PLAIN.test(value) && !isDescriptor && !JOINS_VALUES.test(text) ? value : quoted;
      }
      case "arithmetic":
        if (/^-?[0-9]+$/.test(value)) return value;
        throw new Error("cannot be inserted in arithmetic: its value is not a number");
      default:
        // In a comment. A line end would end it.
        return value.replace(/[\r\n]+/g, " ");
    }
  }

  #obstacle(at: number, place: Place, text: string): string | undefined {
    if (this.#error !== undefined) return `in a command with a syntax error (${this.#error})`;
    if (this.#hereDoc < at) return "after a here-document; use Write for the text";
    if (this.#case < at) return "after `case`";
    const [, slashes = "", dollar] = /(\\*)(\$?)$/.exec(this.#command.slice(0, at)) ?? [];
    const isEscaped = slashes.length % 2 === 1;
    if (dollar === "$") {
      if (!isEscaped) return "after a dollar sign";
    } else if (isEscaped && place !== "single") return "after a backslash";
    if (place === "backticks") return "in backticks; use $(…)";
    if (place === "parameter" || place === "operand") return "in a parameter expansion";
    const isClear = place === "commands" ? this.#isInComment(at) : SHAPES[place]?.test(text) !== false;
    return isClear ? undefined : "where the quoting is unclear";
  }

  #isInComment(at: number): boolean {
    const before = this.#spans.reduce((last, { end }) => (end <= at ? Math.max(last, end) : last), 0);
    const isInWord = before > 0 && this.#command.charAt(before) === "#";
    return !isInWord && IN_COMMENT.test(this.#command.slice(before, at));
  }

  /** Works without recursion: a command may be nested deeper than the stack allows. */
  #visit(root: SyntaxNode): void {
    const open: { readonly node: SyntaxNode; readonly place: Place }[] = [{ node: root, place: "commands" }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { node, place } = next;
      if (node.type === "HereDoc") this.#hereDoc = Math.min(this.#hereDoc, node.pos);
      if (node.type === "Case") this.#case = Math.min(this.#case, node.pos);
      if (node.type === "Script") this.#error ??= node.errors?.[0]?.message;
      this.#spans.push({ pos: node.pos, end: node.end, place });
      // Offsets inside backticks may refer to an unescaped copy of the text.
      if (place === "backticks") continue;
      forEachChild(node, (child) => open.push({ node: child, place: placeOf(child, node, place) }));
    }
  }
}

function placeOf(node: SyntaxNode, parent: SyntaxNode, outer: Place): Place {
  switch (node.type) {
    case "CommandExpansion":
    case "ArithmeticCommandExpansion":
      return node.text.startsWith("$(") ? "commands" : "backticks";
    case "ProcessSubstitution":
      return "commands";
    case "ArithmeticExpansion":
    case "ArithmeticCommand":
      return "arithmetic";
    case "TestUnary":
    case "TestBinary":
      return EVALUATING.test(node.operator) ? "arithmetic" : outer;
  }
  if (parent.type === "ArithmeticFor" && node.type !== "CompoundList") return "arithmetic";
  if (parent.type === "Assignment" && node === parent.index) return "arithmetic";
  if (parent.type === "ParameterExpansion" && node === parent.index) return "operand";
  if (outer === "arithmetic" || outer === "operand") return outer;
  switch (node.type) {
    case "Word":
    case "Assignment":
      return outer === "parameter" ? outer : "word";
    case "SingleQuoted":
      return "single";
    case "DoubleQuoted":
    case "LocaleString":
      return "double";
    case "AnsiCQuoted":
      return "ansi";
    case "ParameterExpansion":
      return protectsQuotes(node, outer) ? "parameter" : "operand";
    default:
      return outer;
  }
}

/** Returns true if every shell honours quotes in this parameter expansion. */
function protectsQuotes({ operation }: ParameterExpansionPart, outer: Place): boolean {
  switch (operation?.type) {
    case "Remove":
      return outer === "word" || outer === "double";
    case "Default":
    case "Replace":
      return outer === "word";
    default:
      return false;
  }
}
