import { type LoadedSettings, loadSettings } from "../settings/settings.ts";

/** Returns the settings for a directory; undefined if they cannot be read. */
export function readableSettings(root: string, cwd: string): LoadedSettings | undefined {
  try {
    return loadSettings(root, cwd);
  } catch {
    // settingsFindings reports this error.
    return undefined;
  }
}
