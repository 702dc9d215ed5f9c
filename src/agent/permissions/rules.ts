import { aliasesOf } from "../../schema/tool-names.ts";
import type { ToolAccess } from "../tool.ts";
import { type Allowance, type CommandSubject, commandAllowance } from "./command-allowance.ts";
import {
  type Command,
  type CommandMatcher,
  commandForms,
  commandMatcher,
  possibleCommands,
} from "./commands/simple-command.ts";
import { hostMatches, isPrivateHost, namesNoHost } from "./host-rules.ts";
import { isServerName, type NamedTool, namesServerTool } from "./mcp-rules.ts";
import { type PathSubject, pathsMatch } from "./path-rules.ts";

/** Permission rules in the form of settings and flags: `Tool` or `Tool(pattern)`. Deny beats ask, ask beats allow. */
export interface PermissionRules {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}
export const NO_RULES: PermissionRules = { allow: [], ask: [], deny: [] };

/** The call that rules are checked against. */
export interface RuleSubject extends PathSubject, CommandSubject {
  readonly tool: string;
  /** Server of an MCP tool. */
  readonly served?: NamedTool["served"];
  readonly access: ToolAccess;
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
  // Report a rule for a command before a rule of another kind.
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
 * Yields every command that a line may run, also with the program's name in lower case and without zsh's prefixes: some file
 * systems ignore case, and in zsh `=rm` is the path of rm and `zf_rm` a builtin rm.
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

/** Built-in tools with a known access: an external call with such a name comes from another program, or has invalid input. */
const UNDERSTOOD = /^(?:Bash|Read|Glob|Grep|Edit|Write|WebFetch)$/;

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
  // A rule for a whole tool does not cover private hosts, third-party CLIs, or calls of built-in tools whose access is unknown.
  const needsOwnRule =
    (access.kind === "host" && isPrivateHost(access.host)) ||
    (access.kind === "external" && UNDERSTOOD.test(subject.tool)) ||
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

/** Trims a pattern, but keeps a space at its end that a backslash escapes. */
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
  // An external call names no files that the rules could check.
  const mayBe = (tools: RegExp): boolean => refuses && access.kind === "external" && tools.test(subject.tool);
  if (known === "Read") return access.kind === "read" || mayBe(/^(?:read|glob|grep)$/i);
  if (known === "Edit" || known === "Write") return access.kind === "write" || mayBe(/^(?:edit|write)$/i);
  return namesTool(name, namedTool(subject), refuses);
}

/** Returns a sentence that explains why a malformed rule covers its whole tool; empty for a well-formed rule. */
export function malformedRuleNote(rule: string): string {
  const parsed = parseRule(rule);
  const isMalformed = parsed === undefined || namesNoHost(parsed.pattern ?? "");
  return isMalformed ? " The rule is malformed, so it covers every call of its tool." : "";
}
