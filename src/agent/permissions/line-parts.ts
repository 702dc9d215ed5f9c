import {
  type Command,
  forEachChild,
  type ParsedScript,
  parse,
  type Redirection,
  type SyntaxNode,
} from "unbash";
import { expandBraces } from "./commands/brace-expansion.ts";
import { isHarmlessCode, type Language } from "./commands/harmless-code.ts";
import {
  excessOf,
  MAX_COMMANDS,
  MAX_NESTED_CHARS,
  MAX_REDIRECTIONS,
  MAX_SCRIPT_CHARS,
  MAX_SCRIPTS,
} from "./commands/line-limits.ts";
import { UNKNOWN } from "./commands/pattern-meetings.ts";
import { codesIn, hiddenProgram, runsInput } from "./commands/runners.ts";
import { embeddedScripts, tokensOf } from "./commands/scripts.ts";
import { createdBy, ownFileReason } from "./files/own-programs.ts";
import { Evaluations } from "./syntax/evaluated-texts.ts";
import { Depths } from "./syntax/line-depths.ts";
import { type Flow, Flows } from "./syntax/line-flows.ts";
import {
  DEFINES,
  inputText,
  isPlainGroup,
  NAMES_PROGRAM,
  redefines,
  showsHidden,
} from "./syntax/line-words.ts";
import { changesReading, decodedForFish, READ_OTHERWISE } from "./syntax/other-shells.ts";
import { type LineParts, NO_COMMAND, type RedirectedFile } from "./syntax/parts.ts";
import { unknownProgram, WordValues } from "./syntax/word-values.ts";

/** Collects the parts of a line. Throws a RangeError for syntax that is nested too deeply. */
export function partsOf(root: ParsedScript, line: string): LineParts {
  const collector = new PartsCollector();
  collector.collect(root, line);
  const numeric = /<\d{0,9}-\d{0,9}>/.exec(line)?.[0];
  // A pattern of numbers in zsh, two redirections in bash.
  if (numeric !== undefined) collector.hidden ??= `${JSON.stringify(numeric)} can be read in two ways`;
  const written = collector.files.flatMap(({ kind, path }) => (kind === "write" ? [path] : []));
  collector.hidden ??= ownFileReason(collector.mentioned, written);
  // Another shell may read it otherwise: zsh's `>! file` and `for f (a) …`.
  if (collector.isUnread || READ_OTHERWISE.test(line)) collector.unread(line);
  const excess = collector.excess ?? excessOfWords(collector, line);
  const { mentioned, flows, inputs, isUnread } = collector;
  const isRedefining = collector.isRedefining || mentioned.some((command) => redefines(command));
  const isLinked =
    collector.isLinked || written.length > 0 || mentioned.some((command) => createdBy(command).length > 0);
  return {
    ...{ mentioned, flows, inputs, isLinked, isUnread },
    isRedefining: isRedefining || collector.functions.size > 0,
    functions: isRedefining || isUnread ? undefined : collector.functions,
    files: collector.files,
    searchesDirectories:
      collector.searchesDirectories || mentioned.flat().some((word) => /^CDPATH=/.test(word)),
    matchesHidden: collector.matchesHidden,
    loose: [...new Set(collector.loose)],
    globs: collector.values.globs,
    ...(collector.hidden === undefined ? {} : { hidden: collector.hidden }),
    ...(excess === undefined ? {} : { excess }),
  };
}

/** Returns why the words of a line are too many to check, as a clause. */
function excessOfWords({ files, values }: PartsCollector, line: string): string | undefined {
  if (new Set(files.map(({ kind, path }) => `${kind} ${path}`)).size > MAX_REDIRECTIONS)
    return "it redirects too many files";
  return values.expandsBraces && !expandBraces(line).isWhole ? "its braces make too many words" : undefined;
}

class PartsCollector {
  readonly mentioned: string[][] = [];
  readonly flows: Flow[] = [];
  readonly inputs = new Map<number, string>();
  isLinked = false;
  isRedefining = false;
  readonly functions = new Set<string>();
  matchesHidden = false;
  searchesDirectories = false;
  readonly files: RedirectedFile[] = [];
  readonly loose: string[] = [];
  hidden: string | undefined;
  excess: string | undefined;
  /** The grammar of bash does not describe all of it. */
  isUnread = false;
  readonly values = new WordValues((why) => {
    this.excess ??= why;
  });
  readonly #open: SyntaxNode[] = [];
  readonly #flows = new Flows();
  readonly #depths = new Depths();
  readonly #evaluations = new Evaluations();
  readonly #quoted = new Set<SyntaxNode>();
  #scripts = MAX_SCRIPTS;
  #chars = MAX_SCRIPT_CHARS;
  #nested = MAX_NESTED_CHARS;

  collect(root: SyntaxNode, line: string): void {
    this.#depths.begin(root, line);
    this.#open.push(root);
    this.#visitAll();
    const decoded = decodedForFish(line);
    if (decoded !== undefined) this.#script(decoded);
    this.#visitAll();
    // Texts of the line that the shell runs when it uses them, and those in them.
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
      this.#open.push(...children.reverse());
    }
  }

  /** Each substitution is parsed again inside the one around it. */
  #count(node: SyntaxNode): void {
    if (node.type === "CommandExpansion" || node.type === "ProcessSubstitution")
      this.#nested -= node.text.length;
    if (this.#nested < 0 || this.#depths.isTooDeep(node)) this.excess ??= "it is nested too deeply";
    if (this.mentioned.length > MAX_COMMANDS) this.excess ??= "it has too many commands";
  }

  /** Adds the words of a line that another shell may read otherwise: `cat .(env|x)`. */
  unread(line: string): void {
    const patterns = line.split(/\s+/).filter((word) => word.includes("("));
    for (const pattern of patterns) this.values.globs.add(pattern);
    this.loose.push(...tokensOf(line).map((token) => token.replace(/^\?/, "")), ...patterns);
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
      this.isRedefining ||= !/^[\w.+-]+$/.test(node.name.text);
    } else if (node.type === "Redirected") {
      for (const redirect of node.redirects) this.#redirect(redirect);
      const input = node.redirects.map((redirect) => inputText(redirect)?.text ?? "").join("\n");
      this.inputs.set(NO_COMMAND, `${this.inputs.get(NO_COMMAND) ?? ""}\n${input}`);
    } else if (node.type === "Assignment") this.#assignment(node);
    else if (node.type === "For" || node.type === "Select") {
      for (const word of node.wordlist ?? []) this.loose.push(this.values.of(word));
    } else if (node.type === "Case") this.loose.push(this.values.of(node.word));
    else if (node.type === "Default") this.loose.push(this.values.of(node.operand));
    else if (node.type === "Script") this.#errors(node);
    else if (node.type === "ExtendedGlob" && !isPlainGroup(node.text)) {
      this.#unreadable("zsh may run a command in a pattern");
    }
  }

  /** Many quoted texts are not scripts: only the errors of others count. */
  #errors(script: ParsedScript): void {
    const error = this.#quoted.has(script) ? undefined : script.errors?.[0];
    if (error !== undefined) this.#unreadable(`it is not valid shell syntax (${error.message})`);
  }

  #assignment({ name, value, append, index }: Extract<SyntaxNode, { type: "Assignment" }>): void {
    if (value.type === "ArrayValue") {
      for (const word of value.elements) this.loose.push(this.values.of(word));
      return;
    }
    const text = this.values.of(value);
    // zsh's mapfile[.env]=x writes the file.
    this.loose.push(text, ...(index === undefined ? [] : [index.text]));
    this.isLinked ||= text.includes(UNKNOWN);
    this.isRedefining ||= name === "PATH" || DEFINES.test(name);
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
    this.excess ??= changesReading(words);
    this.matchesHidden ||= showsHidden(words);
    this.#hide(unknownProgram(command.name, name));
    const expanded = command.args.map(({ text }) =>
      /[$`]|<\(/.test(text.includes(UNKNOWN) ? "$" : text.replace(/'[^']*'/g, "")),
    );
    this.#hide(hiddenProgram(words, [false, ...expanded]));
    for (const script of embeddedScripts(words)) this.#script(script, flow);
    const language = runsInput(words);
    if (language !== undefined) this.#input(name, language, command);
  }

  /** Reads a here-document or a here-string that a program runs. */
  #input(name: string, language: Language, command: Command): void {
    const text = command.redirects.map(inputText).find((one) => one !== undefined);
    if (text === undefined || /[$`]/.test(text.expanded))
      this.#hide(`${name} runs text that only the shell knows`);
    else if (language === "shell") this.#script(text.text, this.#flows.of(command));
    else if (!isHarmlessCode(language, text.text))
      this.#hide(`${name} runs a script that may start any program`);
    if (text !== undefined) this.loose.push(...tokensOf(text.text));
  }

  #script(text: string, flow?: Flow): void {
    this.#scripts -= 1;
    this.#chars -= text.length;
    this.excess ??= this.#scripts < 0 || this.#chars < 0 ? "it has too many quoted scripts" : excessOf(text);
    if (this.excess === undefined && text.trim() !== "") {
      const script = parse(text);
      this.#quoted.add(script);
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
