import {
  type Command,
  forEachChild,
  type ParsedScript,
  parse,
  type Redirection,
  type SyntaxNode,
} from "unbash";
import { changesDirectory } from "../commands/command-starts.ts";
import { isHarmlessCode, type Language } from "../commands/harmless-code.ts";
import {
  excessOf,
  MAX_COMMANDS,
  MAX_NESTED_CHARS,
  MAX_SCRIPT_CHARS,
  MAX_SCRIPTS,
} from "../commands/line-limits.ts";
import { UNKNOWN } from "../commands/pattern-meetings.ts";
import { codesIn, runsInput } from "../commands/runners.ts";
import { embeddedScripts, tokensOf } from "../commands/scripts.ts";
import { Evaluations } from "./evaluated-texts.ts";
import { hiddenProgram } from "./hidden-programs.ts";
import { Depths } from "./line-depths.ts";
import { type Flow, Flows } from "./line-flows.ts";
import {
  changesPlaces,
  DEFINES,
  inputText,
  isPattern,
  isPlainGroup,
  NAMES_PROGRAM,
  repeatsWords,
  SETS_PLACE,
  showsHidden,
} from "./line-words.ts";
import { changesReading, decodedForFish } from "./other-shells.ts";
import { NO_COMMAND, type RedirectedFile } from "./parts.ts";
import { unknownProgram, WordValues } from "./word-values.ts";

/** Nodes whose content may run several times. */
const REPEATS: ReadonlySet<string> = new Set(["While", "For", "Select", "ArithmeticFor", "Function"]);

/** Collects the parts of a syntax tree, and of the scripts in its words. */
export class PartsCollector {
  readonly mentioned: string[][] = [];
  readonly flows: Flow[] = [];
  readonly inputs = new Map<number, string>();
  isLinked = false;
  isRedefining = false;
  redefinesBuiltins = false;
  readonly functions = new Set<string>();
  entersRepeatedly = false;
  matchesHidden = false;
  searchesDirectories = false;
  readonly files: RedirectedFile[] = [];
  /** Words outside commands: values of variables, items of loops. */
  readonly loose: string[] = [];
  /** The loose words that are not only values of variables. */
  readonly items = new Set<string>();
  hidden: string | undefined;
  excess: string | undefined;
  /** Whether the grammar of bash does not describe the whole line. */
  isUnread = false;
  setsPlaces = false;
  readonly values: WordValues;
  readonly #open: SyntaxNode[] = [];
  readonly #flows = new Flows();
  readonly #depths = new Depths();
  readonly #evaluations = new Evaluations();
  readonly #quoted = new Set<SyntaxNode>();
  /** The nodes that may run several times. */
  readonly #repeated = new Set<SyntaxNode>();
  #scripts = MAX_SCRIPTS;
  #chars = MAX_SCRIPT_CHARS;
  #nested = MAX_NESTED_CHARS;

  constructor(knowsPlaces: boolean) {
    this.values = new WordValues((why) => {
      this.excess ??= why;
    }, knowsPlaces);
  }

  collect(root: SyntaxNode, line: string): void {
    this.#depths.begin(root, line);
    this.#open.push(root);
    this.#visitAll();
    const decoded = decodedForFish(line);
    if (decoded !== undefined) this.#script(decoded);
    this.#visitAll();
    // Texts that the shell runs when it uses their value, and texts inside those texts.
    const seen = new Set<string>();
    for (let text = this.#evaluated(seen); text !== undefined; text = this.#evaluated(seen)) {
      seen.add(text);
      this.#script(text);
      this.#visitAll();
    }
  }

  #evaluated(seen: ReadonlySet<string>): string | undefined {
    if (this.excess !== undefined) return undefined;
    const texts = [...this.mentioned.flat(), ...this.loose, ...this.inputs.values()];
    return texts.find((text) => !seen.has(text) && this.#evaluations.mayRun(text));
  }

  #visitAll(): void {
    for (let node = this.#open.pop(); node !== undefined; node = this.#open.pop()) {
      this.#visit(node);
      this.#count(node);
      if (this.excess !== undefined) break;
      // Pushed in reverse, so that a variable is known before its use.
      const children: SyntaxNode[] = [];
      forEachChild(node, (child) => children.push(child));
      this.#depths.pass(node, children);
      this.#flows.pass(node, children);
      if (REPEATS.has(node.type) || this.#repeated.has(node))
        for (const child of children) this.#repeated.add(child);
      this.#open.push(...children.reverse());
    }
  }

  /** Enforces the limits. A nested substitution is parsed again for each one around it. */
  #count(node: SyntaxNode): void {
    if (node.type === "CommandExpansion" || node.type === "ProcessSubstitution")
      this.#nested -= node.text.length;
    if (this.#nested < 0 || this.#depths.isTooDeep(node)) this.excess ??= "it is nested too deeply";
    if (this.mentioned.length > MAX_COMMANDS) this.excess ??= "it has too many commands";
  }

  /** Adds the words of a line that another shell may read differently: `cat .(env|x)`. */
  unread(line: string): void {
    const patterns = line.split(/\s+/).filter((word) => word.includes("("));
    for (const pattern of patterns) this.values.globs.add(pattern);
    for (const token of tokensOf(line)) this.#addItem(token.replace(/^\?/, ""));
    for (const pattern of patterns) this.#addItem(pattern);
  }

  #addItem(text: string): void {
    this.loose.push(text);
    this.items.add(text);
  }

  #unreadable(why: string): void {
    this.isUnread = true;
    this.#hide(why);
  }

  #hide(why: string | undefined): void {
    this.hidden ??= why;
  }

  #visit(node: SyntaxNode): void {
    this.#evaluations.note(node);
    if (node.type === "Command") this.#command(node);
    else if (node.type === "Function") {
      this.functions.add(node.name.text);
      this.setsPlaces ||= SETS_PLACE.test(node.name.text);
      this.redefinesBuiltins ||= !/^[\w.+-]+$/.test(node.name.text);
    } else if (node.type === "Redirected") {
      for (const redirect of node.redirects) this.#redirect(redirect);
      const input = node.redirects.map((redirect) => inputText(redirect)?.text ?? "").join("\n");
      this.inputs.set(NO_COMMAND, `${this.inputs.get(NO_COMMAND) ?? ""}\n${input}`);
    } else if (node.type === "Assignment") this.#assignment(node);
    else if (node.type === "For" || node.type === "Select") {
      this.setsPlaces ||= SETS_PLACE.test(node.name.text);
      for (const word of node.wordlist ?? []) this.#addItem(this.values.of(word));
    } else if (node.type === "Case") this.#addItem(this.values.of(node.word));
    else if (node.type === "Default") this.#addItem(this.values.of(node.operand));
    else if (node.type === "Script") this.#errors(node);
    else if (node.type === "ExtendedGlob" && !isPlainGroup(node.text)) {
      this.#unreadable("zsh may run a command in a pattern");
    }
  }

  /** Ignores syntax errors in quoted texts, because many of them are not scripts. */
  #errors(script: ParsedScript): void {
    const error = this.#quoted.has(script) ? undefined : script.errors?.[0];
    if (error !== undefined) this.#unreadable(`it is not valid shell syntax (${error.message})`);
  }

  #assignment({ name, value, append, index }: Extract<SyntaxNode, { type: "Assignment" }>): void {
    if (value.type === "ArrayValue") {
      for (const word of value.elements) this.#addItem(this.values.of(word));
      return;
    }
    const text = this.values.of(value);
    this.loose.push(text);
    // zsh's mapfile[.env]=x writes the file.
    if (index !== undefined) this.#addItem(index.text);
    this.isLinked ||= text.includes(UNKNOWN);
    this.isRedefining ||= name === "PATH";
    this.redefinesBuiltins ||= DEFINES.test(name);
    this.setsPlaces ||= SETS_PLACE.test(name);
    this.matchesHidden ||= name === "GLOBIGNORE";
    this.searchesDirectories ||= /^CDPATH$/i.test(name);
    this.values.set(name, text, append === true);
    if (NAMES_PROGRAM.test(name) || (index !== undefined && DEFINES.test(name))) this.#script(text);
  }

  #command(command: Command): void {
    for (const redirect of command.redirects) this.#redirect(redirect);
    if (command.name === undefined) return;
    const words = [command.name, ...command.args].map((arg) => this.#argument(arg));
    const flow = this.#flows.of(command);
    const input = command.redirects.map((redirect) => inputText(redirect)?.text ?? "").join("\n");
    if (input !== "") this.inputs.set(this.mentioned.length, input);
    this.mentioned.push(words);
    this.#evaluations.noteCommand(words);
    this.flows.push(flow);
    if (codesIn(words).isCut) this.excess ??= "one of its commands names too many interpreters";
    const [name = ""] = words;
    const isRepeated = this.#repeated.has(command) || repeatsWords(words);
    this.entersRepeatedly ||= isRepeated && changesDirectory(words);
    this.excess ??= changesReading(words);
    this.matchesHidden ||= showsHidden(words);
    this.setsPlaces ||= changesPlaces(words);
    this.#hide(unknownProgram(command.name, name));
    const expanded = command.args.map(({ text }) =>
      /[$`]|<\(/.test(text.includes(UNKNOWN) ? "$" : text.replace(/'[^']*'/g, "")),
    );
    const patterns = command.args.map((arg) => arg.type === "Word" && isPattern(arg));
    this.#hide(hiddenProgram(words, { expanded: [false, ...expanded], patterns: [false, ...patterns] }));
    for (const script of embeddedScripts(words)) this.#script(script, flow, isRepeated);
    const language = runsInput(words);
    if (language !== undefined) this.#input(name, language, command);
  }

  /** Reads a here-document or a here-string that a program runs. */
  #input(name: string, language: Language, command: Command): void {
    const text = command.redirects.map(inputText).find((one) => one !== undefined);
    if (text === undefined || /[$`]/.test(text.expanded))
      this.#hide(`${name} runs text that only the shell knows`);
    else if (language === "shell") {
      this.#script(text.text, this.#flows.of(command), this.#repeated.has(command));
    } else if (!isHarmlessCode(language, text.text))
      this.#hide(`${name} runs a script that may start any program`);
    for (const token of tokensOf(text?.text ?? "")) this.#addItem(token);
  }

  #script(text: string, flow?: Flow, isRepeated = false): void {
    this.#scripts -= 1;
    this.#chars -= text.length;
    this.excess ??= this.#scripts < 0 || this.#chars < 0 ? "it has too many quoted scripts" : excessOf(text);
    if (this.excess === undefined && text.trim() !== "") {
      const script = parse(text);
      this.#quoted.add(script);
      if (isRepeated) this.#repeated.add(script);
      this.#depths.begin(script, text);
      this.#flows.set(script, flow);
      this.#open.push(script);
    }
  }

  #argument(arg: Command["args"][number]): string {
    if (arg.type === "Word") return this.values.of(arg);
    if (arg.value.type === "ArrayValue" || arg.index !== undefined) return arg.text;
    return `${arg.name}${arg.append ? "+" : ""}=${this.values.of(arg.value)}`;
  }

  #redirect(redirect: Redirection): void {
    if (redirect.type !== "Redirect" || redirect.target === undefined) return;
    const { operator, target } = redirect;
    if ((operator === ">&" || operator === "<&") && /^(\d+|-)$/.test(target.text)) return;
    const path = this.values.of(target);
    if (path !== "/dev/null") this.files.push({ kind: operator === "<" ? "read" : "write", path });
  }
}
