import { realPathOf } from "../../os/files/symlinks.ts";
import { foldedName } from "../../text/folded-name.ts";
import { APPENDS_INPUT, commandStarts } from "./commands/command-starts.ts";
import { linkTargets } from "./commands/created-links.ts";
import { gitDirectories } from "./commands/git-config.ts";
import { withRealDirectories } from "./commands/joined-paths.ts";
import { MAX_REDIRECTIONS } from "./commands/line-limits.ts";
import { absolute, followed, type NamedPath, realOf } from "./commands/path-list.ts";
import { isAnywhere, literally, UNKNOWN } from "./commands/pattern-meetings.ts";
import { writerOf, writtenBy } from "./commands/writers.ts";
import { isForFiles } from "./line-guards.ts";
import { changedByLine, joinedByLine } from "./line-paths.ts";
import { contains, copiedByLine, movedByLine } from "./moved-files.ts";
import { pathsMatch } from "./path-rules.ts";
import {
  completesRepository,
  isInside,
  joinedEntries,
  joinedReason,
  joinsInside,
  ownPrograms,
  PROGRAM_REASON,
  protectedReason,
} from "./protected-paths.ts";
import { filesThroughLinks, isPatternInside, matchedFiles } from "./protected-patterns.ts";
import { mayExist, type PermissionQuestion, type Places, touchesOwnNotes, writesPlan } from "./question.ts";
import type { ShellLine } from "./shell-line.ts";
import { directoriesOf } from "./syntax/entered-directories.ts";

/** Returns why a call may change a protected file; undefined if it names none. */
export function protectedByName(question: PermissionQuestion, resolved: Places): string | undefined {
  const { excess } = changedByLine(question);
  if (excess !== undefined) return `The command cannot be checked for protected files: ${excess}.`;
  const written = changedPaths(question, resolved);
  if (written.length === 0) return undefined;
  const { home, resolve = realPathOf, gitDirs = (directory) => gitDirectories(directory, home) } = question;
  const repository = resolved.dirs.flatMap(gitDirs);
  const programs = ownPrograms(home, resolved.dirs, resolve);
  const matched = matchedFiles(written, [...repository, ...resolved.protectedDirs], question);
  const linked = filesThroughLinks(written, question, (path) => realOf(path, resolve));
  if (matched === undefined || linked === undefined)
    return "The command cannot be checked for protected files: not every file that its patterns match can be checked.";
  const changed = [
    ...written,
    ...copiedByLine(question, isHidden),
    ...[...matched, ...linked].map((path) => ({ path, ...PLAIN })),
  ];
  const { directories, names } = joinedByLine(question);
  const joined = withRealDirectories(
    { directories: [...directories, ...matched.map(literally)], names },
    resolve,
  );
  const entries = joinedEntries(joined);
  const created = new Set([...changed.map(({ path }) => path), ...entries]);
  const { exists = mayExist } = question;
  for (const one of changed) {
    const why = reasonFor(one, question, resolved, { repository, programs });
    if (why !== undefined) return why;
  }
  const moved = movedByLine(question).find((path) =>
    [...resolved.dirs, home ?? "/"].some((dir) => contains(path, dir)),
  );
  if (moved !== undefined)
    return `The command moves or removes ${moved}, which contains the working directory or your home directory.`;
  const completing = [...created].find((path) =>
    completesRepository(path, (other) => created.has(other) || exists(other)),
  );
  if (completing !== undefined)
    return `${completing} would complete a repository, from which git can run commands.`;
  const why =
    joinedReason(joined, resolved.protectedDirs) ??
    (repository.some((directory) => joinsInside(joined, directory)) ? "belongs to git" : undefined) ??
    (programs.some((directory) => joinsInside(joined, directory)) ? PROGRAM_REASON : undefined);
  return why === undefined ? undefined : `The command may write a file that ${why}.`;
}

/**
 * Below a copied directory, only its hidden subdirectories are searched: no program reads startup files deeper in others, such as
 * a package.
 */
const isHidden = (name: string): boolean => name.startsWith(".");

/** Returns why one path of a call may be a protected file. */
function reasonFor(
  { path, isPattern, isHiddenPattern, isValue }: NamedPath,
  { access }: PermissionQuestion,
  { protectedDirs }: Places,
  { repository, programs }: Readonly<Record<"repository" | "programs", readonly string[]>>,
): string | undefined {
  if (isHiddenPattern) return `${path} may match a protected file.`;
  // A command may copy into a directory that it names.
  const all = access.kind === "command" ? [path, `${path}/x`] : [path];
  const why = all
    .map((one) => protectedReason(one, protectedDirs, isPattern, isValue))
    .find((one) => one !== undefined);
  if (why !== undefined) return `${path} ${why}.`;
  const isIn = isPattern ? isPatternInside : isInside;
  if (repository.some((directory) => isIn(path, directory)))
    return `${path} belongs to git, which can run commands from it.`;
  // Some file systems ignore case.
  if (!isValue && programs.some((directory) => isIn(foldedName(path), foldedName(directory))))
    return `${path} ${PROGRAM_REASON}.`;
  return isAnywhere(path) && PROTECTED_SOMEWHERE.test(path)
    ? `${path.replace(/^\/\*+\//, "")} may be a protected file: only the shell knows its directory.`
    : undefined;
}

/** Returns the paths that a call changes, as written and resolved: a program may read a protected file through a link. */
function changedPaths(question: PermissionQuestion, resolved: Places): readonly NamedPath[] {
  const { access, resolve = realPathOf } = question;
  if (access.kind === "write" && !writesPlan(question, resolved))
    return [...access.paths, ...resolved.paths].map((path) => ({ path, ...PLAIN }));
  if (access.kind !== "command") return [];
  const { paths } = changedByLine(question);
  return [...paths, ...paths.map((one) => ({ ...one, path: realOf(one.path, resolve) }))];
}

/** Names that are protected in git's directories and in `.claude`, for paths whose directory only the shell knows. */
const PROTECTED_SOMEWHERE =
  /^[/*]+(?:config(?:\.worktree)?|commondir|hooks|hooks\/.*|settings(?:\.local)?\.json)$/i;

const PLAIN = { isPattern: false, isHiddenPattern: false };

/**
 * Returns why a call may write a file that the agent's `writes` do not cover; undefined if it writes no such file, or if nothing
 * limits the agent. Covers the file tools, redirections, and common programs that write the files that they name. Any other program
 * can write elsewhere: only the sandbox stops that.
 */
export function writesElsewhere(question: PermissionQuestion, resolved: Places): string | undefined {
  const { writes } = question;
  if (writes === undefined) return undefined;
  const elsewhere = elsewhereOf(question, resolved);
  if (elsewhere === undefined) return undefined;
  const limit = writes.length === 0 ? "may not write any file" : `may write only ${writes.join(", ")}`;
  return `This agent ${limit}; ${elsewhere}.`;
}

function elsewhereOf(question: PermissionQuestion, resolved: Places): string | undefined {
  const { access, line } = question;
  if (access.kind === "write") {
    if (writesPlan(question, resolved) || touchesOwnNotes(question, resolved)) return undefined;
    const outside = access.paths.find(
      (path, i) => !isCovered(question, resolved, path, resolved.paths[i] ?? path),
    );
    return outside === undefined ? undefined : changesText(outside);
  }
  if (access.kind !== "command") return undefined;
  if (line === undefined) return "this command cannot be parsed";
  const { excess } = line.anywhere;
  return excess === undefined
    ? lineElsewhere(question, resolved, line)
    : `this command cannot be checked: ${excess}`;
}

const changesText = (path: string): string => `the call would change ${path}`;

function lineElsewhere(question: PermissionQuestion, resolved: Places, line: ShellLine): string | undefined {
  const { home = "~", resolve = realPathOf, workingDirs } = question;
  const targets = targetsOf(line);
  if (targets.size > MAX_REDIRECTIONS) return "this command writes too many files to check";
  const dirs = directoriesOf(line, workingDirs[0] ?? "/", home, resolve);
  if (dirs === undefined && targets.size > 0)
    return "this command may write in too many directories to check";
  for (const target of targets) {
    const isElsewhere = !/^[/~]/.test(target) && dirs?.some(({ isPattern }) => isPattern) === true;
    if (isElsewhere || target.includes(UNKNOWN) || EXPANDED.test(target))
      return "only the shell knows where this command writes, so name the file literally";
    const outside = dirs
      ?.flatMap(({ path }) => [absolute(target, path, home), followed(target, path, home) ?? []].flat())
      .find((path) => !isCovered(question, resolved, path, realOf(path, resolve)));
    if (outside !== undefined) return changesText(outside);
  }
  return undefined;
}

/** Not a file, but an open stream of the command. */
const DEVICE = /^\/dev\/(?:null|stdout|stderr|tty|fd\/\d+)$/;
/** A shell may expand it to any other path. */
const EXPANDED = /[*?[{]|^~[^/]/;

/** Maximum number of words of one command that may begin a program that writes files: the words after each may be its files. */
const MAX_WRITERS = 40;

/** Returns the files that a line redirects to, and those that common programs in it write. */
function targetsOf({ anywhere, commands, files }: ShellLine): ReadonlySet<string> {
  const redirected = [...files, ...anywhere.files].flatMap(({ kind, path }) =>
    kind === "write" ? [path] : [],
  );
  const programs = [...commands, ...anywhere.mentioned].flatMap((words) => {
    const more = APPENDS_INPUT.test(words[0] ?? "") ? [UNKNOWN] : [];
    const writers = [...commandStarts(words)].filter((at) => writerOf(words[at] ?? "") !== undefined);
    // Each word after the first of them may be a file of one.
    if (writers.length > MAX_WRITERS) return [UNKNOWN, ...words.slice((writers[0] ?? 0) + 1)];
    const written = writers.flatMap((at) => writtenBy([...words.slice(at), ...more]));
    // A later command may write through a link.
    return [...written, ...linkTargets(words)];
  });
  return new Set([...redirected, ...programs]);
}

/** Returns why a line may write a file of a rule for Edit: only the shell knows where it writes. */
export function unknownTarget({ line, rules }: PermissionQuestion): string | undefined {
  const edits = [...rules.deny, ...rules.ask].find((rule) => isForFiles(rule) && !/^\s*read/i.test(rule));
  if (line === undefined || edits === undefined) return undefined;
  return [...targetsOf(line)].some((target) => target.includes(UNKNOWN))
    ? `The rule ${edits} may apply: only the shell knows where the command writes.`
    : undefined;
}

function isCovered(
  { writes = [], home, resolve }: PermissionQuestion,
  { dirs }: Places,
  written: string,
  real: string,
): boolean {
  if (DEVICE.test(written)) return true;
  const subject = { realPaths: [real], cwd: dirs[0] ?? "/", home, resolve };
  return writes.some((pattern) => pathsMatch(pattern, [written], subject, "every"));
}

/**
 * Returns why a call changes a file that another agent's running task has reserved; undefined if no such change is known.
 * Redirections are also separate questions.
 */
export function reservedReason(question: PermissionQuestion, resolved: Places): string | undefined {
  const { access, line, workingDirs, home = "~", reservedBy, resolve } = question;
  if (reservedBy === undefined) return undefined;
  const paths = access.kind === "write" ? [...access.paths, ...resolved.paths] : [];
  if (access.kind === "command" && line !== undefined) {
    const targets = [...targetsOf(line)].filter((target) => !target.includes(UNKNOWN));
    const dirs = directoriesOf(line, workingDirs[0] ?? "/", home, resolve);
    if (dirs?.every(({ isPattern }) => !isPattern) !== true && targets.length > 0)
      return "The command may write reserved files: it may enter too many directories to check.";
    for (const target of targets) for (const { path } of dirs ?? []) paths.push(absolute(target, path, home));
  }
  for (const path of new Set(paths)) {
    const reason = reservedBy(path);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
