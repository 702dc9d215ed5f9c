import { realPathOf } from "../../os/files/real-path.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import type { ToolAccess } from "../tool.ts";
import { areNotes, isInside } from "./protected-paths.ts";
import type { PermissionRules, RuleSubject } from "./rules.ts";
import type { ShellLine } from "./shell-line.ts";

export interface PermissionQuestion {
  readonly mode: PermissionMode;
  readonly tool: string;
  /** Whose it is, of a server's tool. */
  readonly served?: RuleSubject["served"];
  /** Paths are absolute. */
  readonly access: ToolAccess;
  /** The command of the access, read: without it only a rule without a pattern allows one. */
  readonly line?: ShellLine | undefined;
  readonly rules: PermissionRules;
  /** The first is where relative patterns start. */
  readonly workingDirs: readonly string[];
  /** Directories that may be read besides: what the agent's own commands printed, the user's skills. */
  readonly readDirs?: readonly string[] | undefined;
  /** The one file that may be written in plan mode. */
  readonly planFile?: string | undefined;
  /** Directories whose files nothing but a person lets change: the root. */
  readonly protectedDirs?: readonly string[] | undefined;
  /** The directory of its own notes, with every link resolved as it was found: a link that comes later leads out of it. */
  readonly notes?: string | undefined;
  readonly home?: string | undefined;
  /** Whether this agent only coordinates in delegate mode (the lead does, a teammate asks). */
  readonly coordinator?: boolean | undefined;
  /** Resolves the links of a path. */
  readonly resolve?: (path: string) => string;
}

export interface PermissionDecision {
  readonly behavior: "allow" | "deny" | "ask";
  /** It asks on account of a rule, or of what it would change: only a person's yes to this very call counts, and no hook's. */
  readonly guarded?: true;
  /** One sentence for the person or model that reads it. */
  readonly reason: string;
}

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

export function resolvePlaces(question: PermissionQuestion): Places {
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
export function readableReason({ paths, dirs, readDirs, planFile }: Places): string | undefined {
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

export function touchesOwnNotes({ access, notes }: PermissionQuestion, { paths }: Places): boolean {
  return (access.kind === "read" || access.kind === "write") && notes !== undefined && areNotes(paths, notes);
}

/** Whether it writes the one file that plan mode lets it write. */
export function writesPlan({ access, mode }: PermissionQuestion, { paths, planFile }: Places): boolean {
  return (
    mode === "plan" &&
    access.kind === "write" &&
    planFile !== undefined &&
    paths.length === 1 &&
    paths[0] === planFile
  );
}
