import { join } from "node:path";
import { platform } from "../os/env.ts";

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
