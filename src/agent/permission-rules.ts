import { basename, dirname, join, relative, resolve, sep } from "node:path";
import picomatch from "picomatch";
import { hostMatches, isPrivateHost } from "./host-rules.ts";
import { isInside } from "./protected-paths.ts";
import { isServerName, type NamedTool, namesServed } from "./server-rules.ts";
import type { ShellLine } from "./shell-line.ts";
import { possibleCommands, simpleCommand, startsOf } from "./simple-command.ts";
import type { ToolAccess } from "./tools/tool.ts";

/** Rules as settings and flags hold them: `Tool` or `Tool(pattern)`; deny beats ask beats allow. */
export interface PermissionRules {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}
export const NO_RULES: PermissionRules = { allow: [], ask: [], deny: [] };

/** What a rule is held against. */
export interface RuleSubject {
  readonly tool: string;
  /** Whose it is, of a server's tool. */
  readonly served?: NamedTool["served"];
  readonly access: ToolAccess;
  /** The command of the access, read; without it no rule with a pattern allows one. */
  readonly line?: ShellLine | undefined;
  /** The access's paths with every link resolved. */
  readonly realPaths: readonly string[];
  /** Where a relative pattern starts. */
  readonly cwd: string;
  readonly home: string | undefined;
  /** Resolves the links of a path; without it patterns are about places by the names that they have. */
  readonly resolve?: ((path: string) => string) | undefined;
}

/**
 * The first of these rules that is about the call, or any part of it: for one that refuses, that is enough. One that is cut
 * off or otherwise none refuses all of the tool that it begins with: what it was to hold against is not known.
 */
export function refusingRule(rules: readonly string[], subject: RuleSubject): string | undefined {
  return rules.find((rule) => {
    const whole = parseRule(rule);
    const parsed = whole ?? parseRule(BEGINNING.exec(rule)?.[0] ?? "");
    if (parsed === undefined) return false;
    const { tool, pattern } = parsed;
    if (whole === undefined && isAbout(tool, subject, true)) return true;
    if (pattern === undefined) return namesTool(tool, named(subject), true);
    return isAbout(tool, subject, true) && touches(pattern, subject);
  });
}

/** A tool's name, of a server's tool whatever the server is called. */
const NAME = String.raw`mcp__[^(),;]*?|[\w.*-]+`;
const BEGINNING = new RegExp(`^\\s*(?:${NAME.replace("?", "")})`, "i");
const RULE = new RegExp(String.raw`^\s*(${NAME})\s*(?:\(([\s\S]*)\))?\s*$`, "i");

function named({ tool, served }: RuleSubject): NamedTool {
  return { name: tool, served };
}

/** How far rules allow a call. */
export type Allowance =
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
  const whole = parsed.find(({ tool, pattern }) => pattern === undefined && namesTool(tool, named(subject)));
  // What only this machine or its network serves is nothing that "all of the web" means.
  const isNamed = access.kind === "host" && isPrivateHost(access.host);
  if (whole !== undefined && !isNamed) return { rules: [whole.rule], whole: true };
  const about = parsed.flatMap(({ rule, tool, pattern }) =>
    pattern !== undefined && isAbout(tool, subject) ? [{ rule, pattern }] : [],
  );
  if (access.kind === "command") return commandAllowance(about, line);
  const covering = about.find(({ pattern }) => covers(pattern, subject));
  return covering === undefined ? { missing: undefined } : { rules: [covering.rule], whole: false };
}

/** Whether a pattern that allows is about all of what a call touches, of one that runs no command. */
function covers(pattern: string, subject: RuleSubject): boolean {
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
function touches(pattern: string, subject: RuleSubject): boolean {
  const { access, line } = subject;
  if (access.kind === "team") return access.what?.toLowerCase() === pattern.toLowerCase();
  // No pattern can be held against what somebody else's tool does: one that refuses refuses all of it.
  if (access.kind === "external") return true;
  if (access.kind === "host") return hostMatches(pattern, access.host, "any");
  if (access.kind !== "command") return pathsMatch(pattern, access.paths, subject, "any");
  for (const words of possibleCommands(access.command)) if (wordsMatch(pattern, words)) return true;
  for (const mentioned of line?.mentioned ?? []) {
    for (const words of startsOf(mentioned)) if (wordsMatch(pattern, words)) return true;
  }
  return false;
}

/** `Tool(pattern)` in its two parts; `Tool()` and `Tool(*)` are the tool itself. A rule that is neither is none. */
export function parseRule(rule: string): { tool: string; pattern?: string } | undefined {
  const match = RULE.exec(rule);
  if (match?.[1] === undefined) return undefined;
  // A blank behind a backslash is part of the pattern.
  const pattern = match[2]?.trimStart().replace(/(?<!\\)\s+$/, "");
  return pattern === undefined || pattern === "" || pattern === "*" || pattern === ":*"
    ? { tool: match[1] }
    : { tool: match[1], pattern };
}

/** Whether a rule that refuses is about a tool whatever it is called with: it has no pattern. */
export function isAboutAll(rule: string, tool: NamedTool): boolean {
  const parsed = parseRule(rule);
  return parsed !== undefined && parsed.pattern === undefined && namesTool(parsed.tool, tool, true);
}

/**
 * A rule names a tool exactly, or with `*` at its end a family of them; `mcp__server` names all of that server.
 * @param refuses a slip in upper and lower case lifts no denial, and what is not clear is meant
 */
export function namesTool(name: string, tool: NamedTool, refuses = false): boolean {
  if (isServerName(name)) return namesServed(name, tool, refuses);
  const [wanted, own] = refuses ? [name.toLowerCase(), tool.name.toLowerCase()] : [name, tool.name];
  if (wanted.endsWith("*")) return own.startsWith(wanted.slice(0, -1));
  return wanted === own || OLDER_NAMES[wanted] === own;
}

/** What users of coding agents know a tool by. */
const OLDER_NAMES: Readonly<Record<string, string>> = { Task: "Agent", task: "agent" };

/** `Read(…)` is about whatever reads files, `Edit(…)` and `Write(…)` about whatever changes them. */
function isAbout(name: string, subject: RuleSubject, refuses = false): boolean {
  const { access } = subject;
  const known = refuses ? `${name.charAt(0).toUpperCase()}${name.slice(1).toLowerCase()}` : name;
  if (known === "Read") return access.kind === "read";
  if (known === "Edit" || known === "Write") return access.kind === "write";
  return namesTool(name, named(subject), refuses);
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

/**
 * An allowance looks at where links lead; a refusal also at how it is written, at the place that its pattern names by way of
 * links, and not at upper and lower case, which are one to many a file system.
 */
function pathsMatch(
  pattern: string,
  written: readonly string[],
  { realPaths, cwd, home, resolve }: RuleSubject,
  reach: "every" | "any",
): boolean {
  const named = anchors(pattern, cwd, home);
  const nocase = reach === "any";
  const globs =
    nocase && resolve !== undefined ? [...named, ...named.flatMap((one) => placeOf(one, resolve))] : named;
  const matches = (path: string): boolean => globs.some((glob) => pathMatches(glob, path, nocase));
  if (reach === "any") return [...written, ...realPaths].some(matches);
  return realPaths.length > 0 && realPaths.every(matches);
}

interface AnchoredGlob {
  readonly base: string;
  readonly glob: string;
}

/** What a part of a pattern has that is not word for word. */
const MAGIC = /[*?[\]{}()!+@\\]/;

/** The same pattern from where the directories lead that it names word for word; none where that is the same place. */
function placeOf({ base, glob }: AnchoredGlob, resolve: (path: string) => string): AnchoredGlob[] {
  const parts = glob.replace(/\/$/, "").split("/");
  const magic = parts.findIndex((part) => MAGIC.test(part));
  const literal = magic < 0 ? parts.length : magic;
  const written = join(base, ...parts.slice(0, literal));
  let real: string;
  try {
    real = resolve(written);
  } catch {
    // Links that lead nowhere: nothing is reached by them either.
    return [];
  }
  if (real === written) return [];
  const rest = parts.slice(literal).join("/");
  return rest === ""
    ? [{ base: dirname(real), glob: basename(real).replace(/\W/g, "\\$&") }]
    : [{ base: real, glob: rest }];
}

/**
 * Where a pattern may start, as gitignore and users of settings files read it: `~/` at home, `//` at the file system's
 * root, `/` there or at the working directory, one without a slash at any depth of it, else at the working directory.
 */
function anchors(pattern: string, cwd: string, home: string | undefined): AnchoredGlob[] {
  if (pattern === "~" || pattern.startsWith("~/")) {
    return home === undefined ? [] : [{ base: home, glob: pattern.slice(2) || "**" }];
  }
  if (pattern.startsWith("//")) return [{ base: "/", glob: pattern.slice(2) }];
  if (pattern.startsWith("/")) {
    return [
      { base: "/", glob: pattern.slice(1) },
      { base: cwd, glob: pattern.slice(1) },
    ];
  }
  const parents = /^(?:\.\.?\/)+/.exec(pattern)?.[0] ?? "";
  const glob = pattern.slice(parents.length);
  const anyDepth = parents === "" && !glob.replace(/\/$/, "").includes("/");
  return [{ base: resolve(cwd, parents), glob: anyDepth ? `**/${glob}` : glob }];
}

/** As in gitignore, what matches a directory holds for everything below it. */
function pathMatches({ base, glob }: AnchoredGlob, path: string, nocase: boolean): boolean {
  if (!isInside(path, base)) return false;
  const matcher = picomatch(glob.replace(/\/$/, ""), { dot: true, nocase });
  const parts = relative(base, path).split(sep);
  return parts.some((_, depth) => matcher(join(...parts.slice(0, depth + 1))));
}
