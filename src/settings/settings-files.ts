import { dirname, join } from "node:path";
import type { TypeFiles } from "../agent/prompts/agent-type-files.ts";
import { isSystemError, systemRefusal, TeamError } from "../errors.ts";
import { inMainWorktree } from "../git/repository.ts";
import { platform } from "../os/env.ts";
import { entryOf, listDir, readText } from "../os/files/fs.ts";
import { realPathOf } from "../os/files/real-path.ts";
import { pathStat } from "../os/files/user-files.ts";

/** The user's own. */
export function userFile(root: string): string {
  return join(root, "settings.json");
}

/** The administrator's, which win over all others. */
export function managedFile(): string {
  return platform === "darwin"
    ? "/Library/Application Support/ClaudeCode/managed-settings.json"
    : "/etc/claude-code/managed-settings.json";
}

/** The files that a project may have in this very directory, from weak to strong; in the home directory they are the user's own. */
export function ownProjectFiles(root: string, cwd: string): string[] {
  const directory = projectDirectory(root, cwd);
  return directory === undefined
    ? []
    : ["settings.json", "settings.local.json"].map((name) => join(directory, name));
}

/** Whether a directory may be in a linked worktree, which has settings in the main one too: the `.git` above it is a file. */
export function mayBeLinked(cwd: string): boolean {
  for (let at = cwd; ; at = dirname(at)) {
    const git = entryOf(join(at, ".git"));
    if (git !== undefined || at === dirname(at)) return git?.isFile() === true;
  }
}

/** The directory with a project's files for agents; undefined in the home directory, where they are the user's own. */
function projectDirectory(root: string, cwd: string): string | undefined {
  const directory = join(cwd, ".claude");
  return isSame(directory, root) ? undefined : directory;
}

function isSame(directory: string, root: string): boolean {
  try {
    return realPathOf(directory) === realPathOf(root);
  } catch (error) {
    // A loop of links, which a repository can bring, leads nowhere.
    if (isSystemError(error)) return false;
    throw error;
  }
}

/** Bytes: a repository can bring a link to what never ends. */
const MAX_FILE = 4 * 1024 * 1024;

/**
 * The text of a file of settings; undefined where there is none.
 * @throws TeamError CORRUPT_FILE for what is no such file, PERMISSION_DENIED with what the system said
 */
export function readSettingsText(file: string): string | undefined {
  try {
    const { kind, size } = pathStat(file);
    if (kind === "missing" || (kind === "file" && size <= MAX_FILE)) return readText(file);
  } catch (error) {
    if (isSystemError(error)) throw systemRefusal(file, "read", error);
    throw error;
  }
  throw new TeamError("CORRUPT_FILE", `${file} is not a file of settings.`, {
    hint: "Put one there, or nothing.",
  });
}

/** The agent types that a project brings, trusted or not. */
export function projectTypeFiles(root: string, cwd: string): TypeFiles[] {
  const directory = projectDirectory(root, cwd);
  return directory === undefined
    ? []
    : typeFiles(join(directory, "agents")).map((files) => ({ ...files, inside: cwd }));
}

/** The agent types in a directory, as far as the names of files tell. */
export function typeFiles(directory: string): TypeFiles[] {
  const names = entriesOf(directory).filter((name) => name.endsWith(".md"));
  return names.length === 0 ? [] : [{ directory, names }];
}

function entriesOf(directory: string): readonly string[] {
  try {
    return listDir(directory);
  } catch (error) {
    // What cannot be looked into, or is a loop of links, holds no types.
    if (isSystemError(error)) return [];
    throw error;
  }
}

/** The settings files that a project may have for a directory, from weak to strong, there or not. */
export function projectFiles(root: string, cwd: string): string[] {
  const [shared, local] = ownProjectFiles(root, cwd);
  return shared === undefined || local === undefined ? [] : [...new Set([shared, localFile(cwd), local])];
}

/** Those that are there. */
export function presentProjectFiles(root: string, cwd: string): string[] {
  return projectFiles(root, cwd).filter((file) => entryOf(file) !== undefined);
}

/**
 * Where a person's own settings for a project lie: in its main worktree, since git carries them to no other, and one with
 * such a file in it would never count as unchanged.
 */
export function localFile(cwd: string): string {
  return join(inMainWorktree(cwd) ?? cwd, ".claude", "settings.local.json");
}

/** Where `approve --save` keeps a rule: the user's settings, those of the agent's project, or its local ones. */
export const SAVED_IN = ["user", "project", "local"] as const;
export type SavedIn = (typeof SAVED_IN)[number];
