import { join } from "node:path";
import { fileSize, readText } from "../../os/files/fs.ts";
import { managedFile, mayBeLinkedWorktree, userFile } from "../../settings/setting-paths.ts";

/** Bytes; a longer settings file is not valid. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Returns whether settings of an agent may name a SessionStart hook, judged by the texts of the files: an agent without one is
 * created, with all its code, at its first message.
 */
export async function mayRunSessionHooks(root: string, cwd: string): Promise<boolean> {
  const own = ["settings.json", "settings.local.json"].map((name) => join(cwd, ".claude", name));
  if ([userFile(root), managedFile(), ...own].some(mentionsSessionStart)) return true;
  if (!mayBeLinkedWorktree(cwd)) return false;
  // The local settings are in the main worktree.
  const { projectFiles } = await import("../../settings/settings-files.ts");
  return projectFiles(root, cwd).some(mentionsSessionStart);
}

function mentionsSessionStart(file: string): boolean {
  try {
    const size = fileSize(file) ?? 0;
    return size > 0 && size <= MAX_BYTES && readText(file)?.includes('"SessionStart"') === true;
  } catch {
    // The agent reports it when it loads its settings.
    return false;
  }
}
