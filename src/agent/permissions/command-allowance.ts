import { commandStarts, ENTERS } from "./commands/command-starts.ts";
import { linksMadeBy, mayUnpack } from "./commands/created-links.ts";
import { isHarmlessPattern } from "./commands/harmless-code.ts";
import { readingOf } from "./commands/readers.ts";
import { repeatedOption } from "./commands/repeated-options.ts";
import { namesWord, riskyWords, withoutWrapper } from "./commands/risky-options.ts";
import { baseName, codesIn, runnerOf } from "./commands/runners.ts";
import {
  Command,
  type CommandMatcher,
  commandMatcher,
  STAR,
  simpleCommand,
} from "./commands/simple-command.ts";
import { getsFoundFiles, mayAddRisky, mayRunInput } from "./files/input-programs.ts";
import type { ShellLine } from "./shell-line.ts";

/** The command line that allow rules are checked against. */
export interface CommandSubject {
  /** The parsed command of the access. Without it, no allow rule with a pattern covers a command. */
  readonly line?: ShellLine | undefined;
  /** Returns whether a command of the line only reads, so that it needs no rule. */
  readonly needsNoRule?: ((words: readonly string[]) => boolean) | undefined;
  /** Returns why git would act in a repository that the author of the rule does not know; undefined if it would not. */
  readonly actsElsewhere?: ((words: readonly string[], isWide: boolean) => string | undefined) | undefined;
  /** Returns why a person must allow a line that runs git and enters another repository; undefined if it enters none. */
  readonly entersElsewhere?: (() => string | undefined) | undefined;
  /** Returns whether a shell may expand a word to an option, because a file is named like one. */
  readonly expandsToOption?: ((word: string) => boolean) | undefined;
}

/** The result of checking allow rules. */
export type Allowance =
  /** `whole`: a rule allows the tool with every input. */
  { readonly rules: readonly string[]; readonly whole: boolean } | Uncovered;

/** A call that no rules allow. */
export interface Uncovered {
  /** The command that no rule allows, if the call runs one. */
  readonly missing: string | undefined;
  /** A rule that matches this command, but does not name a risky word in it. */
  readonly unnamed?: { readonly rule: string; readonly word: string } | undefined;
  /** Why no rule covers the command although one may match, or why a command that only reads needs a rule, as a clause. */
  readonly why?: string | undefined;
}

interface CommandRule {
  readonly rule: string;
  readonly pattern: string;
  readonly matches: CommandMatcher;
}

/** Returns the rules that allow each command of a line. */
export function commandAllowance(
  applicable: readonly { readonly rule: string; readonly pattern: string }[],
  subject: CommandSubject,
): Allowance {
  const { line, needsNoRule } = subject;
  if (line === undefined || line.unclear !== undefined) return { missing: undefined };
  const used = new Set<string>();
  const rules = applicable.map((one) => ({ ...one, matches: commandMatcher(one.pattern) }));
  // Another command may replace a file with a link, even after this one: in a loop or in the background.
  const links = new Set(line.commands.flatMap((words) => linksMadeBy(words) ?? []));
  const created: CreatedFiles = {
    links,
    enters: line.commands.some((words) => words.some((word) => ENTERS.has(word))),
    unpackers: line.commands.filter(mayUnpack).length,
  };
  const moved = movedFile(line, links);
  if (moved !== undefined)
    return {
      missing: `a redirection from or to ${moved}`,
      why: "another command may put a link in its place",
    };
  const renaming = line.commands.find(redefinesNames);
  if (renaming !== undefined && line.commands.length > 1)
    return { missing: renaming.join(" "), why: "it redefines the name of a command" };
  for (const [at, words] of line.commands.entries()) {
    const command = Command.of(words);
    if (mayExpandToOption(words, line, created, subject)) {
      return { missing: words.join(" "), why: "a file name that its pattern matches may be an option" };
    }
    const matching = rules.filter(({ matches }) => matches(command));
    const found = matching.find(({ pattern }) => coversCommand(pattern, words, line, at, subject));
    if (found !== undefined) {
      used.add(found.rule);
      continue;
    }
    const needsRule = needsNoRule?.(words) !== true;
    if (!needsRule && !readsCreated(words, created, line)) continue;
    const why = needsRule
      ? (patternReason(words, matching, line.patterns) ?? elsewhereReason(words, matching, subject))
      : "another command may create a file that it reads";
    return { missing: words.join(" "), unnamed: unnamedIn(words, matching), why };
  }
  return used.size === 0 ? { missing: undefined } : { rules: [...used], whole: false };
}

/** Returns whether a shell may expand a pattern to an option: a file is named like one, or another command may unpack such a file. */
function mayExpandToOption(
  words: readonly string[],
  { patterns }: ShellLine,
  { unpackers }: CreatedFiles,
  { expandsToOption }: CommandSubject,
): boolean {
  const matched = words.slice(1).filter((word) => patterns.has(word));
  if (matched.some((word) => expandsToOption?.(word) === true)) return true;
  if (unpackers === 0 || !matched.some((word) => /^[*?[]/.test(word))) return false;
  // Commands that only read are checked by `readsCreated`.
  return unpackers > (mayUnpack(words) ? 1 : 0) && readingOf(words) === undefined;
}

/** Returns whether a rule that matches a command also covers its options, its input and its repository. */
function coversCommand(
  pattern: string,
  words: readonly string[],
  { inputSources, patterns }: ShellLine,
  at: number,
  { actsElsewhere }: CommandSubject,
): boolean {
  const named = writtenWords(pattern).length;
  const from = inputSources.get(at);
  return (
    unnamedWord(pattern, words) === undefined &&
    staysBelow(pattern, words) &&
    !mayBecomeRisky(words, named, patterns) &&
    !(namesNoProgram(pattern) && startsProgram(words)) &&
    !mayAddRisky(words, named, getsFoundFiles(words, from)) &&
    !(inputSources.has(at) && mayRunInput(words, named, from)) &&
    actsElsewhere?.(words, isWide(pattern)) === undefined
  );
}

/** Returns whether the program of a rule is a star or contains one: `* --help`. */
function namesNoProgram(pattern: string): boolean {
  const [program = ""] = pattern.replace(/:\*$/, "").trim().split(/\s/, 1);
  return STAR.test(program);
}

/** Shell builtins that run their words later or as a script. */
const EVALUATES = /^(?:eval|trap|source|\.|alias|bind|complete|mapfile|readarray|fc)$/;

/** Returns whether a command runs a program or code in its words: a rule without a program (`* --help`) does not cover it. */
function startsProgram(words: readonly string[]): boolean {
  const [, ...others] = commandStarts(words);
  return (
    EVALUATES.test(words[0] ?? "") ||
    codesIn(words).codes.length > 0 ||
    others.some((at) => words[at]?.startsWith("-") === false)
  );
}

/** Returns whether a command may redefine the names of later commands, whatever rules cover those commands. */
function redefinesNames(words: readonly string[]): boolean {
  return words.length > 1 && /^(?:alias|abbr|autoload|functions?)$/.test(words[0] ?? "");
}

/** Returns a file of a redirection that another command of the line may replace with a link. */
function movedFile({ commands, files }: ShellLine, links: ReadonlySet<string>): string | undefined {
  if (files.length === 0 || commands.length < 2) return undefined;
  if (links.has("any")) return files[0]?.path;
  return files.find(({ path }) => path.split("/").some((part) => links.has(part)))?.path;
}

/** Returns the first rule that would allow a command if the rule named a risky word of it, with that word. */
function unnamedIn(words: readonly string[], matching: readonly CommandRule[]): Uncovered["unnamed"] {
  for (const { rule, pattern } of matching) {
    const word = staysBelow(pattern, words) ? unnamedWord(pattern, words) : undefined;
    if (word !== undefined) return { rule, word };
  }
  return undefined;
}

/** Returns why a rule that matches a command does not cover its patterns; undefined if it does. */
function patternReason(
  words: readonly string[],
  matching: readonly CommandRule[],
  patterns: ReadonlySet<string>,
): string | undefined {
  return matching.some(({ pattern }) => mayBecomeRisky(words, writtenWords(pattern).length, patterns))
    ? "a file name that its pattern matches may be code or a variable, or a file that it writes"
    : undefined;
}

/**
 * Returns whether a command becomes risky if one of its patterns matches several files, or a file whose name is code or a variable:
 * `uniq *`, `awk *`, `make *`.
 * @param named number of words that the rule names
 */
function mayBecomeRisky(words: readonly string[], named: number, patterns: ReadonlySet<string>): boolean {
  const isPattern = (word: string, at: number): boolean => at > 0 && patterns.has(word);
  if (!words.some(isPattern)) return false;
  const [program = ""] = withoutWrapper(words, named);
  const namesCode = codesIn(words).codes.some(
    ({ language, code, at }) =>
      (language === "awk" || language === "sed") &&
      (words.slice(0, at).some(isPattern) ||
        (isPattern(words[at] ?? "", at) && !isHarmlessPattern(language, code))),
  );
  // Other programs name awk or sed as data: `git add sed *`.
  const isCode = namesCode && runnerOf(program) !== undefined;
  const isMake = /^g?make$/.test(baseName(program));
  // An option that a pattern may match is checked by `mayExpandToOption`.
  const several = words.flatMap((word, at) =>
    isPattern(word, at) && !word.startsWith("-") ? [word, word] : [word],
  );
  return isCode || isMake || riskyWords(several, named).length > riskyWords(words, named).length;
}

/** Returns why a person must allow git, or `cd` before git, although a rule matches the command or the command only reads. */
function elsewhereReason(
  words: readonly string[],
  matching: readonly CommandRule[],
  { actsElsewhere, entersElsewhere }: CommandSubject,
): string | undefined {
  if (matching.length > 0) return actsElsewhere?.(words, true);
  return /^(?:cd|git)$/.test(words[0] ?? "") ? entersElsewhere?.() : undefined;
}

/** The files that the commands of a line may create for each other. */
interface CreatedFiles {
  /** The names of links; `any` if they may have any name. */
  readonly links: ReadonlySet<string>;
  /** The line may enter a directory through a link. */
  readonly enters: boolean;
  /** The number of commands that unpack files of any name. */
  readonly unpackers: number;
}

/**
 * Returns whether a command reads a file through a link that the line may create, or obeys a configuration that the line may
 * unpack, check out or link. No commit contains git's own configuration.
 */
function readsCreated(
  words: readonly string[],
  { links, enters, unpackers }: CreatedFiles,
  { patterns }: ShellLine,
): boolean {
  if (links.size === 0) return false;
  const [name = "", ...args] = words;
  const isMatched = args.some((word) => patterns.has(word) && /^[*?[]/.test(word));
  // A new file may be named like an option: `find *`.
  if (links.has("any") && isMatched && !/^(?:ls|echo)$/.test(name)) return true;
  const isElsewhere = name === "git" && args[0] === "-C";
  const obeying = readingOf(isElsewhere ? ["git", ...args.slice(2)] : words);
  if ((unpackers > 0 && obeying?.git !== undefined) || obeying?.obeys !== undefined) return true;
  const reading = readingOf(words);
  if (reading?.contents !== true) return false;
  const mayLead = (path: string): boolean =>
    enters || links.has("any") || /[*?[]/.test(path) || path.split("/").some((part) => links.has(part));
  return reading.paths.some(mayLead);
}

/** Returns whether each word stays in the directory before a star of its pattern: `./scripts/*` does not cover `./scripts/../x`. */
function staysBelow(pattern: string, words: readonly string[]): boolean {
  if (pattern.endsWith(":*")) return true;
  const starts = pattern.split(/\s+/).map((part) => part.slice(0, Math.max(0, part.search(STAR))));
  const directories = starts.flatMap((start) => /^.*\//.exec(start) ?? []);
  const leaves = (word: string, directory: string): boolean =>
    word.startsWith(directory) && word.slice(directory.length).split("/").includes("..");
  return !directories.some((directory) => words.some((word) => leaves(word, directory)));
}

/** Returns whether the pattern of a rule covers words that it does not name. */
function isWide(pattern: string): boolean {
  return pattern.endsWith(":*") || STAR.test(pattern);
}

/** Returns the words of a rule, without quotes. */
function writtenWords(pattern: string): readonly string[] {
  const written = pattern.replace(/:\*$/, "");
  return simpleCommand(written) ?? written.split(/\s+/);
}

/** Returns the first risky word of a command that an allow rule covers only by `:*` or a star, and does not name itself. */
function unnamedWord(pattern: string, words: readonly string[]): string | undefined {
  if (!isWide(pattern)) return undefined;
  const named = writtenWords(pattern);
  return (
    riskyWords(words, named.length).find((word) => !namesWord(named, word))?.word ??
    repeatedOption(named, words)
  );
}

/** Maximum length of a command that a reason quotes, in characters. */
const MAX_COMMAND_SHOWN = 80;

/** Explains which command no rule allows, and which word of it a rule does not name. */
export function uncoveredReason({ missing, unnamed, why }: Uncovered): string {
  const shown = missing === undefined || missing.length > MAX_COMMAND_SHOWN ? "this command" : missing;
  const isShort = unnamed !== undefined && unnamed.word.length <= MAX_COMMAND_SHOWN;
  const clause = isShort ? `${unnamed.rule} does not name ${unnamed.word}` : why;
  const reason = `No rule allows ${shown}${clause === undefined ? "" : `: ${clause}`}`;
  // The command may end with the directory: `git add .`
  return reason.endsWith(".") ? reason : `${reason}.`;
}
