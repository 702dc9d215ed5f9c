import { realPathOf } from "../../os/files/symlinks.ts";
import { type JoinedPaths, joinedMeeting, withRealDirectories } from "./commands/joined-paths.ts";
import { type NamedPath, realOf } from "./commands/path-list.ts";
import { hasWildcard, UNKNOWN, unescaped } from "./commands/pattern-meetings.ts";
import { pathsIn } from "./line-paths.ts";
import { contains, copiedByLine, movedByLine } from "./moved-files.ts";
import { literalStarts, partsOfRule, patternsMeet } from "./path-rules.ts";
import { filesThroughLinks } from "./protected-patterns.ts";
import type { PermissionQuestion } from "./question.ts";
import { parseRule, patternRuleFor, type RuleSubject, refusingRule } from "./rules.ts";

/**
 * Returns why a deny or ask rule may apply to a line although it matches no command that the line shows: the line hides a program,
 * names too many files to check, or names a file of a rule for Read or Edit.
 */
export function lineRefusal(
  rules: readonly string[],
  question: PermissionQuestion,
  subject: RuleSubject,
): string | undefined {
  const { line } = question;
  if (line === undefined || rules.length === 0) return undefined;
  const { hidden } = line.anywhere;
  const rule = hidden === undefined ? undefined : patternRuleFor(rules, subject);
  if (rule !== undefined) return `The rule ${rule} may apply to this command: ${hidden}.`;
  const forFiles = rules.filter(isForFiles);
  if (forFiles.length === 0) return undefined;
  const { read, changed, joined } = pathsIn(question);
  const excess = read.excess ?? changed.excess;
  if (excess !== undefined) return `The rule ${forFiles[0]} may apply to this command: ${excess}.`;
  const found =
    wordReason(forFiles, "read", [...read.paths, ...changed.paths], question, subject) ??
    wordReason(forFiles, "write", [...changed.paths, ...copiedByLine(question)], question, subject) ??
    joinedReason(forFiles, "read", joined.read, question, subject) ??
    joinedReason(forFiles, "write", joined.write, question, subject);
  if (found !== undefined) return found;
  const moved = movedRule(forFiles, question);
  return moved === undefined
    ? undefined
    : `The rule ${moved} covers a file in a directory that the command moves or removes.`;
}

/** Returns the first rule that names a file in a directory which the line moves or removes. */
function movedRule(rules: readonly string[], question: PermissionQuestion): string | undefined {
  const { workingDirs, home = "~", resolve = realPathOf } = question;
  const paths = movedByLine(question);
  if (paths.length === 0) return undefined;
  const startsOf = (rule: string): string[] =>
    literalStarts(parseRule(rule)?.pattern ?? "", workingDirs[0] ?? "/", home);
  return rules.find((rule) =>
    startsOf(rule).some((start) => paths.some((path) => contains(path, realOf(start, resolve)))),
  );
}

/** Returns the reason to refuse a line that is too complex for any rule. */
export function excessRefusal(rules: readonly string[], { line }: PermissionQuestion): string | undefined {
  const excess = line?.anywhere.excess;
  return excess === undefined || rules.length === 0
    ? undefined
    : `The command cannot be checked against the rules: ${excess}.`;
}

export function isForFiles(rule: string): boolean {
  const parsed = parseRule(rule);
  return parsed?.pattern !== undefined && /^(?:read|edit|write)$/i.test(parsed.tool);
}

/** Returns why a rule may apply to files that a line names; undefined if none may. */
function wordReason(
  rules: readonly string[],
  kind: "read" | "write",
  named: readonly NamedPath[],
  question: PermissionQuestion,
  subject: RuleSubject,
): string | undefined {
  const { resolve } = question;
  const paths = [...new Set(named.map(({ path }) => path))];
  // Of a pattern with `..`, only the files that it matches now count.
  const globs = [
    ...new Set(
      named.flatMap(({ path, isPattern }) => (isPattern && !/\/\.\.(?:\/|$)/.test(path) ? [path] : [])),
    ),
  ];
  const access = { kind, paths } as const;
  const real = (path: string): string => realOf(path, resolve ?? subject.resolve);
  const linked = filesThroughLinks(named, question, real);
  const realPaths = [...paths.map(real), ...(linked ?? [])];
  const found = rules.find(
    (rule) =>
      refusingRule([rule], {
        ...subject,
        line: undefined,
        tool: kind === "read" ? "Read" : "Edit",
        access,
        realPaths,
      }) !== undefined ||
      (isAbout(rule, kind) && globs.some((glob) => globMeets(glob, rule, subject))),
  );
  if (found !== undefined) return coveredReason(found);
  const unchecked = linked === undefined ? rules.find((rule) => isAbout(rule, kind)) : undefined;
  return unchecked === undefined ? undefined : uncheckedReason(unchecked);
}

/** Returns why a rule may apply to a word of the line as a name in the directory that another word names. */
function joinedReason(
  rules: readonly string[],
  kind: "read" | "write",
  joined: JoinedPaths,
  question: PermissionQuestion,
  subject: RuleSubject,
): string | undefined {
  const all = withRealDirectories(joined, question.resolve ?? subject.resolve);
  for (const rule of rules) {
    const { pattern } = parseRule(rule) ?? {};
    if (pattern === undefined || !isAbout(rule, kind)) continue;
    for (const parts of partsOfRule(pattern, subject)) {
      const paths = joinedMeeting(all, parts);
      if (paths === undefined) return uncheckedReason(rule);
      const named = paths.map((path) => {
        const isPattern = hasWildcard(path) || path.includes(UNKNOWN);
        return { path: isPattern ? path : unescaped(path), isPattern, isHiddenPattern: false };
      });
      const reason = named.length > 0 ? wordReason([rule], kind, named, question, subject) : undefined;
      if (reason !== undefined) return reason;
    }
  }
  return undefined;
}

function coveredReason(rule: string): string {
  return `The rule ${rule} covers a file that the command names.`;
}

function uncheckedReason(rule: string): string {
  return `The rule ${rule} may apply to this command: not every file that it names can be checked.`;
}

function isAbout(rule: string, kind: "read" | "write"): boolean {
  return /^\s*read/i.test(rule) === (kind === "read");
}

function globMeets(path: string, rule: string, subject: RuleSubject): boolean {
  const pattern = parseRule(rule)?.pattern;
  return pattern !== undefined && patternsMeet(pattern, path, subject);
}
