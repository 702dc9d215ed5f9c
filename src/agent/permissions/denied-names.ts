import { textStart } from "../../text/characters/cut-text.ts";
import { expandBraces } from "./commands/brace-expansion.ts";
import { APPENDS_INPUT, commandsNamed } from "./commands/command-starts.ts";
import { harmlessIndexes, ignoresVariables, mayRunUnknown, takesOnlyData } from "./commands/data-words.ts";
import { contentsRead, valuesAfterLetters } from "./commands/named-words.ts";
import { UNKNOWN } from "./commands/pattern-meetings.ts";
import { baseName } from "./commands/runners.ts";
import { runsScripts, tokensOf } from "./commands/scripts.ts";
import { STAR, simpleCommand, wildcard } from "./commands/simple-command.ts";
import { mayBeSubcommand } from "./commands/tables/subcommand-names.ts";
import { nameMatcher } from "./files/patterns.ts";
import type { PermissionQuestion } from "./question.ts";
import { parseRule, patternRuleFor, type RuleSubject } from "./rules.ts";
import { type LineParts, NO_COMMAND } from "./syntax/parts.ts";

/**
 * Returns why a line may run the program of a deny or ask rule in a way that no table of wrappers and options knows. Only
 * programs that take their words as data may name such a program; for every other program, each place in a word where a command
 * line could begin counts.
 */
export function namedProgram({ line, rules }: PermissionQuestion, subject: RuleSubject): string | undefined {
  if (line === undefined) return undefined;
  const all = [...rules.deny, ...rules.ask].filter((rule) => patternRuleFor([rule], subject) !== undefined);
  if (all.length === 0) return undefined;
  const refused = new RefusedNames(all);
  const parts = line.anywhere;
  const data = new DataCommands(parts);
  return refused.unknownIn(parts.mentioned) ?? namedIn(refused, parts, data, all[0] ?? "");
}

/** Returns why a word of a line may name the program of a rule. @param first the rule to name if any of them may apply */
function namedIn(
  refused: RefusedNames,
  parts: LineParts,
  data: DataCommands,
  first: string,
): string | undefined {
  for (const [at, words] of parts.mentioned.entries()) {
    const why = hiddenCode(words);
    if (why !== undefined && !data.includes(at))
      return `The rule ${first} may apply to this command: ${why}.`;
    const program = textStart(baseName(words[0] ?? ""), MAX_SHOWN);
    // All words of a program count if another program may get them.
    const found = refused.find(program, [...words.slice(1), parts.inputs.get(at) ?? ""]);
    if (found === undefined || (data.includes(at) && !data.reachesProgram(at))) continue;
    const own = data.includes(at) ? found : refused.find(program, textOf(words, parts.inputs.get(at)));
    if (own !== undefined)
      return `The rule ${own} may apply: an argument or the input of ${program} names the rule's program.`;
  }
  const found = refused.find("", [...parts.loose, parts.inputs.get(NO_COMMAND) ?? ""]);
  return found === undefined || (!parts.isRedefining && parts.mentioned.every(ignoresVariables))
    ? undefined
    : `The rule ${found} may apply: a value in the command names the rule's program.`;
}

/** Maximum length of a program's name in a reason, in characters. */
const MAX_SHOWN = 40;

/** Returns the texts of a command that may be commands for it. */
function textOf(words: readonly string[], input = ""): string[] {
  const harmless = harmlessIndexes(words);
  return [...words.filter((_, at) => !harmless.has(at)), input];
}

/** The commands of a line that take their words only as data. */
class DataCommands {
  readonly #parts: LineParts;
  readonly #known = new Map<number, boolean>();

  constructor(parts: LineParts) {
    this.#parts = parts;
  }

  includes(at: number): boolean {
    const { mentioned, isRedefining } = this.#parts;
    const isData = this.#known.get(at) ?? (!isRedefining && takesOnlyData(mentioned[at] ?? []));
    this.#known.set(at, isData);
    return isData;
  }

  /** Returns whether the output of a command may reach a program that takes it as more than data. */
  reachesProgram(at: number): boolean {
    const { isLinked, mentioned, inputs } = this.#parts;
    const mayWriteCode = PRINTS.test(baseName(mentioned[at]?.[0] ?? "")) || inputs.has(at);
    return mentioned.some((words, other) => {
      const isLater = isLinked && other > at;
      if (isLater && mayWriteCode && RUNS_PROJECT.test(words[0] ?? "")) return true;
      return (isLater || this.#isAfter(other, at)) && !this.includes(other);
    });
  }

  /** Like {@link reachesProgram}, for file names: some programs that take only data use words as file names, input as text. */
  reachesAsNames(at: number): boolean {
    const { flows, mentioned } = this.#parts;
    const own = flows[at];
    return mentioned.some((words, other) => {
      const isWord = flows[other]?.group === own?.group && flows[other]?.stage === own?.stage;
      const isGiven = this.#isAfter(other, at) || (own?.isKept === true && other > at);
      const mayName = isWord || own?.isKept === true;
      return isGiven && (!this.includes(other) || (mayName && takesNames(words)));
    });
  }

  #isAfter(other: number, at: number): boolean {
    const [own, flow] = [this.#parts.flows[at], this.#parts.flows[other]];
    return flow?.group === own?.group && (flow?.stage ?? 0) >= (own?.stage ?? 0);
  }
}

/** Returns whether a program that takes only data reads, creates, changes or removes the files that its words name. */
function takesNames(words: readonly string[]): boolean {
  const [name = "", first = ""] = words;
  if ((contentsRead(words)?.length ?? 0) > 0) return true;
  return name === "git"
    ? /^(?:add|checkout|restore|rm|mv)$/.test(first)
    : /^(?:mkdir|rmdir|touch|tee|chmod|chown|chgrp)$/.test(name);
}

/** Returns the names that commands get from the text of other commands: `echo 'cp a .env' | sh`, `ed a <<< 'w .env'`. */
export function passedNames(parts: LineParts): readonly string[] {
  const data = new DataCommands(parts);
  const { mentioned, inputs } = parts;
  const shared = mentioned.every((_, at) => data.includes(at)) ? [] : tokensOf(inputs.get(NO_COMMAND) ?? "");
  const passed = mentioned.flatMap((words, at) => {
    const shown = PRINTS.test(baseName(words[0] ?? "")) ? words.slice(1) : [];
    const input = inputs.get(at) ?? "";
    if (shown.length === 0 && input === "") return [];
    const isOwn = !data.includes(at);
    if (!isOwn && !data.reachesAsNames(at)) return [];
    return [...shown, ...[...shown, input].flatMap(tokensOf)];
  });
  const all = [...shared, ...passed];
  return mentioned.some(appliesPatch) ? [...all, ...all.flatMap(withoutFirst)] : all;
}

/** Returns whether a command applies a patch: `patch -p1` and `git apply` drop the first directory of each name in it. */
function appliesPatch(words: readonly string[]): boolean {
  const isGit = words[0] === "git" && words.some((word) => /^(?:apply|am)$/.test(word));
  return isGit || words.some((word) => /(?:^|\/)patch$/.test(word));
}

function withoutFirst(path: string): string[] {
  const parts = path.split("/");
  return [1, 2].flatMap((count) => (parts.length > count ? [parts.slice(count).join("/")] : []));
}

/** Programs that take only data, but run scripts and tests of the project, which an earlier command may have written. */
const RUNS_PROJECT = /^(?:npm|pytest|cargo|go)$/;

/** Programs that print their words. */
const PRINTS = /^(?:echo|printf|print)$/;

/** Returns why the words of a program that no table knows may be code, or a command that only the shell knows. */
function hiddenCode(words: readonly string[]): string | undefined {
  const program = textStart(baseName(words[0] ?? ""), MAX_SHOWN);
  if (mayRunUnknown(words, UNKNOWN)) return `${program} gets a command that only the shell knows`;
  if (runsScripts(words) || !words.some((word) => CODE.test(word))) return undefined;
  const harmless = harmlessIndexes(words);
  const hasCode = words.some((word, at) => !harmless.has(at) && CODE.test(word));
  return hasCode ? `${program} gets text that may be code` : undefined;
}

/** Expansions and encodings in a quoted word, and calls that start programs. */
const CODE =
  /\$[({@*]|`|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\[0-3]?[0-7]{2}|\b(?:system|popen|execl?[vpe]*|spawn\w*|shell|eval|chr)\s*[("'[]/i;

interface RefusedName {
  readonly rule: string;
  /** The words of the rule after the program's name. */
  readonly rest: readonly string[];
}

/** Finds the names of the rules' programs in texts. The time is linear in the text. */
class RefusedNames {
  readonly #exact = new Map<string, RefusedName[]>();
  readonly #patterns: (RefusedName & { readonly matches: (name: string) => boolean })[] = [];
  /** The programs of rules with a subcommand. */
  readonly #programs: RegExp;

  constructor(rules: readonly string[]) {
    for (const rule of rules) {
      const pattern = (parseRule(rule)?.pattern ?? "").replace(/:\*$/, "");
      const [name = "", ...words] = simpleCommand(pattern) ?? pattern.trim().split(/\s+/);
      const star = words.findIndex((word) => STAR.test(word));
      const rest = star < 0 ? words : words.slice(0, star);
      const plain = baseName(name).toLowerCase();
      if (!STAR.test(plain)) this.#exact.set(plain, [...(this.#exact.get(plain) ?? []), { rule, rest }]);
      else if (/\w/.test(plain)) this.#patterns.push({ rule, rest, matches: wildcard(plain) });
    }
    const named = [...this.#exact].filter(([, all]) => all.some(({ rest }) => rest.length > 0));
    const names = named.map(([name]) => name.replace(/\W/g, "\\$&"));
    this.#programs = new RegExp(`^(?:${names.join("|")})$`, "i");
  }

  /** Returns a rule whose program is named in texts. @param program the program that gets the texts as words or input */
  find(program: string, texts: readonly string[]): string | undefined {
    const text = texts.join("\n");
    const plain = text.replace(/["'\\]/g, "");
    const forms = [text, plain, expandBraces(plain).text, text.replace(ESCAPED_BLANK, " ")];
    const all = [...new Set(forms)].join("\n");
    const seen = new Set<string>();
    const lasts = new Map<string, number>();
    const lastOf = (word: string): number => {
      const last = lasts.get(word) ?? all.lastIndexOf(word);
      lasts.set(word, last);
      return last;
    };
    for (const match of all.matchAll(TOKEN)) {
      if (all.charAt(match.index + match[0].length) === "/") continue;
      for (const name of namesIn(match[0].toLowerCase())) {
        // Only the first occurrence of a name counts, because it has the most words after it.
        if (seen.has(name)) continue;
        seen.add(name);
        const found = this.#ruleFor(name, program, (word) => lastOf(word) > match.index);
        if (found !== undefined) return found;
      }
    }
    return this.#ruleForGlob(all);
  }

  /** Returns why commands may run the subcommand of a rule. */
  unknownIn(commands: readonly (readonly string[])[]): string | undefined {
    const rule = commands.map((words) => this.#unknownSubcommand(words)).find((found) => found !== undefined);
    return rule === undefined
      ? undefined
      : `The rule ${rule} may apply: the command runs the rule's program with an equivalent or unknown subcommand.`;
  }

  /** Returns the rule whose subcommand a command may run under another name, or by a word that the line does not show. */
  #unknownSubcommand(words: readonly string[]): string | undefined {
    const getsInputWords = APPENDS_INPUT.test(words[0] ?? "");
    for (const [program = "", ...args] of commandsNamed(words, this.#programs)) {
      const name = baseName(program).toLowerCase();
      const own = { program: name, args, getsInputWords, unknown: UNKNOWN };
      const found = this.#exact.get(name)?.find(({ rest }) => mayBeSubcommand(rest, own));
      if (found !== undefined) return found.rule;
    }
    return undefined;
  }

  #ruleFor(name: string, program: string, comesAfter: (word: string) => boolean): string | undefined {
    const follows = (words: readonly string[]): boolean => words.every(comesAfter);
    const named = [
      ...(this.#exact.get(name) ?? []),
      ...this.#patterns.filter((one) => one.matches(name)),
    ].find(({ rest }) => follows(rest));
    // `git -c alias.p=push p`: the program itself, and its subcommand in a word.
    const own = this.#exact
      .get(program.toLowerCase())
      ?.find(({ rest: [first, ...more] }) => first?.toLowerCase() === name && follows(more));
    return (named ?? own)?.rule;
  }

  /** Returns a rule whose program a shell may find by a pattern in a text: `/bin/r?`. */
  #ruleForGlob(text: string): string | undefined {
    let count = 0;
    for (const [, dir = "", glob = ""] of text.matchAll(GLOB)) {
      if (!/bin|[*?[(]/.test(dir) || !/[*?[(]/.test(dir + glob) || !/[\w?]/.test(dir + glob)) continue;
      count += 1;
      const matches = globMatcher(glob);
      for (const [name, [first]] of this.#exact) if (count > MAX_GLOBS || matches(name)) return first?.rule;
    }
    return undefined;
  }
}

/** Maximum number of patterns in a text that may name a program: more than real commands need. */
const MAX_GLOBS = 100;

/** A name where a command line can begin: at the start of a word, or after any character that no name contains. */
const TOKEN = /[\w.-]+\+*/g;
/** A pattern below the root or the home directory, and the directory before its last part. */
const GLOB = /(?<![\w.*?\]/-])([~.]{0,2}\/(?:[\w.*?[\]{}!^:=(|)-]+\/+)*)([\w.*?[\]{}!^:=(|)-]+)/g;
const ESCAPED_BLANK = /\\(?:[ntrvf]|x0[9a-d]|x20|0?1[1-5]|0?40)/g;

/** Returns a token, and the values that it may contain after the letters of options: `-Irm`, `-avzerm`. */
function namesIn(token: string): string[] {
  const name = token.replace(/\.$/, "");
  if (!/^-\w/.test(name)) return name.endsWith("+") ? [name, name.replace(/\+*$/, "")] : [name];
  // The name of a program is short. `-lcurl` links a library.
  const named = valuesAfterLetters(name, MAX_SHOWN);
  return name.startsWith("-l") ? named.slice(1) : named;
}

/** Returns a matcher of short names. Everything from the first set or group of a pattern to the last one counts as any text. */
function globMatcher(glob: string): (name: string) => boolean {
  const [open, close] = [glob.search(/[[(]/), Math.max(glob.lastIndexOf("]"), glob.lastIndexOf(")"))];
  const plain = open < 0 || close < open ? glob : `${glob.slice(0, open)}*${glob.slice(close + 1)}`;
  const matches = nameMatcher(plain.toLowerCase());
  const hasManyStars = plain.split(/\*+/).length > MANY_STARS;
  return (name) => hasManyStars || name.length > MAX_SHOWN || matches(name);
}

/** A pattern with this many stars counts as a match, without a comparison. */
const MANY_STARS = 4;
