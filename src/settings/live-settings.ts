import { messageOf, systemCode } from "../errors.ts";
import { versionOf } from "../os/files/fs.ts";
import { type LoadedSettings, loadSettings } from "./settings.ts";
import { managedFile, projectFiles, userFile } from "./settings-files.ts";
import { trustPath } from "./trust.ts";

/** The settings as their files say now. */
export type LiveSettings = () => LoadedSettings;

/**
 * Settings that are read again once one of their files has changed: a person mends a rule, says “always” or trusts the
 * directory while agents work. Each use looks at the files' times; nothing is done between two uses.
 * @param tell of files that cannot be read any more; what counted before counts on, so that no slip of the pen lifts a denial
 * @throws TeamError CORRUPT_FILE for the first reading
 */
export function liveSettings(root: string, cwd: string, tell: (problem: string) => void): LiveSettings {
  const files = [userFile(root), ...projectFiles(root, cwd), managedFile(), trustPath(root)];
  const marks = (): string => files.map(fileMark).join();
  // Before the reading: a change in between is then one more reading, and not one too few.
  let seen = marks();
  let settings = loadSettings(root, cwd);
  return () => {
    const now = marks();
    if (now === seen) return settings;
    seen = now;
    try {
      settings = loadSettings(root, cwd);
    } catch (error) {
      tell(`the settings are what they were: ${messageOf(error)}`);
    }
    return settings;
  };
}

/** What changes with a file; links are followed, since settings often are one. */
function fileMark(file: string): string {
  try {
    return JSON.stringify(versionOf(file)) ?? "missing";
  } catch (error) {
    return systemCode(error) ?? messageOf(error);
  }
}
