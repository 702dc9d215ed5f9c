import { join } from "node:path";
import { inMainWorktree } from "../git/repository.ts";
import { entryOf } from "../os/fs.ts";
import { ownProjectFiles } from "./settings-files.ts";

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
