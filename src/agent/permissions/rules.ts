import type { ToolAccess } from "../tool.ts";
import { hostMatches, isPrivateHost } from "./host-rules.ts";
import { isServerName, type NamedTool, namesServerTool } from "./mcp-rules.ts";
import { type PathSubject, pathsMatch } from "./path-rules.ts";
import type { ShellLine } from "./shell-line.ts";
import { commandForms, possibleCommands, simpleCommand } from "./simple-command.ts";

/** Rules as settings and flags hold them: `Tool` or `Tool(pattern)`; deny beats ask beats allow. */
export interface PermissionRules {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}
export const NO_RULES: PermissionRules = { allow: [], ask: [], deny: [] };

/** What a rule is held against. */
export interface RuleSubject extends PathSubject {
  readonly tool: string;
  /** Whose it is, of a server's tool. */
  readonly served?: NamedTool["served"];
  readonly access: ToolAccess;
  /** The command of the access, read; without it no rule with a pattern allows one. */
  readonly line?: ShellLine | undefined;
}

/**
 * The first of these rules that is about the call, or any part of it: for one that refuses, that is enough. One that is cut
 * off or otherwise none refuses all of the tool that it begins with: what it was to hold against is not known.
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

/** A tool's name at the start of a rule, of a server's tool whatever the server is called. */
const TOOL_NAME = /^\s*(?:mcp__[^(),;]*|[\w.*-]+)/i;

function namedTool({ tool, served }: RuleSubject): NamedTool {
  return { name: tool, served };
}

/** How far rules allow a call. */
type Allowance =
  /** `whole`: by the tool's name alone, whatever it is called with. */
  | { readonly rules: readonly string[]; readonly whole: boolean }
  /** What of a command no rule allows. */
  | { readonly missing: string | undefined };

/** The rules that together allow all that the call touches: one for a file, for a command line one for each simple command. */
export function allowance(rules: readonly string[], subject: RuleSubject): Allowance {
  const parsed = rules.flatMap((rule) => {
    const parts = parseRule(rule);
    return parts === undefined ? [] : [{ rule, ...parts }];
  });
  const { access, line } = subject;
  const whole = parsed.find(
    ({ tool, pattern }) => pattern === undefined && namesTool(tool, namedTool(subject)),
  );
  // What only this machine or its network serves is nothing that "all of the web" means.
  const isNamed = access.kind === "host" && isPrivateHost(access.host);
  if (whole !== undefined && !isNamed) return { rules: [whole.rule], whole: true };
  const about = parsed.flatMap(({ rule, tool, pattern }) =>
    pattern !== undefined && appliesTo(tool, subject) ? [{ rule, pattern }] : [],
  );
  if (access.kind === "command") return commandAllowance(about, line);
  const covering = about.find(({ pattern }) => matchesEveryPart(pattern, subject));
  return covering === undefined ? { missing: undefined } : { rules: [covering.rule], whole: false };
}

/** Whether a pattern that allows is about all of what a call touches, of one that runs no command. */
function matchesEveryPart(pattern: string, subject: RuleSubject): boolean {
  const { access } = subject;
  if (access.kind === "host") return hostMatches(pattern, access.host, "every");
  return "paths" in access && pathsMatch(pattern, access.paths, subject, "every");
}

function commandAllowance(
  about: readonly { readonly rule: string; readonly pattern: string }[],
  line: ShellLine | undefined,
): Allowance {
  if (line === undefined || line.unclear !== undefined) return { missing: undefined };
  const used = new Set<string>();
  for (const words of line.commands) {
    const found = about.find(({ pattern }) => wordsMatch(pattern, words));
    if (found === undefined) return { missing: words.join(" ") };
    used.add(found.rule);
  }
  return { rules: [...used], whole: false };
}

/** Whether a pattern is about anything that the call touches. */
function matchesAnyPart(pattern: string, subject: RuleSubject): boolean {
  const { access, line } = subject;
  if (access.kind === "team") return access.what?.toLowerCase() === pattern.toLowerCase();
  // No pattern can be held against what somebody else's tool does: one that refuses refuses all of it.
  if (access.kind === "external") return true;
  if (access.kind === "host") return hostMatches(pattern, access.host, "any");
  if (access.kind !== "command") return pathsMatch(pattern, access.paths, subject, "any");
  for (const words of possibleCommands(access.command)) if (wordsMatch(pattern, words)) return true;
  for (const mentioned of line?.mentioned ?? []) {
    for (const words of commandForms(mentioned)) if (wordsMatch(pattern, words)) return true;
  }
  return false;
}

/** `Tool(pattern)` in its two parts; `Tool()` and `Tool(*)` are the tool itself. A rule that is neither is none. */
export function parseRule(rule: string): { tool: string; pattern?: string } | undefined {
  const text = rule.trim();
  const open = text.indexOf("(");
  const tool = (open < 0 ? text : text.slice(0, open)).trimEnd();
  if (TOOL_NAME.exec(tool)?.[0] !== tool || (open >= 0 && !text.endsWith(")"))) return undefined;
  const pattern = open < 0 ? "" : trimPattern(text.slice(open + 1, -1));
  return pattern === "" || pattern === "*" || pattern === ":*" ? { tool } : { tool, pattern };
}

/** Without blanks around it; one behind a backslash is part of it. */
function trimPattern(text: string): string {
  const end = text.trimEnd();
  return (end.endsWith("\\") ? text.slice(0, end.length + 1) : end).trimStart();
}

/** Whether a rule that refuses is about a tool whatever it is called with: it has no pattern. */
export function coversWholeTool(rule: string, tool: NamedTool): boolean {
  const parsed = parseRule(rule);
  return parsed !== undefined && parsed.pattern === undefined && namesTool(parsed.tool, tool, true);
}

/**
 * A rule names a tool exactly, or with `*` at its end a family of them; `mcp__server` names all of that server.
 * @param refuses a slip in upper and lower case lifts no denial, and what is not clear is meant
 */
export function namesTool(name: string, tool: NamedTool, refuses = false): boolean {
  if (isServerName(name)) return namesServerTool(name, tool, refuses);
  const [wanted, own] = refuses ? [name.toLowerCase(), tool.name.toLowerCase()] : [name, tool.name];
  if (wanted.endsWith("*")) return own.startsWith(wanted.slice(0, -1));
  return wanted === own || TOOL_ALIASES[wanted] === own;
}

/** What users of coding agents know a tool by. */
const TOOL_ALIASES: Readonly<Record<string, string>> = { Task: "Agent", task: "agent" };

/** `Read(…)` is about whatever reads files, `Edit(…)` and `Write(…)` about whatever changes them. */
function appliesTo(name: string, subject: RuleSubject, refuses = false): boolean {
  const { access } = subject;
  const known = refuses ? `${name.charAt(0).toUpperCase()}${name.slice(1).toLowerCase()}` : name;
  if (known === "Read") return access.kind === "read";
  if (known === "Edit" || known === "Write") return access.kind === "write";
  return namesTool(name, namedTool(subject), refuses);
}

/** One that stands for any text; `\\*` is the character. */
const STAR = /(?<!\\)\*/;

/** `git:*` is git with anything behind it; a `*` elsewhere stands for any text; the rest is word for word. */
function wordsMatch(pattern: string, words: readonly string[]): boolean {
  const prefix = pattern.endsWith(":*");
  const wanted = prefix ? pattern.slice(0, -2) : pattern;
  if (!prefix && STAR.test(wanted)) {
    return wildcardMatches(wanted.split(/\s+/).join(" "), words.join(" "));
  }
  const expected = simpleCommand(wanted) ?? wanted.trim().split(/\s+/);
  return expected.every((word, i) => words[i] === word) && (prefix || words.length === expected.length);
}

/** Piece by piece from the left: a rule of a foreign repository has no way to make this take long, as it would a regular expression. */
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
