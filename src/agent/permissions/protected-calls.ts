import { entryOf } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { gitDirectories } from "./commands/git-config.ts";
import { changedByLine, type NamedPath, namesTooManyFiles, realOf } from "./line-guards.ts";
import { completesRepository, isInside, protectedReason } from "./protected-paths.ts";
import { type PermissionQuestion, type Places, writesPlan } from "./question.ts";

/** Returns why a call may change a protected file; undefined if it names none. */
export function protectedByName(question: PermissionQuestion, resolved: Places): string | undefined {
  const changed = changedPaths(question, resolved);
  if (changed.length === 0) return undefined;
  const { home, gitDirs = (directory: string) => gitDirectories(directory, home) } = question;
  const repository = gitDirs(resolved.dirs[0] ?? "/");
  const created = new Set(changed.map(({ path }) => path));
  const exists = question.exists ?? ((path: string) => entryOf(path) !== undefined);
  if (namesTooManyFiles(question)) return "The command names too many files to check for protected ones.";
  for (const { path, isHiddenPattern } of changed) {
    if (isHiddenPattern) return `${path} may match a protected file.`;
    const why =
      protectedReason(path, resolved.protectedDirs) ??
      // A command may copy into a directory that it names.
      (question.access.kind === "command" ? protectedReason(`${path}/x`, resolved.protectedDirs) : undefined);
    if (why !== undefined) return `${path} ${why}.`;
    if (repository.some((directory) => isInside(path, directory)))
      return `${path} belongs to git, which can run commands from it.`;
    if (completesRepository(path, (other) => created.has(other) || exists(other))) {
      return `${path} completes a repository, from which git can run commands.`;
    }
  }
  return undefined;
}

/** Returns the paths that a call changes, as written and resolved: a program may read a protected file through a link. */
function changedPaths(question: PermissionQuestion, resolved: Places): readonly NamedPath[] {
  const { access, resolve = realPathOf } = question;
  if (access.kind === "write" && !writesPlan(question, resolved))
    return [...access.paths, ...resolved.paths].map((path) => ({ path, isHiddenPattern: false }));
  if (access.kind !== "command") return [];
  const named = changedByLine(question);
  return [
    ...named,
    ...named.slice(0, MAX_RESOLVED).map((one) => ({ ...one, path: realOf(one.path, resolve) })),
  ];
}

/** Maximum number of words of a line whose links are resolved. */
const MAX_RESOLVED = 4_000;
