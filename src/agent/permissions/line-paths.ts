import { onlyEnters } from "./commands/command-starts.ts";
import { linksIn } from "./commands/created-links.ts";
import { type JoinedPaths, namesOfWord } from "./commands/joined-paths.ts";
import { contentsRead, hasManyColons, namesIn, pathsFromTop } from "./commands/named-words.ts";
import { type Directory, type NamedPaths, PathList } from "./commands/path-list.ts";
import { isAnywhere, literally, UNKNOWN } from "./commands/pattern-meetings.ts";
import { tokensOf } from "./commands/scripts.ts";
import { passedNames } from "./denied-names.ts";
import { appendedNames, expandsPatterns, isBare, listForInput } from "./files/appended-names.ts";
import { isRenamed, rolesOf } from "./files/word-roles.ts";
import type { PermissionQuestion } from "./question.ts";
import type { ShellLine } from "./shell-line.ts";
import { directoriesOf } from "./syntax/entered-directories.ts";
import type { LineParts } from "./syntax/parts.ts";

interface LinePaths {
  /** Paths in the words of commands that only read contents. */
  readonly read: NamedPaths;
  /** Paths in the words of every other command: only the program knows which of them it writes. */
  readonly changed: NamedPaths;
  /** Words of those other commands, and entered directories, as directories of names in commands of either kind. */
  readonly joined: Readonly<Record<"read" | "write", JoinedPaths>>;
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

/** Returns the paths that a line names. */
export function pathsIn(question: PermissionQuestion): LinePaths {
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
  const lists = { read, changed, mayChangeValues: mayChangeValues(commands, anywhere) };
  for (const words of commands) addCommand(words, line, dirs, lists);
  addLoose(line, commands, dirs, lists);
  const forInput = new Set(commands.map((words) => listForInput(words, read, changed)));
  for (const list of forInput)
    for (const word of appendedNames(anywhere)) list?.add(word, word.includes("*"));
  return { read, changed, joined: joinedOf(read, changed, (dirs ?? []).slice(1)) };
}

interface PathLists {
  readonly read: PathList;
  readonly changed: PathList;
  /** Whether values of variables count as words of commands that change files. */
  readonly mayChangeValues: boolean;
}

/** Returns whether a command that changes files has a word that only the shell knows: it may be the value of a variable. */
function mayChangeValues(commands: readonly (readonly string[])[], parts: LineParts): boolean {
  return commands.some(
    (words) =>
      contentsOf(words, parts) === undefined &&
      rolesOf(words, parts)
        .own.slice(1)
        .some((word) => word.includes(UNKNOWN)),
  );
}

/** Adds the paths that the words of one command name. */
function addCommand(
  words: readonly string[],
  { anywhere, patterns }: ShellLine,
  dirs: readonly Directory[] | undefined,
  { read, changed, mayChangeValues }: PathLists,
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
  for (const word of assigned ?? []) list.add(word, mayExpand(word), !mayChangeValues);
  // The whole word, and its value if it is an option: `--kubeconfig=a`.
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

/** Returns the files whose contents a command reads, if it changes nothing and the line does not redefine its name. */
function contentsOf(words: readonly string[], { functions }: LineParts): readonly string[] | undefined {
  return isRenamed(words[0] ?? "", functions) ? undefined : contentsRead(words);
}

/** Adds words outside commands, files of redirections, and names that commands get from the text of other commands. */
function addLoose(
  { anywhere, patterns }: ShellLine,
  commands: readonly (readonly string[])[],
  dirs: readonly Directory[] | undefined,
  { read, changed, mayChangeValues }: PathLists,
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
      changed.add(word, isExpanded(word), !mayChangeValues && anywhere.assigned.has(loose));
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
