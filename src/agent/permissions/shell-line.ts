import {
  type Command,
  forEachChild,
  parse,
  type Redirect,
  type Redirection,
  type SyntaxNode,
  type Word,
} from "unbash";
import { simpleCommand } from "./simple-command.ts";

/** A command line as rules look at it. */
export interface ShellLine {
  /** The words of every simple command that it may run, quotes removed; what an allowance has to cover, all of it. */
  readonly commands: readonly (readonly string[])[];
  /** The files that it redirects from and to, as they are written. */
  readonly files: readonly RedirectedFile[];
  /** Why no more than that can be told of it, so that no rule allows it: half a sentence. */
  readonly unclear?: string;
  /** Words of its commands that a shell may replace with the names of files. */
  readonly patterns: ReadonlySet<string>;
  /** Every command that stands anywhere in it, also inside of substitutions and quoted scripts: for refusals. */
  readonly mentioned: readonly (readonly string[])[];
}

export interface RedirectedFile {
  readonly kind: "read" | "write";
  /** Relative to where the command starts, absolute, or below `~/`. */
  readonly path: string;
}

/** Characters; what is longer is a file put into a command, and nobody could say of it that it is harmless. */
const MAX_LINE = 65_536;
/** Scripts in quotes (`sh -c "…"`) that refusals look into, and their characters together: more than anybody writes, and read in no time. */
const MAX_SCRIPTS = 30;
const MAX_SCRIPT_CHARS = 2 * MAX_LINE;

/**
 * Reads a command line with the grammar of bash. The line may be run by another shell (zsh, or sh where there is no bash),
 * so that nothing counts as clear but what all of them read alike: lists, pipelines, groups, `if` and `while`, and words that
 * our own strict reader gives the same value. Of the whole line each character belongs to such a word or is an operator.
 */
export function readShellLine(line: string): ShellLine {
  if (line.length > MAX_LINE) {
    const unclear = `it is longer than ${MAX_LINE} characters`;
    return { commands: [], files: [], patterns: new Set(), mentioned: [], unclear };
  }
  const script = parse(line);
  const mentioned = commandsAnywhereIn(script);
  const reading = new ShellLineReader(line);
  const flaw = script.errors?.[0];
  if (flaw !== undefined) reading.fail(`the shell would not take it (${flaw.message})`);
  else reading.list(script.commands);
  const { commands, files, patterns } = reading;
  const unclear = reading.unclear ?? reading.leftover() ?? reading.astray();
  return { commands, files, patterns, mentioned, ...(unclear === undefined ? {} : { unclear }) };
}

type Nodes = readonly SyntaxNode[];

/** What may stand between words: operators, and the keywords of what {@link ShellLineReader} understands. */
const OPERATORS = /^(?:[ \t\n;&|(){}!]|\\\n|\b(?:if|then|elif|else|fi|while|until|do|done|time)\b)*$/;
/** A comment, with what it begins behind; in a quoted or half word there is none, since those are covered. */
const COMMENT = /(^|[ \t\n])#[^\n]*/g;
/** Commands behind which a relative path is somewhere else. */
const CHANGES_DIRECTORY: ReadonlySet<string> = new Set(["cd", "chdir", "pushd", "popd"]);

/** Built into shells, and run what stands as the index of an array in a word, also a quoted one: `test -v 'a[$(rm x)]'`. */
const EVALUATES_INDEXES: ReadonlySet<string> = new Set(
  "test [ printf read unset wait export declare typeset local readonly let mapfile readarray getopts shift return exit".split(
    " ",
  ),
);
const SUBSCRIPT = /\[[\s\S]*(?:\$\(|`)/;

/** What a shell takes as it is. */
const QUOTED = /'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]/g;

/** One pass over a tree, as far as it is understood. */
class ShellLineReader {
  readonly commands: string[][] = [];
  readonly files: RedirectedFile[] = [];
  readonly patterns = new Set<string>();
  unclear: string | undefined;
  readonly #line: string;
  /** Start and end of every word and redirection. */
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

  /** What stands between the words and is no operator, keyword or comment: what the grammar passed over. */
  leftover(): string | undefined {
    let rest = "";
    let at = 0;
    for (const { pos, end } of [...this.#covered].sort((a, b) => a.pos - b.pos)) {
      rest += `${this.#between(at, pos)} `;
      at = Math.max(at, end);
    }
    rest += this.#between(at, this.#line.length);
    return OPERATORS.test(rest) ? undefined : `it holds ${JSON.stringify(rest.trim().slice(0, 40))}`;
  }

  #between(from: number, to: number): string {
    const text = this.#line.slice(from, Math.max(from, to));
    // Right behind a word there begins no comment.
    return from === 0 ? text.replace(COMMENT, "$1") : `-${text}`.replace(COMMENT, "$1").slice(1);
  }

  /** A redirection to a relative path behind a change of directory, or to one below a home that is given anew. */
  astray(): string | undefined {
    const words = this.commands.flat();
    const moves = words.some((word) => CHANGES_DIRECTORY.has(word));
    const settles = words.some((word) => /^HOME(?:\+?=|$)/.test(word));
    const lost = this.files.find(({ path }) =>
      path.startsWith("~/") ? settles : moves && !path.startsWith("/"),
    );
    return lost === undefined ? undefined : `where ${lost.path} is cannot be told`;
  }

  #read(node: SyntaxNode): void {
    if (node.type === "Command") {
      this.#command(node);
      return;
    }
    const inside = INNER_NODES[node.type]?.(node as never);
    if (inside === undefined) this.fail(`it holds ${NODE_NAMES[node.type] ?? "what no rule covers"}`);
    else this.list(inside);
    if (node.type === "Redirected") for (const redirect of node.redirects) this.#redirect(redirect);
  }

  #command({ name, prefix, suffix }: Command): void {
    if (name === undefined || prefix.some(({ type }) => type === "Assignment")) {
      this.fail("it sets a variable, or only redirects");
    }
    const words = name === undefined ? [] : [this.#word(name)];
    for (const part of [...prefix, ...suffix]) {
      if (part.type === "Word") words.push(this.#word(part));
      // `export A=b`: a word to the command.
      else if (part.type === "Assignment") words.push(this.#literal(part));
      else this.#redirect(part);
    }
    // To a plain sh the `&` of `&>` ends the command: words behind it are the next one.
    const both = [...prefix, ...suffix].find(
      (part) => part.type === "Redirect" && part.operator.startsWith("&>"),
    );
    if (both !== undefined && suffix.some(({ type, pos }) => type !== "Redirect" && pos > both.pos)) {
      this.fail("it continues after &>");
    }
    if (words.some((word) => EVALUATES_INDEXES.has(word)) && words.some((word) => SUBSCRIPT.test(word))) {
      this.fail(`${words[0]} may run what is in brackets`);
    }
    this.commands.push(words);
  }

  #word(word: Word): string {
    const value = this.#literal(word);
    if (value !== word.value) this.fail(`${JSON.stringify(word.text)} can be read in two ways`);
    return value;
  }

  /** The value of a piece of the line by our own reader, which takes no expansion at all. */
  #literal({ pos, end }: { readonly pos: number; readonly end: number }): string {
    this.#covered.push({ pos, end });
    const text = this.#line.slice(pos, end);
    // In front of it a word that is no assignment, since our reader takes whole commands.
    const words = simpleCommand(`- ${text}`);
    const value = words?.length === 2 ? words[1] : undefined;
    if (/[*?[]/.test(text.replace(QUOTED, ""))) this.patterns.add(value ?? text);
    if (value !== undefined) return value;
    this.fail(`what ${JSON.stringify(text.slice(0, 40))} becomes is only known to the shell`);
    return text;
  }

  #redirect(redirect: Redirection): void {
    this.#covered.push(redirect);
    const { target } = redirect.type === "Redirect" ? redirect : { target: undefined };
    if (redirect.type !== "Redirect" || target === undefined || hasVariableDescriptor(redirect)) {
      this.fail("it redirects to what is not a file, or to one that only the shell knows");
      return;
    }
    const { operator } = redirect;
    // With anything but a descriptor's number bash takes the quotes off twice.
    const isDescriptor = operator === ">&" || operator === "<&";
    const path = this.#word(target);
    if (path === "/dev/null" || (isDescriptor && /^(\d+|-)$/.test(target.text))) return;
    if (isDescriptor || !isPlainPath(path, target.text)) {
      this.fail(`it redirects to ${JSON.stringify(target.text.slice(0, 40))}`);
    }
    this.files.push({ kind: operator === "<" ? "read" : "write", path });
  }
}

/** What is inside of a node that is understood. */
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

/** `{name}>file`, which makes a variable. */
function hasVariableDescriptor({ descriptor }: Redirect): boolean {
  return descriptor?.type === "FileDescriptorVariable";
}

/** zsh takes `>!` as one operator, and no shell expands `~` in quotes; a pattern may become any file. */
function isPlainPath(path: string, text: string): boolean {
  return !/[*?[#^]|.~/.test(path) && !/^[!&|]/.test(path) && (!path.startsWith("~") || text.startsWith("~/"));
}

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

/** Shells and words that take a script as text. */
const TAKES_SCRIPT = /(?:^|\/)(?:eval|trap|su|(?:ba|z|da|k|mk|a)?sh)$/;

/** Every command in a line, with what the scripts in its arguments hold. */
function commandsAnywhereIn(root: SyntaxNode): string[][] {
  const found: string[][] = [];
  const open: SyntaxNode[] = [root];
  let scripts = MAX_SCRIPTS;
  let chars = MAX_SCRIPT_CHARS;
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.type === "Command" && node.name !== undefined) {
      const words = [node.name, ...node.args].map((arg) => (arg.type === "Word" ? arg.value : arg.text));
      found.push(words);
      for (const script of scriptsIn(words)) {
        scripts -= 1;
        chars -= script.length;
        if (scripts >= 0 && chars >= 0) open.push(parse(script));
      }
    }
    forEachChild(node, (child) => open.push(child));
  }
  return found;
}

/** `eval` takes all its words as one line, a shell one of them. */
function scriptsIn(words: readonly string[]): string[] {
  const rest = words.slice(words.findIndex((word) => TAKES_SCRIPT.test(word)) + 1);
  if (rest.length === 0 || rest.length === words.length) return [];
  return [...new Set([rest.join(" "), ...rest.filter((word) => /\s/.test(word))])];
}
