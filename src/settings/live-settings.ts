import { messageOf, systemCode } from "../errors.ts";
import { versionOf } from "../os/files/fs.ts";
import { managedFile, userFile } from "./setting-paths.ts";
import { ignoredLines, type LoadedSettings, loadSettings } from "./settings.ts";
import { projectFiles } from "./settings-files.ts";
import { trustPath } from "./trust.ts";

/** Returns the current settings, reread if a file has changed. */
export type LiveSettings = () => LoadedSettings;

/**
 * Loads settings and rereads them when one of their files changes: the user edits a rule, answers “always” or trusts the
 * directory while agents work. Each call checks the versions of the files; nothing happens between two calls. Hooks stay as
 * they were, so that nothing that arrives while an agent works can run unseen.
 * @param warn called if a changed file cannot be read (the old settings stay in force, so that a typo lifts no deny rule), and
 *   once for each part that needs the user's confirmation
 * @throws TeamError CORRUPT_FILE if the first read fails
 */
export function liveSettings(root: string, cwd: string, warn: (problem: string) => void): LiveSettings {
  const files = [userFile(root), ...projectFiles(root, cwd), managedFile(), trustPath(root)];
  const currentMarks = (): string => files.map(fileMark).join();
  // Taken before the settings are read: a change in between causes one more read, never a missed one.
  let marks = currentMarks();
  let settings = loadSettings(root, cwd);
  const { hooks } = settings;
  const told = new Set(ignoredLines(settings));
  let toldHooks = JSON.stringify(hooks);
  /** Keeps the hooks of the start, and says once what does not apply. */
  const accept = (next: LoadedSettings): LoadedSettings => {
    const lines = ignoredLines(next);
    for (const line of lines.filter((one) => !told.has(one))) warn(line);
    for (const line of lines) told.add(line);
    const current = JSON.stringify(next.hooks);
    if (current !== toldHooks && current !== JSON.stringify(hooks))
      warn("the hooks have changed: this agent keeps its own until it is started again");
    toldHooks = current;
    return { ...next, hooks };
  };
  return () => {
    const now = currentMarks();
    if (now === marks) return settings;
    marks = now;
    try {
      settings = accept(loadSettings(root, cwd));
    } catch (error) {
      warn(`the old settings stay in force: ${messageOf(error)}`);
    }
    return settings;
  };
}

/** Returns a text that changes with the file. Follows links: settings files often are links. */
function fileMark(file: string): string {
  try {
    return JSON.stringify(versionOf(file)) ?? "missing";
  } catch (error) {
    return systemCode(error) ?? messageOf(error);
  }
}
