import { join } from "node:path";
import { fileSize, readText } from "../../os/files/fs.ts";
import { managedFile } from "../../settings/setting-paths.ts";

/** Bytes; a longer settings file is not valid. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Returns whether settings of an agent may name a SessionStart hook, judged by the texts of the files: an agent without one is
 * created, with all its code, at its first message.
 */
export function mayRunSessionHooks(root: string, cwd: string): boolean {
  const own = ["settings.json", "settings.local.json"].map((name) => join(cwd, ".claude", name));
  return [join(root, "settings.json"), managedFile(), ...own].some(mentionsSessionStart);
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
