import { join } from "node:path";
import type { TypeFiles } from "../agent/prompts/agent-type-files.ts";
import { fileAccessError, isSystemError } from "../errors.ts";
import { inMainWorktree } from "../git/repository.ts";
import { ownUid } from "../os/files/app-directories.ts";
import { entryOf, listDir, ownerOf } from "../os/files/fs.ts";
import { realPathOf } from "../os/files/symlinks.ts";

/** The settings files that a project may have in this directory, later ones win; none in the home directory, whose files are the user's own. */
function ownProjectFiles(root: string, cwd: string): string[] {
  const directory = projectDirectory(root, cwd);
  return directory === undefined
    ? []
    : ["settings.json", "settings.local.json"].map((name) => join(directory, name));
}

/** The directory of a project's files for agents; undefined in the home directory, where the files are the user's own. */
function projectDirectory(root: string, cwd: string): string | undefined {
  const directory = join(cwd, ".claude");
  return isSameDirectory(directory, root) ? undefined : directory;
}

function isSameDirectory(directory: string, root: string): boolean {
  try {
    return realPathOf(directory) === realPathOf(root);
  } catch (error) {
    // A repository can contain a loop of links.
    if (isSystemError(error)) return false;
    throw error;
  }
}

/** Whether a settings file, links followed, belongs to a user who is neither this one nor root: its hooks would run as this user. */
export function isForeign(file: string): boolean {
  try {
    const owner = ownerOf(file) ?? ownUid();
    return owner !== 0 && owner !== ownUid();
  } catch (error) {
    if (isSystemError(error)) throw fileAccessError(file, "read", error);
    throw error;
  }
}

/** The files of a project's agent types, trusted or not. */
export function projectTypeFiles(root: string, cwd: string): TypeFiles[] {
  const directory = projectDirectory(root, cwd);
  return directory === undefined
    ? []
    : typeFiles(join(directory, "agents")).map((files) => ({ ...files, inside: cwd }));
}

/** The files of agent types in a directory, by their names; their content is not read. */
export function typeFiles(directory: string): TypeFiles[] {
  const names = listOrNothing(directory).filter((name) => name.endsWith(".md"));
  return names.length === 0 ? [] : [{ directory, names }];
}

function listOrNothing(directory: string): readonly string[] {
  try {
    return listDir(directory);
  } catch (error) {
    // A directory that cannot be read, or is a loop of links, has no types.
    if (isSystemError(error)) return [];
    throw error;
  }
}

/** The settings files that a project may have for a directory, later ones win; they need not exist. */
export function projectFiles(root: string, cwd: string): string[] {
  const [shared, local] = ownProjectFiles(root, cwd);
  return shared === undefined || local === undefined ? [] : [...new Set([shared, localFile(cwd), local])];
}

/** Returns the {@link projectFiles} that exist. */
export function existingProjectFiles(root: string, cwd: string): string[] {
  return projectFiles(root, cwd).filter((file) => entryOf(file) !== undefined);
}

/**
 * The file of the user's own settings for a project, always in its main worktree: git does not copy it to linked worktrees,
 * and a linked worktree with this file in it would never count as unchanged.
 */
export function localFile(cwd: string): string {
  return join(inMainWorktree(cwd) ?? cwd, ".claude", "settings.local.json");
}

/** Where `approve --save` saves a rule: in the user's settings, in those of the agent's project, or in its local ones. */
export const SETTINGS_SCOPES = ["user", "project", "local"] as const;
export type SettingsScope = (typeof SETTINGS_SCOPES)[number];
