import { dirname, join } from "node:path";
import { platform } from "../os/env.ts";
import { entryOf } from "../os/files/fs.ts";

// Separate from the other paths, which need git: a waiting teammate loads this file.

/** The user's own settings file. */
export function userFile(root: string): string {
  return join(root, "settings.json");
}

/** The administrator's settings file, which wins over all others. */
export function managedFile(): string {
  return platform === "darwin"
    ? "/Library/Application Support/ClaudeCode/managed-settings.json"
    : "/etc/claude-code/managed-settings.json";
}

/** Whether a directory may be in a linked worktree (the `.git` above it is a file), whose main worktree has settings too. */
export function mayBeLinkedWorktree(cwd: string): boolean {
  for (let at = cwd; ; at = dirname(at)) {
    const git = entryOf(join(at, ".git"));
    if (git !== undefined || at === dirname(at)) return git?.isFile() === true;
  }
}
