import { aliasesOf } from "../../schema/tool-names.ts";
import type { ToolAccess } from "../tool.ts";
import { readingOf } from "./commands/readers.ts";
import { namesWord, riskyWords } from "./commands/risky-options.ts";
import { hostMatches, isPrivateHost } from "./host-rules.ts";
import { isServerName, type NamedTool, namesServerTool } from "./mcp-rules.ts";
import { type PathSubject, pathsMatch } from "./path-rules.ts";
import type { ShellLine } from "./shell-line.ts";
import { commandForms, possibleCommands, simpleCommand } from "./simple-command.ts";

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
}

/**
 * Returns the first deny or ask rule that covers the call or any part of it. A malformed rule covers its whole tool, because its
 * pattern is unknown.
 */
export function refusingRule(rules: readonly string[], subject: RuleSubject): string | undefined {
  return rules.find((rule) => {
    const whole = parseRule(rule);
    const parsed = whole ?? parseRule(TOOL_NAME.exec(rule)?.[0] ?? "");
    if (parsed === undefined) return false;
    const { tool, pattern } = parsed;
    if (whole === undefined && appliesTo(tool, subject, true)) return true;
    if (pattern === undefined) return namesTool(tool, namedTool(subject), true);
    return appliesTo(tool, subject, true) && matchesAnyPart(pattern, subject);
  });
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
  | { readonly rules: readonly string[]; readonly whole: boolean }
  /** The command that no rule allows, if the call runs one. */
  | { readonly missing: string | undefined };

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
  // A rule for the whole tool covers only public hosts.
  const needsOwnRule = access.kind === "host" && isPrivateHost(access.host);
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
  return "paths" in access && pathsMatch(pattern, access.paths, subject, "every");
}

function commandAllowance(
  applicable: readonly { readonly rule: string; readonly pattern: string }[],
  { line, needsNoRule }: RuleSubject,
): Allowance {
  if (line === undefined || line.unclear !== undefined) return { missing: undefined };
  const used = new Set<string>();
  for (const words of line.commands) {
    const risky = riskyWords(words);
    const found = applicable.find(({ pattern }) => wordsMatch(pattern, words) && namesAll(pattern, risky));
    if (found !== undefined) used.add(found.rule);
    // An earlier command may replace a file by a link.
    else if (needsNoRule?.(words) !== true || (used.size > 0 && readsNamedFiles(words))) {
      return { missing: words.join(" ") };
    }
  }
  return used.size === 0 ? { missing: undefined } : { rules: [...used], whole: false };
}

function readsNamedFiles(words: readonly string[]): boolean {
  const reading = readingOf(words);
  return reading?.contents === true && reading.paths.length > 0;
}

/** Returns whether an allow rule names these words itself, and not only by `:*` or a star. */
function namesAll(pattern: string, risky: readonly string[]): boolean {
  if (!pattern.endsWith(":*") && !STAR.test(pattern)) return true;
  const written = pattern.replace(/:\*$/, "");
  const named = simpleCommand(written) ?? written.split(/\s+/);
  return risky.every((word) => namesWord(named, word));
}

/** Returns whether the pattern of a deny or ask rule covers any part of the call. */
function matchesAnyPart(pattern: string, subject: RuleSubject): boolean {
  const { access, line } = subject;
  if (access.kind === "team") return access.what?.toLowerCase() === pattern.toLowerCase();
  // The effect of an external tool is unknown, so every pattern covers the whole tool.
  if (access.kind === "external") return true;
  if (access.kind === "host") return hostMatches(pattern, access.host, "any");
  if (access.kind !== "command") return pathsMatch(pattern, access.paths, subject, "any");
  for (const words of possibleCommands(access.command)) if (refuses(pattern, words)) return true;
  for (const mentioned of line?.anywhere.mentioned ?? []) {
    for (const words of commandForms(mentioned)) if (refuses(pattern, words)) return true;
  }
  return false;
}

/** The program's name counts in lower case too: some file systems ignore case, and zsh reads `=rm` as the path of rm. */
function refuses(pattern: string, words: readonly string[]): boolean {
  const [name = "", ...args] = words;
  if (wordsMatch(pattern, words)) return true;
  const plain = name.replace(/^=/, "").toLowerCase();
  return plain !== name && wordsMatch(pattern, [plain, ...args]);
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

/** An unescaped star, which matches any text; `\\*` is the character itself. */
const STAR = /(?<!\\)\*/;

/**
 * Returns whether a pattern matches a command: `git:*` is git with any arguments, a `*` elsewhere is any text, other words are
 * literal.
 */
function wordsMatch(pattern: string, words: readonly string[]): boolean {
  const prefix = pattern.endsWith(":*");
  const wanted = prefix ? pattern.slice(0, -2) : pattern;
  if (!prefix && STAR.test(wanted)) {
    return wildcardMatches(wanted.split(/\s+/).join(" "), words.join(" "));
  }
  const expected = simpleCommand(wanted) ?? wanted.trim().split(/\s+/);
  return expected.every((word, i) => words[i] === word) && (prefix || words.length === expected.length);
}

/** Matches piece by piece from the left, not with a regular expression: a rule of an untrusted repository cannot make it slow. */
function wildcardMatches(pattern: string, text: string): boolean {
  const [first = "", ...middle] = pattern.split(STAR).map((piece) => piece.replaceAll("\\*", "*"));
  const last = middle.pop() ?? "";
  const end = text.length - last.length;
  if (first.length > end || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const piece of middle) {
    const found = text.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
