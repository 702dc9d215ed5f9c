import { absolute, type NamedPath, realOf } from "./commands/path-list.ts";
import { directoriesOf } from "./entered-directories.ts";
import { copiedFiles, movedBy } from "./files/copied-files.ts";
import type { PermissionQuestion } from "./question.ts";

/** Returns the places of files and directories that a line moves or removes as a whole. */
export function movedByLine({
  line,
  workingDirs,
  home = "~",
  resolve,
}: PermissionQuestion): readonly string[] {
  const names = line?.anywhere.mentioned.flatMap(movedBy) ?? [];
  if (line === undefined || names.length === 0) return [];
  const dirs = directoriesOf(line, workingDirs[0] ?? "/", home, resolve) ?? [];
  return dirs.flatMap(({ path }) => names.map((name) => realOf(absolute(name, path, home), resolve)));
}

/**
 * Returns the files that a line creates by copying directories, as they are now.
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
