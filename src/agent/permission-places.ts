import { realPathOf } from "../os/real-path.ts";
import type { PermissionQuestion } from "./permission-question.ts";
import { areNotes, isInside } from "./protected-paths.ts";

/** Where what a question names leads, every link followed. */
export interface Places {
  readonly paths: readonly string[];
  readonly dirs: readonly string[];
  readonly readDirs: readonly string[];
  readonly protectedDirs: readonly string[];
  readonly planFile: string | undefined;
  /** One of the paths whose links could not be followed. */
  readonly failure?: string;
}

export function placesIn(question: PermissionQuestion): Places {
  const { access, resolve = realPathOf } = question;
  const written = access.kind === "read" || access.kind === "write" ? access.paths : [];
  let failure: string | undefined;
  const real = (path: string): string => {
    try {
      return resolve(path);
    } catch {
      // A loop of links or a directory that may not be looked into: nothing is allowed on its account.
      failure ??= path;
      return path;
    }
  };
  const dirs = question.workingDirs.map(real);
  const readDirs = (question.readDirs ?? []).map(real);
  const protectedDirs = (question.protectedDirs ?? []).map(real);
  const planFile = question.planFile === undefined ? undefined : real(question.planFile);
  failure = undefined;
  const paths = written.map(real);
  return { paths, dirs, readDirs, protectedDirs, planFile, ...(failure === undefined ? {} : { failure }) };
}

/** Why files may be read in every mode; undefined where they may not. */
export function whyReadable({ paths, dirs, readDirs, planFile }: Places): string | undefined {
  if (areInside(paths, dirs)) return "It reads inside the working directories.";
  if (areInside(paths, readDirs)) return "It reads what is there for it to read.";
  return planFile !== undefined && areInside(paths, [planFile]) ? "It reads its plan." : undefined;
}

/** Whether there are paths, and each is in one of the directories. */
export function areInside(paths: readonly string[], directories: readonly string[]): boolean {
  return (
    paths.length > 0 && paths.every((path) => directories.some((directory) => isInside(path, directory)))
  );
}

export function isOwnNote({ access, notes }: PermissionQuestion, { paths }: Places): boolean {
  return (access.kind === "read" || access.kind === "write") && notes !== undefined && areNotes(paths, notes);
}

/** Whether it writes the one file that plan mode lets it write. */
export function isThePlan({ access, mode }: PermissionQuestion, { paths, planFile }: Places): boolean {
  return (
    mode === "plan" &&
    access.kind === "write" &&
    planFile !== undefined &&
    paths.length === 1 &&
    paths[0] === planFile
  );
}
