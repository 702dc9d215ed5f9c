import { aliasesOf } from "../../schema/tool-names.ts";
import type { ToolAccess } from "../tool.ts";
import { readingOf } from "./commands/readers.ts";
import { namesWord, riskyWords } from "./commands/risky-options.ts";
import { hostMatches, isPrivateHost } from "./host-rules.ts";
import { isServerName, type NamedTool, namesServerTool } from "./mcp-rules.ts";
import { type PathSubject, pathsMatch } from "./path-rules.ts";
import type { ShellLine } from "./shell-line.ts";
import {
  Command,
  type CommandMatcher,
  commandForms,
  commandMatcher,
  possibleCommands,
  STAR,
  simpleCommand,
} from "./simple-command.ts";

/** Permission rules in the form of settings and flags: `Tool` or `Tool(pattern)`. Deny beats ask, ask beats allow. */
export interface PermissionRules {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}
export const NO_RULES: PermissionRules = { allow: [], ask: [], deny: [] };

/** The call that rules are checked against. */
export interface RuleSubject extends PathSubject {
  readonly tool: string;
  /** Server of an MCP tool. */
  readonly served?: NamedTool["served"];
  readonly access: ToolAccess;
  /** The parsed command of the access. Without it, no allow rule with a pattern covers a command. */
  readonly line?: ShellLine | undefined;
  /** Returns whether a command of the line only reads, so that it needs no rule. */
  readonly needsNoRule?: ((words: readonly string[]) => boolean) | undefined;
  /** Returns whether git would push into a repository of this machine that a plain word names. */
  readonly pushesInto?: ((words: readonly string[]) => boolean) | undefined;
  /** Returns whether a shell may expand a word to an option, because a file is named like one. */
  readonly expandsToOption?: ((word: string) => boolean) | undefined;
}

/**
 * Returns the first deny or ask rule that covers the call or any part of it. A malformed rule covers its whole tool, because its
 * pattern is unknown.
 */
export function refusingRule(rules: readonly string[], subject: RuleSubject): string | undefined {
  const commandRules: CommandRule[] = [];
  const other = rules.find((rule) => {
    const whole = parseRule(rule);
    const parsed = whole ?? parseRule(TOOL_NAME.exec(rule)?.[0] ?? "");
    if (parsed === undefined) return false;
    const { tool, pattern } = parsed;
    if (whole === undefined && appliesTo(tool, subject, true)) return true;
    if (pattern === undefined) return namesTool(tool, namedTool(subject), true);
    if (!appliesTo(tool, subject, true)) return false;
    if (subject.access.kind !== "command") return matchesAnyPart(pattern, subject);
    commandRules.push({ rule, matches: commandMatcher(pattern) });
    return false;
  });
  // A deny or ask rule for a command comes before a rule of another kind.
  return refusingCommandRule(commandRules, subject) ?? other;
}

interface CommandRule {
  readonly rule: string;
  readonly matches: CommandMatcher;
}

function refusingCommandRule(rules: readonly CommandRule[], subject: RuleSubject): string | undefined {
  let left = rules;
  if (left.length === 0) return undefined;
  let found: string | undefined;
  for (const command of commandsOf(subject)) {
    const at = left.findIndex(({ matches }) => matches(command));
    if (at < 0) continue;
    found = left[at]?.rule;
    left = left.slice(0, at);
    if (left.length === 0) break;
  }
  return found;
}

/**
 * Yields every command that a line may run. The program's name comes in lower case too: some file systems ignore case, and zsh
 * reads `=rm` as the path of rm, and has `zf_rm`.
 */
function* commandsOf({ access, line }: RuleSubject): Generator<Command> {
  if (access.kind !== "command") return;
  yield* withPlainNames(possibleCommands(access.command));
  for (const mentioned of line?.anywhere.mentioned ?? []) yield* withPlainNames(commandForms(mentioned));
}

function* withPlainNames(commands: Iterable<Command>): Generator<Command> {
  for (const command of commands) {
    yield command;
    const { name } = command;
    const plain = name.replace(/^=|^zf_/, "").toLowerCase();
    if (plain !== name) yield command.named(plain);
  }
}

/** Returns the first rule with a pattern for the tool of a call. */
export function patternRuleFor(rules: readonly string[], subject: RuleSubject): string | undefined {
  return rules.find((rule) => {
    const parsed = parseRule(rule);
    return parsed?.pattern !== undefined && appliesTo(parsed.tool, subject, true);
  });
}

/** Matches the tool name at the start of a rule; a server's name may contain almost any character. */
const TOOL_NAME = /^\s*(?:mcp__[^(),;]*|[\w.*-]+)/i;

function namedTool({ tool, served }: RuleSubject): NamedTool {
  return { name: tool, served };
}

/** The result of checking allow rules. */
type Allowance =
  /** `whole`: a rule allows the tool with every input. */
  { readonly rules: readonly string[]; readonly whole: boolean } | Uncovered;

/** A call that no rules allow. */
export interface Uncovered {
  /** The command that no rule allows, if the call runs one. */
  readonly missing: string | undefined;
  /** A rule that matches this command, but does not name a risky word in it. */
  readonly unnamed?: { readonly rule: string; readonly word: string } | undefined;
}

/** Returns the rules that together allow the whole call: one rule for files, one rule for each simple command of a line. */
export function allowance(rules: readonly string[], subject: RuleSubject): Allowance {
  const parsed = rules.flatMap((rule) => {
    const parts = parseRule(rule);
    return parts === undefined ? [] : [{ rule, ...parts }];
  });
  const { access } = subject;
  const whole = parsed.find(
    ({ tool, pattern }) => pattern === undefined && namesTool(tool, namedTool(subject)),
  );
  // A rule for the whole tool covers only public hosts, and only our own agents.
  const needsOwnRule =
    (access.kind === "host" && isPrivateHost(access.host)) ||
    (access.kind === "team" && access.cli !== undefined);
  if (whole !== undefined && !needsOwnRule) return { rules: [whole.rule], whole: true };
  const applicable = parsed.flatMap(({ rule, tool, pattern }) =>
    pattern !== undefined && appliesTo(tool, subject) ? [{ rule, pattern }] : [],
  );
  if (access.kind === "command") return commandAllowance(applicable, subject);
  const covering = applicable.find(({ pattern }) => matchesEveryPart(pattern, subject));
  return covering === undefined ? { missing: undefined } : { rules: [covering.rule], whole: false };
}

/** Returns whether the pattern of an allow rule covers the whole call. The call runs no command. */
function matchesEveryPart(pattern: string, subject: RuleSubject): boolean {
  const { access } = subject;
  if (access.kind === "host") return hostMatches(pattern, access.host, "every");
  if (access.kind === "team") return namesCli(pattern, access.cli);
  return "paths" in access && pathsMatch(pattern, access.paths, subject, "every");
}

/** Returns whether a pattern is `cli:<name>` of a third-party CLI, or `cli:*` for all. */
function namesCli(pattern: string, cli: string | undefined): boolean {
  return cli !== undefined && (pattern === "cli:*" || pattern === `cli:${cli}`);
}

function commandAllowance(
  applicable: readonly { readonly rule: string; readonly pattern: string }[],
  { line, needsNoRule, expandsToOption, pushesInto }: RuleSubject,
): Allowance {
  if (line === undefined || line.unclear !== undefined) return { missing: undefined };
  const used = new Set<string>();
  const readable = applicable.map((one) => ({ ...one, matches: commandMatcher(one.pattern) }));
  for (const words of line.commands) {
    const command = Command.of(words);
    if (words.slice(1).some((word) => line.patterns.has(word) && expandsToOption?.(word) === true)) {
      return { missing: words.join(" ") };
    }
    const found = readable.find(
      ({ pattern, matches }) =>
        matches(command) &&
        !(isWide(pattern) && pushesInto?.(words) === true) &&
        unnamedWord(pattern, words) === undefined &&
        staysBelow(pattern, words),
    );
    if (found !== undefined) used.add(found.rule);
    // An earlier command may replace a file by a link.
    else if (needsNoRule?.(words) !== true || (used.size > 0 && readsNamedFiles(words))) {
      return {
        missing: words.join(" "),
        unnamed: unnamedIn(
          words,
          readable.filter(({ matches }) => matches(command)),
        ),
      };
    }
  }
  return used.size === 0 ? { missing: undefined } : { rules: [...used], whole: false };
}

/** Returns the first of these rules that would allow a command if it named a risky word of it, with that word. */
function unnamedIn(
  words: readonly string[],
  matching: readonly { readonly rule: string; readonly pattern: string }[],
): Uncovered["unnamed"] {
  for (const { rule, pattern } of matching) {
    const word = staysBelow(pattern, words) ? unnamedWord(pattern, words) : undefined;
    if (word !== undefined) return { rule, word };
  }
  return undefined;
}

function readsNamedFiles(words: readonly string[]): boolean {
  const reading = readingOf(words);
  return reading?.contents === true && reading.paths.length > 0;
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

/** Returns the first risky word of a command that an allow rule covers only by `:*` or a star, and does not name itself. */
function unnamedWord(pattern: string, words: readonly string[]): string | undefined {
  if (!isWide(pattern)) return undefined;
  const written = pattern.replace(/:\*$/, "");
  const named = simpleCommand(written) ?? written.split(/\s+/);
  return riskyWords(words, named.length).find((word) => !namesWord(named, word))?.word;
}

/** Returns whether the pattern of a deny or ask rule covers any part of the call. The call runs no command. */
function matchesAnyPart(pattern: string, subject: RuleSubject): boolean {
  const { access } = subject;
  if (access.kind === "team")
    return (
      access.what?.toLowerCase() === pattern.toLowerCase() || namesCli(pattern.toLowerCase(), access.cli)
    );
  // The effect of an external tool is unknown, so every pattern covers the whole tool.
  if (access.kind === "external") return true;
  if (access.kind === "host") return hostMatches(pattern, access.host, "any");
  return "paths" in access && pathsMatch(pattern, access.paths, subject, "any");
}

/** Splits `Tool(pattern)`; `Tool()` and `Tool(*)` mean the whole tool. Returns undefined for a malformed rule. */
export function parseRule(rule: string): { tool: string; pattern?: string } | undefined {
  const text = rule.trim();
  const open = text.indexOf("(");
  const tool = (open < 0 ? text : text.slice(0, open)).trimEnd();
  if (TOOL_NAME.exec(tool)?.[0] !== tool || (open >= 0 && !text.endsWith(")"))) return undefined;
  const pattern = open < 0 ? "" : trimPattern(text.slice(open + 1, -1));
  return pattern === "" || pattern === "*" || pattern === ":*" ? { tool } : { tool, pattern };
}

/** Removes surrounding blanks, except a blank that is escaped by a backslash. */
function trimPattern(text: string): string {
  const end = text.trimEnd();
  return (end.endsWith("\\") ? text.slice(0, end.length + 1) : end).trimStart();
}

/** Returns whether a deny or ask rule covers a tool with every input, that is, has no pattern. */
export function coversWholeTool(rule: string, tool: NamedTool): boolean {
  const parsed = parseRule(rule);
  return parsed !== undefined && parsed.pattern === undefined && namesTool(parsed.tool, tool, true);
}

/**
 * Returns whether the tool part of a rule names a tool: exactly, as a prefix before `*`, or as `mcp__server` for all tools of a
 * server.
 * @param refuses true for deny and ask rules: case is ignored, and the rule also covers tools whose server is ambiguous
 */
export function namesTool(name: string, tool: NamedTool, refuses = false): boolean {
  if (isServerName(name)) return namesServerTool(name, tool, refuses);
  const spelled = (text: string): string => (refuses ? text.toLowerCase() : text);
  const [wanted, own] = [spelled(name), spelled(tool.name)];
  if (wanted.endsWith("*")) return own.startsWith(wanted.slice(0, -1));
  return wanted === own || aliasesOf(tool.name).map(spelled).includes(wanted);
}

/**
 * Returns whether a rule for this tool name applies: `Read(…)` to every tool that reads files, `Edit(…)` and `Write(…)` to
 * every tool that changes them.
 */
function appliesTo(name: string, subject: RuleSubject, refuses = false): boolean {
  const { access } = subject;
  const known = refuses ? `${name.charAt(0).toUpperCase()}${name.slice(1).toLowerCase()}` : name;
  if (known === "Read") return access.kind === "read";
  if (known === "Edit" || known === "Write") return access.kind === "write";
  return namesTool(name, namedTool(subject), refuses);
}
