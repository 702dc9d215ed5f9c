import { onlyEnters } from "./commands/command-starts.ts";
import { linksIn } from "./commands/created-links.ts";
import { type JoinedPaths, joinedMeeting, namesOfWord } from "./commands/joined-paths.ts";
import { contentsRead, hasManyColons, namesIn, pathsFromTop } from "./commands/named-words.ts";
import { type Directory, type NamedPath, type NamedPaths, PathList, realOf } from "./commands/path-list.ts";
import { hasWildcard, isAnywhere, literally, UNKNOWN, unescaped } from "./commands/pattern-meetings.ts";
import { tokensOf } from "./commands/scripts.ts";
import { passedNames } from "./denied-names.ts";
import { appendedNames, expandsPatterns, isBare, listForInput } from "./files/appended-names.ts";
import { isRenamed, rolesOf } from "./files/word-roles.ts";
import { copiedByLine, holds, movedByLine } from "./moved-files.ts";
import { literalStarts, partsOfRule, patternsMeet } from "./path-rules.ts";
import { filesThroughLinks } from "./protected-patterns.ts";
import type { PermissionQuestion } from "./question.ts";
import { parseRule, patternRuleFor, type RuleSubject, refusingRule } from "./rules.ts";
import type { ShellLine } from "./shell-line.ts";
import { directoriesOf } from "./syntax/entered-directories.ts";
import type { LineParts } from "./syntax/parts.ts";

interface LinePaths {
  /** Of words of commands that only read contents. */
  readonly read: NamedPaths;
  /** Of words of every other command: only the program knows which of them it writes. */
  readonly changed: NamedPaths;
  /** Words of those commands, and directories that the line enters, as directories of names in both kinds of command. */
  readonly joined: Readonly<Record<"read" | "write", JoinedPaths>>;
}

/**
 * Returns why a deny or ask rule stops a line beyond the commands that it shows: the line is too complex to search, it hides a
 * program, or one of its words names a file of a rule for Read or Edit.
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
  if (rule !== undefined) return `The rule ${rule} may apply: ${hidden}.`;
  const forFiles = rules.filter(isForFiles);
  if (forFiles.length === 0) return undefined;
  const { read, changed, joined } = pathsIn(question);
  const excess = read.excess ?? changed.excess;
  if (excess !== undefined) return `The rule ${forFiles[0]} may apply: ${excess}.`;
  const found =
    wordRule(forFiles, "read", [...read.paths, ...changed.paths], question, subject) ??
    wordRule(forFiles, "write", [...changed.paths, ...copiedByLine(question)], question, subject) ??
    joinedRule(forFiles, "read", joined.read, question, subject) ??
    joinedRule(forFiles, "write", joined.write, question, subject);
  if (found !== undefined) return `The rule ${found} covers a file that the line names.`;
  const moved = movedRule(forFiles, question);
  return moved === undefined
    ? undefined
    : `The rule ${moved} covers a file in a directory that the line moves or removes.`;
}

/** Returns a rule that names a file in a directory which the line moves or removes. */
function movedRule(rules: readonly string[], question: PermissionQuestion): string | undefined {
  const { workingDirs, home = "~", resolve } = question;
  const paths = movedByLine(question);
  if (paths.length === 0) return undefined;
  const startsOf = (rule: string): string[] =>
    literalStarts(parseRule(rule)?.pattern ?? "", workingDirs[0] ?? "/", home);
  return rules.find((rule) =>
    startsOf(rule).some((start) => paths.some((path) => holds(path, realOf(start, resolve)))),
  );
}

/** Returns the reason to refuse a line that is too complex for any rule. */
export function excessRefusal(rules: readonly string[], { line }: PermissionQuestion): string | undefined {
  const excess = line?.anywhere.excess;
  return excess === undefined || rules.length === 0 ? undefined : `No rule can be checked: ${excess}.`;
}

export function isForFiles(rule: string): boolean {
  const parsed = parseRule(rule);
  return parsed?.pattern !== undefined && /^(?:read|edit|write)$/i.test(parsed.tool);
}

function wordRule(
  rules: readonly string[],
  kind: "read" | "write",
  named: readonly NamedPath[],
  question: PermissionQuestion,
  subject: RuleSubject,
): string | undefined {
  const { resolve } = question;
  const paths = [...new Set(named.map(({ path }) => path))];
  // A pattern with `..` counts as the files that it matches now, and without it.
  const globs = [
    ...new Set(
      named.flatMap(({ path, isPattern }) => (isPattern && !/\/\.\.(?:\/|$)/.test(path) ? [path] : [])),
    ),
  ];
  const access = { kind, paths } as const;
  const real = (path: string): string => realOf(path, resolve ?? subject.resolve);
  const realPaths = [...paths.map(real), ...filesThroughLinks(named, question, real)];
  return rules.find(
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
}

/** Returns a rule that covers a name in a directory, if words of the line are both. */
function joinedRule(
  rules: readonly string[],
  kind: "read" | "write",
  joined: JoinedPaths,
  question: PermissionQuestion,
  subject: RuleSubject,
): string | undefined {
  const all = withRealDirectories(joined, question.resolve ?? subject.resolve);
  return rules.find((rule) => {
    const { pattern } = parseRule(rule) ?? {};
    if (pattern === undefined || !isAbout(rule, kind)) return false;
    return partsOfRule(pattern, subject).some((parts) => {
      const paths = joinedMeeting(all, parts);
      if (paths === undefined) return true;
      const named = paths.map((path) => {
        const isPattern = hasWildcard(path) || path.includes(UNKNOWN);
        return { path: isPattern ? path : unescaped(path), isPattern, isHiddenPattern: false };
      });
      return named.length > 0 && wordRule([rule], kind, named, question, subject) !== undefined;
    });
  });
}

/** Adds the places where the links of directories lead. */
export function withRealDirectories(
  joined: JoinedPaths,
  resolve: ((path: string) => string) | undefined,
): JoinedPaths {
  const real = joined.directories.map((path) => literally(realOf(unescaped(path), resolve)));
  return { ...joined, directories: [...new Set([...joined.directories, ...real])] };
}

function isAbout(rule: string, kind: "read" | "write"): boolean {
  return /^\s*read/i.test(rule) === (kind === "read");
}

function globMeets(path: string, rule: string, subject: RuleSubject): boolean {
  const pattern = parseRule(rule)?.pattern;
  return pattern !== undefined && patternsMeet(pattern, path, subject);
}

/** Returns the paths that commands of a line may change: all words of each command that does more than read. */
export function changedByLine(question: PermissionQuestion): NamedPaths {
  return pathsIn(question).changed;
}

/** Returns the words of a line as directories, and as names in them that its commands may change. */
export function joinedByLine(question: PermissionQuestion): JoinedPaths {
  return pathsIn(question).joined.write;
}

/** Returns the paths that commands of a line may read or change. */
export function namedByLine(question: PermissionQuestion): readonly string[] {
  const { read, changed } = pathsIn(question);
  return [...changed.paths, ...read.paths].map(({ path }) => path);
}

/** Cache of each line's paths: one decision needs them several times. */
const known = new WeakMap<ShellLine, { readonly key: string; readonly paths: LinePaths }>();

function pathsIn(question: PermissionQuestion): LinePaths {
  const { line, workingDirs, home } = question;
  if (line === undefined) return NOTHING;
  const [cwd = "/"] = workingDirs;
  const dirs = directoriesOf(line, cwd, home ?? "~", question.resolve);
  const key = JSON.stringify([cwd, home, dirs]);
  const found = known.get(line);
  if (found?.key === key) return found.paths;
  const paths = collectPaths(line, cwd, home ?? "~", dirs);
  known.set(line, { key, paths });
  return paths;
}

const NO_PATHS: NamedPaths = { paths: [], excess: undefined };
const NOT_JOINED: JoinedPaths = { directories: [], names: [] };
const NOTHING: LinePaths = {
  read: NO_PATHS,
  changed: NO_PATHS,
  joined: { read: NOT_JOINED, write: NOT_JOINED },
};

function collectPaths(
  line: ShellLine,
  cwd: string,
  home: string,
  dirs: readonly Directory[] | undefined,
): LinePaths {
  const { anywhere } = line;
  const commands = [...line.commands, ...anywhere.mentioned].filter((words) => !onlyEnters(words));
  const links = linksIn(commands);
  const read = new PathList(cwd, dirs, home, anywhere.matchesHidden, links);
  const changed = new PathList(cwd, dirs, home, anywhere.matchesHidden, links);
  for (const words of commands) addCommand(words, line, dirs, { read, changed });
  addLoose(line, commands, dirs, read, changed);
  const lists = new Set(commands.map((words) => listForInput(words, read, changed)));
  for (const list of lists) for (const word of appendedNames(anywhere)) list?.add(word, word.includes("*"));
  return { read, changed, joined: joinedOf(read, changed, (dirs ?? []).slice(1)) };
}

/** Adds the paths that the words of one command name. */
function addCommand(
  words: readonly string[],
  { anywhere, patterns }: ShellLine,
  dirs: readonly Directory[] | undefined,
  { read, changed }: { readonly read: PathList; readonly changed: PathList },
): void {
  const isExpanded = (word: string): boolean => patterns.has(word) || anywhere.globs.has(word);
  const contents = contentsOf(words, anywhere);
  const list = contents === undefined ? changed : read;
  const expands = expandsPatterns(words);
  const mayExpand = (word: string): boolean =>
    expands(word) || isExpanded(word) || (list === changed && word.includes("{") && isBare(word));
  const { own, values, reads } = rolesOf(words, anywhere);
  const names = contents?.some(hasManyColons) ? undefined : (contents ?? namesIn(own));
  const assigned = values.length === 0 ? [] : namesIn(["", ...values]);
  if (names === undefined || assigned === undefined) list.exceed();
  else for (const word of [...names, ...fromTop(words, names, dirs)]) list.add(word, mayExpand(word));
  for (const word of assigned ?? []) list.add(word, mayExpand(word), true);
  // As a whole, and without an option before it: `--kubeconfig=a`.
  for (const file of contents === undefined ? reads : [])
    for (const word of [file, file.slice(file.indexOf("=") + 1)]) read.add(word, isExpanded(file));
  // zsh's suffix aliases run a program with the file that the line names as a command.
  if (anywhere.isRedefining && words[0]?.includes("/")) list.add(words[0], false);
}

/** Returns the paths that git reads from the top of its repository, as they are in the directories of a line. */
function fromTop(
  words: readonly string[],
  names: readonly string[],
  dirs: readonly Directory[] = [],
): readonly string[] {
  // A command that shows only names and properties shows no content.
  if (names.length === 0) return [];
  return dirs.flatMap(({ path, isPattern }) => (isPattern ? [] : pathsFromTop(words, path)));
}

/** Returns the files whose contents a command reads, if it changes nothing, and if the line gives its name no other meaning. */
function contentsOf(words: readonly string[], { functions }: LineParts): readonly string[] | undefined {
  return isRenamed(words[0] ?? "", functions) ? undefined : contentsRead(words);
}

/** Adds words of no command, files of redirections, and names that commands get from the text of others. */
function addLoose(
  { anywhere, patterns }: ShellLine,
  commands: readonly (readonly string[])[],
  dirs: readonly Directory[] | undefined,
  read: PathList,
  changed: PathList,
): void {
  const isExpanded = (word: string): boolean => patterns.has(word) || anywhere.globs.has(word);
  const passed = passedNames(anywhere);
  for (const word of [...anywhere.loose, ...redirectedIn(anywhere, "read"), ...passed])
    read.add(word, isExpanded(word));
  const targets = redirectedIn(anywhere, "write");
  if (targets.length === 0 && commands.every((words) => contentsOf(words, anywhere) !== undefined)) return;
  for (const word of [...targets, ...passed]) changed.add(word, isExpanded(word));
  // Values of variables and items of loops may become words of each command.
  for (const loose of anywhere.loose)
    for (const word of [loose, ...tokensOf(loose)])
      changed.add(word, isExpanded(word), anywhere.assigned.has(loose));
  for (const { path, isPattern } of (dirs ?? []).slice(1))
    if (!isAnywhere(path)) changed.add(path, isPattern);
}

function joinedOf(read: PathList, changed: PathList, entered: readonly Directory[]): LinePaths["joined"] {
  const known = [...entered, ...changed.paths].filter(({ path }) => !isAnywhere(path));
  const all = known
    .map(({ path, isPattern }) => (isPattern ? path : literally(path)))
    .map((path) => path.replace(/(?<=.)\/$/, ""));
  const directories = [...new Set(all)];
  const names = changed.patterns.flatMap(namesOfWord);
  return {
    read: { directories, names: [...names, ...read.patterns.flatMap(namesOfWord)] },
    write: { directories, names },
  };
}

function redirectedIn({ files }: LineParts, wanted: "read" | "write"): readonly string[] {
  return files.flatMap(({ kind, path }) => (kind === wanted ? [path] : []));
}
