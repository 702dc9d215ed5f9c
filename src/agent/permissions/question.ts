import { entryOf } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import type { ToolAccess } from "../tool.ts";
import type { ListNames } from "./files/patterns.ts";
import { areNotes, isInside } from "./protected-paths.ts";
import type { PermissionRules, RuleSubject } from "./rules.ts";
import type { ShellLine } from "./shell-line.ts";

export interface PermissionQuestion {
  readonly mode: PermissionMode;
  readonly tool: string;
  /** Server of an MCP tool. */
  readonly served?: RuleSubject["served"];
  /** Paths are absolute. */
  readonly access: ToolAccess;
  /** The parsed command of the access. Without it, only a rule for the whole tool allows a command. */
  readonly line?: ShellLine | undefined;
  readonly rules: PermissionRules;
  /** The first is the base of relative patterns. */
  readonly workingDirs: readonly string[];
  /** Other directories that may be read: the output of the agent's own commands, the user's skills. */
  readonly readDirs?: readonly string[] | undefined;
  /** Patterns of the only files that may be written, relative to the first working directory; undefined for no limit. */
  readonly writes?: readonly string[] | undefined;
  /** The one file that may be written in plan mode. */
  readonly planFile?: string | undefined;
  /** Directories whose files an agent may change only if a person allows it: teams' root. */
  readonly protectedDirs?: readonly string[] | undefined;
  /** Directory of the agent's notes, resolved once at the start: a link that is created later must not move it. */
  readonly notes?: string | undefined;
  readonly home?: string | undefined;
  /** Whether this agent only coordinates in delegate mode. True for the lead; a teammate asks instead. */
  readonly coordinator?: boolean | undefined;
  /** Returns why a file is reserved for another agent at the moment; undefined if it is not. */
  readonly reservedBy?: ((path: string) => string | undefined) | undefined;
  /** The command runs in the agent's sandbox. */
  readonly isSandboxed?: boolean | undefined;
  /** Resolves the links of a path. */
  readonly resolve?: (path: string) => string;
  /** Returns whether git can read in a directory without running a program that its repository names. */
  readonly isPlain?: (directory: string, what: "objects" | "worktree") => boolean;
  /** Returns the names of remotes that are directories on this machine; an empty name for a directory that is not a remote. */
  readonly localRemotes?: (directory: string) => readonly string[];
  /** Returns the directories and files from which git takes configuration and hooks in a directory. */
  readonly gitDirs?: (directory: string) => readonly string[];
  /** Returns the names in a directory; none if it cannot be listed. */
  readonly list?: ListNames;
  /** Returns whether a path exists. */
  readonly exists?: (path: string) => boolean;
}

export interface PermissionDecision {
  readonly behavior: "allow" | "deny" | "ask";
  /** A rule, a hook or a protected path asks: only a person can allow the call, and only this one call; no hook can. */
  readonly guarded?: true;
  /** The command asks only because it would run outside the sandbox; an `UnsandboxedBash` rule can allow it from now on. */
  readonly isOutside?: true;
  /** One sentence for a person or a model. */
  readonly reason: string;
}

/** Returns whether a path exists; true if that cannot be checked. */
export function mayExist(path: string): boolean {
  try {
    return entryOf(path) !== undefined;
  } catch {
    return true;
  }
}

/** The paths of a question with every link resolved. */
export interface Places {
  readonly paths: readonly string[];
  readonly dirs: readonly string[];
  readonly readDirs: readonly string[];
  readonly protectedDirs: readonly string[];
  readonly planFile: string | undefined;
  /** First path whose links could not be resolved. */
  readonly failure?: string;
}

/** Resolves the links of a question's paths. `failure` is about the paths of the call only. */
export function resolvePlaces(question: PermissionQuestion): Places {
  const { access, resolve = realPathOf } = question;
  const written = access.kind === "read" || access.kind === "write" ? access.paths : [];
  let failure: string | undefined;
  const real = (path: string): string => {
    try {
      return resolve(path);
    } catch {
      // A loop of links, or a directory without search permission: the call then needs a person's answer.
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

/** Returns why the paths may be read in every mode; undefined if they need a rule. */
export function readableReason({ paths, dirs, readDirs, planFile }: Places): string | undefined {
  if (areInside(paths, dirs)) return "The call reads inside the working directories.";
  if (areInside(paths, readDirs)) return "The call reads the output of a command, or a skill.";
  return planFile !== undefined && areInside(paths, [planFile]) ? "The call reads the plan file." : undefined;
}

/** Returns whether each path is in one of the directories; false without paths. */
export function areInside(paths: readonly string[], directories: readonly string[]): boolean {
  return (
    paths.length > 0 && paths.every((path) => directories.some((directory) => isInside(path, directory)))
  );
}

export function touchesOwnNotes({ access, notes }: PermissionQuestion, { paths }: Places): boolean {
  return (access.kind === "read" || access.kind === "write") && notes !== undefined && areNotes(paths, notes);
}

/** Returns whether the call writes exactly the plan file, in plan mode. */
export function writesPlan({ access, mode }: PermissionQuestion, { paths, planFile }: Places): boolean {
  return (
    mode === "plan" &&
    access.kind === "write" &&
    planFile !== undefined &&
    paths.length === 1 &&
    paths[0] === planFile
  );
}
