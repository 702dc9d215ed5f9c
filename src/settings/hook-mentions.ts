import { join } from "node:path";
import type { HookEvent } from "../agent/hooks/settings.ts";
import { TeamError } from "../errors.ts";
import { managedFile, mayBeLinkedWorktree, userFile } from "./setting-paths.ts";
import { readSettingsText } from "./settings-text.ts";

/**
 * Returns whether the settings of a directory may have hooks of these events. Only searches the text of the files: most files have no
 * hooks, and parsing the settings loads much code.
 */
export async function mayHaveHooks(
  root: string,
  cwd: string,
  events: readonly HookEvent[],
): Promise<boolean> {
  const own = ["settings.json", "settings.local.json"].map((name) => join(cwd, ".claude", name));
  const mentions = (file: string): boolean => mentionsEvent(file, events);
  if ([userFile(root), managedFile(), ...own].some(mentions)) return true;
  if (!mayBeLinkedWorktree(cwd)) return false;
  // The local settings are in the main worktree.
  const { projectFiles } = await import("./settings-files.ts");
  return projectFiles(root, cwd).some(mentions);
}

/** True for an unreadable file: parsing the settings then reports the error. */
function mentionsEvent(file: string, events: readonly HookEvent[]): boolean {
  try {
    const text = readSettingsText(file) ?? "";
    return events.some((event) => text.includes(JSON.stringify(event)));
  } catch (error) {
    if (error instanceof TeamError) return true;
    throw error;
  }
}
