import { type Command, parse, type Redirection, type SyntaxNode, type Word } from "unbash";
import { shortened } from "../../text/characters/cut-text.ts";
import { ENTERS } from "./commands/command-starts.ts";
import { excessOf } from "./commands/line-limits.ts";
import { simpleCommand } from "./commands/simple-command.ts";
import { withoutShownVariables } from "./commands/special-readers.ts";
import { HARMLESS_VARIABLE } from "./commands/tables/variables.ts";
import { partsOf } from "./line-parts.ts";
import { evaluatesIndexes } from "./syntax/evaluated-texts.ts";
import { hasVariableDescriptor, isInput, isPlainPath, mayRunIndex } from "./syntax/line-words.ts";
import { isOtherInFish } from "./syntax/other-shells.ts";
import { type LineParts, NO_PARTS, type RedirectedFile } from "./syntax/parts.ts";
import { quotedDocument } from "./syntax/quoted-document.ts";

/** A command line, parsed for permission rules. */
export interface ShellLine {
  /** The words of each simple command that it may run, without quotes. Allow rules must cover all of them. */
  readonly commands: readonly (readonly string[])[];
  /** The files that it redirects from and to, as written. */
  readonly files: readonly RedirectedFile[];
  /** Why the line cannot be fully understood, as a clause. No rule with a pattern can then allow it. */
  readonly unclear?: string;
  /** Words of its commands that a shell may expand to file names. */
  readonly patterns: ReadonlySet<string>;
  /** By the index of each command that gets input: the words of the command whose output it gets, if it is the only one. */
  readonly inputSources: ReadonlyMap<number, readonly string[] | undefined>;
  /** Everything in it, including in loops, functions, substitutions and quoted scripts. For deny and ask rules, and for guards. */
  readonly anywhere: LineParts;
}

/**
 * Parses a command line with the grammar of bash. Another shell may run the line (zsh, or sh without bash), so only syntax that
 * all of them read alike counts as clear: lists, pipelines, groups, `if` and `while`, and words to which our own strict reader
 * gives the same value. In a clear line, each character belongs to such a word or to an operator.
 */
export function readShellLine(line: string): ShellLine {
  const excess = excessOf(line);
  if (excess !== undefined) return beyondLimits(excess);
  try {
    return readTree(line);
  } catch (error) {
    // A stack overflow: the parser is recursive.
    if (error instanceof RangeError) return beyondLimits("it is nested too deeply");
    throw error;
  }
}

function beyondLimits(why: string): ShellLine {
  const anywhere = { ...NO_PARTS, excess: why };
  return { commands: [], files: [], patterns: new Set(), inputSources: new Map(), anywhere, unclear: why };
}

function readTree(line: string): ShellLine {
  const script = parse(line);
  const anywhere = partsOf(script, line);
  const reader = new ShellLineReader(line);
  const error = script.errors?.[0];
  if (error !== undefined) reader.fail(`it is not valid shell syntax (${error.message})`);
  else reader.list(script.commands);
  const { commands, files, patterns, inputSources } = reader;
  const unclear = reader.unclear ?? reader.unparsedText() ?? reader.movedRedirection();
  return { commands, files, patterns, inputSources, anywhere, ...(unclear === undefined ? {} : { unclear }) };
}

type Nodes = readonly SyntaxNode[];

/** Text between words that {@link ShellLineReader} understands: operators and keywords. */
const OPERATORS = /^(?:[ \t\n;&|(){}!]|\\\n|\b(?:if|then|elif|else|fi|while|until|do|done|time)\b)*$/;
/** A comment with the whitespace before it. Applied only between words, so it never matches inside a word. */
const COMMENT = /(^|[ \t\n])#[^\n]*/g;
/** Quoted or escaped text, which a shell takes literally. */
const QUOTED = /'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]/g;

/** Reads a syntax tree in one pass, as far as it understands it. */
class ShellLineReader {
  readonly commands: string[][] = [];
  readonly files: RedirectedFile[] = [];
  readonly patterns = new Set<string>();
  readonly inputSources = new Map<number, readonly string[] | undefined>();
  /** Whether the nodes that are read now get input. */
  #hasInput = false;
  unclear: string | undefined;
  readonly #line: string;
  /** Start and end of each word and redirection. */
  readonly #covered: { readonly pos: number; readonly end: number }[] = [];

  constructor(line: string) {
    this.#line = line;
  }

  fail(why: string): void {
    this.unclear ??= why;
  }

  list(nodes: Nodes): void {
    for (const node of nodes) this.#read(node);
    if (nodes.length === 0) this.fail("it runs nothing");
  }

  /** Returns a clause about text that is neither a word nor an operator, keyword or comment: the grammar skipped that text. */
  unparsedText(): string | undefined {
    let rest = "";
    let at = 0;
    for (const { pos, end } of [...this.#covered].sort((a, b) => a.pos - b.pos)) {
      const between = this.#between(at, pos);
      // For fish, a `&` between letters is part of a word.
      if (between === "&") return "its & without spaces can be read in two ways";
      rest += `${between} `;
      at = Math.max(at, end);
    }
    rest += this.#between(at, this.#line.length);
    return OPERATORS.test(rest) ? undefined : `it contains ${JSON.stringify(shortened(rest.trim(), 40))}`;
  }

  #between(from: number, to: number): string {
    const text = this.#line.slice(from, Math.max(from, to));
    // A `#` directly after a word begins no comment.
    return from === 0 ? text.replace(COMMENT, "$1") : `-${text}`.replace(COMMENT, "$1").slice(1);
  }

  /** Returns a clause about a redirection whose path is relative in a line that changes the directory, or `~/` if it sets HOME. */
  movedRedirection(): string | undefined {
    const words = this.commands.flat();
    const changesDirectory = words.some((word) => ENTERS.has(word));
    const setsHome = words.some((word) => /^HOME(?:\+?=|$)/.test(word));
    const moved = this.files.find(({ path }) =>
      path.startsWith("~/") ? setsHome : changesDirectory && !path.startsWith("/"),
    );
    return moved === undefined ? undefined : `the directory of ${moved.path} is not certain`;
  }

  #read(node: SyntaxNode): void {
    if (node.type === "Command") {
      this.#command(node);
      return;
    }
    const inside = INNER_NODES[node.type]?.(node as never);
    if (inside === undefined)
      this.fail(`it contains ${NODE_NAMES[node.type] ?? "syntax that no rule covers"}`);
    else if (node.type === "Pipeline") this.#pipeline(inside);
    else this.#inside(inside, node.type === "Redirected" && node.redirects.some(isInput));
    if (node.type === "Redirected") for (const redirect of node.redirects) this.#redirect(redirect);
  }

  #inside(nodes: Nodes, hasInput: boolean): void {
    const before = this.#hasInput;
    this.#hasInput ||= hasInput;
    this.list(nodes);
    this.#hasInput = before;
  }

  #pipeline(nodes: Nodes): void {
    let from = 0;
    for (const [stage, node] of nodes.entries()) {
      const first = this.commands.length;
      this.#inside([node], stage > 0);
      const isOnly =
        stage > 0 && first - from === 1 && node.type === "Command" && !node.redirects.some(isInput);
      if (isOnly) this.inputSources.set(first, this.commands[from]);
      from = first;
    }
  }

  #command({ name, prefix, suffix, redirects }: Command): void {
    if (name === undefined) this.fail("it sets a variable or is only a redirection");
    const words = name === undefined ? [] : [this.#word(name)];
    for (const part of [...prefix, ...suffix]) {
      if (part.type === "Word") words.push(words[0] === "echo" ? this.#shownWord(part) : this.#word(part));
      else if (part.type === "Assignment") this.#assignment(part, words, prefix.includes(part));
      else this.#redirect(part);
    }
    // For a plain sh, the `&` of `&>` ends the command, and the words after it are another command.
    const both = [...prefix, ...suffix].find(
      (part) => part.type === "Redirect" && part.operator.startsWith("&>"),
    );
    if (both !== undefined && suffix.some(({ type, pos }) => type !== "Redirect" && pos > both.pos)) {
      this.fail("it continues after &>");
    }
    if (evaluatesIndexes(words) && words.some(mayRunIndex)) {
      this.fail(`${words[0]} may run the command in brackets`);
    }
    if (this.#hasInput || redirects.some(isInput)) this.inputSources.set(this.commands.length, undefined);
    this.commands.push(words);
  }

  /** `export A=b` gets the assignment as a word. `CI=1 npm test` sets a variable for the command: only known names may be set. */
  #assignment(
    part: Extract<Command["prefix"][number], { type: "Assignment" }>,
    words: string[],
    isPrefix: boolean,
  ): void {
    const text = this.#literal(part);
    if (!isPrefix) words.push(text);
    else if (!HARMLESS_VARIABLE.test(text)) this.fail(`it sets ${part.name ?? "a variable"}`);
  }

  /** Accepts a word of `echo` with variables that hold no secrets: it only prints them. */
  #shownWord(word: Word): string {
    const text = this.#line.slice(word.pos, word.end);
    const plain = text.includes("$") ? withoutShownVariables(text) : text;
    if (
      plain === text ||
      simpleCommand(`- ${text}`) !== undefined ||
      simpleCommand(`- ${plain}`)?.length !== 2
    )
      return this.#word(word);
    this.#covered.push(word);
    if (/[*?[]/.test(text.replace(/\$\?/g, "").replace(QUOTED, ""))) this.patterns.add(text);
    return text;
  }

  #word(word: Word): string {
    const document = quotedDocument(this.#line.slice(word.pos, word.end));
    if (document !== undefined) {
      this.#covered.push(word);
      return document;
    }
    const value = this.#literal(word);
    // zsh expands `=ls` to the path of a program, and `~name` to a directory that a variable may name.
    if (value !== word.value || /^=.|^~[^/]/.test(word.text) || isOtherInFish(word.text)) {
      this.fail(`${JSON.stringify(word.text)} can be read in two ways`);
    }
    return value;
  }

  /** Returns the value of a piece of the line by our own reader, which accepts no expansion. */
  #literal({ pos, end }: { readonly pos: number; readonly end: number }): string {
    this.#covered.push({ pos, end });
    const text = this.#line.slice(pos, end);
    // The reader takes whole commands, and `-` cannot be an assignment.
    const words = simpleCommand(`- ${text}`);
    const value = words?.length === 2 ? words[1] : undefined;
    if (/[*?[]/.test(text.replace(QUOTED, ""))) this.patterns.add(value ?? text);
    if (value !== undefined) return value;
    this.fail(`only the shell knows the value of ${JSON.stringify(shortened(text, 40))}`);
    return text;
  }

  #redirect(redirect: Redirection): void {
    this.#covered.push(redirect);
    const { target } = redirect.type === "Redirect" ? redirect : { target: undefined };
    if (redirect.type !== "Redirect" || target === undefined || hasVariableDescriptor(redirect)) {
      this.fail("it has a here-document, or a redirection without a plain file name");
      return;
    }
    const { operator } = redirect;
    if (operator === ">|") this.fail("it contains >|, which fish reads as a pipe");
    // If the target is not a descriptor's number, bash removes quotes twice.
    const isDescriptor = operator === ">&" || operator === "<&";
    const path = this.#word(target);
    if (path === "/dev/null" || (isDescriptor && /^(\d+|-)$/.test(target.text))) return;
    if (isDescriptor || !isPlainPath(path, target.text)) {
      this.fail(`it redirects from or to ${JSON.stringify(shortened(target.text, 40))}`);
    }
    this.files.push({ kind: operator === "<" ? "read" : "write", path });
  }
}

/** The inner nodes of each kind of node that is understood. */
const INNER_NODES: {
  readonly [T in SyntaxNode["type"]]?: (node: Extract<SyntaxNode, { type: T }>) => Nodes;
} = {
  Statement: ({ command }) => [command],
  AndOr: ({ commands }) => commands,
  CompoundList: ({ commands }) => commands,
  Pipeline: ({ commands }) => commands,
  Subshell: ({ body }) => [body],
  BraceGroup: ({ body }) => [body],
  If: ({ clause, then, elif, else: last }) => [clause, then, ...elif, ...(last === undefined ? [] : [last])],
  Elif: ({ clause, then }) => [clause, then],
  While: ({ clause, body }) => [clause, body],
  Redirected: ({ command }) => [command],
};

const NODE_NAMES: Readonly<Record<string, string>> = {
  For: "a loop",
  ArithmeticFor: "a loop",
  Select: "a menu",
  Case: "a choice",
  Function: "a function",
  Coproc: "a coprocess",
  TestCommand: "a test in [[ ]]",
  ArithmeticCommand: "arithmetic",
};
