import { realPathOf } from "../../os/files/symlinks.ts";
import { absolute, type NamedPath, realOf } from "./commands/path-list.ts";
import { literally, pathPatternsMeet } from "./commands/pattern-meetings.ts";
import { copiedFiles, movedBy } from "./files/copied-files.ts";
import { isInside } from "./protected-paths.ts";
import type { PermissionQuestion } from "./question.ts";
import { directoriesOf } from "./syntax/entered-directories.ts";

/** Returns the files and directories that a line moves or removes as a whole, as paths or patterns. */
export function movedByLine({
  line,
  workingDirs,
  home = "~",
  resolve = realPathOf,
}: PermissionQuestion): readonly string[] {
  const names = line?.anywhere.mentioned.flatMap(movedBy) ?? [];
  if (line === undefined || names.length === 0) return [];
  const dirs = directoriesOf(line, workingDirs[0] ?? "/", home, resolve) ?? [];
  return dirs.flatMap(({ path }) =>
    names.map((name) =>
      EXPANDED.test(name)
        ? absolute(name, literally(path), home)
        : realOf(absolute(name, path, home), resolve),
    ),
  );
}

/** A pattern, but not the `{}` of xargs and find. */
const EXPANDED = /[*?[]|\{[^{}]*,/;

/** Returns whether a directory, or a match of a pattern, contains another path: `../*` contains the working directory. */
export function contains(path: string, other: string): boolean {
  if (isInside(other, path)) return true;
  if (!EXPANDED.test(path)) return false;
  const parts = path.replace(/\/+$/, "").split("/");
  const above = other.split("/").slice(0, parts.length);
  return above.length === parts.length && pathPatternsMeet(parts, above.map(literally));
}

/**
 * Returns the files that a line creates by copying directories, judged by their present contents.
 * @param descends whether the contents of an entry of a copied directory count too
 */
export function copiedByLine(
  { line, workingDirs, home = "~", list, resolve }: PermissionQuestion,
  descends?: (name: string) => boolean,
): readonly NamedPath[] {
  if (line === undefined) return [];
  const dirs = directoriesOf(line, workingDirs[0] ?? "/", home, resolve) ?? [];
  return copiedFiles(line.anywhere.mentioned, dirs, home, list, descends).map((path) => ({
    path,
    isPattern: false,
    isHiddenPattern: false,
  }));
}
