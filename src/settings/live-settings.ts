import { messageOf, systemCode } from "../errors.ts";
import { readText, versionOf } from "../os/files/fs.ts";
import { pathStat } from "../os/files/user-files.ts";
import { BYPASS_FORBIDDEN, forbidsBypass } from "./setting-parts.ts";
import { managedFile, userFile } from "./setting-paths.ts";
import { ignoredLines, type LoadedSettings, loadSettings } from "./settings.ts";
import { projectFiles } from "./settings-files.ts";
import { decidedAt, trustPath } from "./trust.ts";

/** Returns the current settings, reread if a file has changed. */
export type LiveSettings = () => LoadedSettings;

/**
 * Loads settings and rereads them when one of their files changes: the user edits a rule, answers “always” or trusts the
 * directory while agents work. Each call checks the versions of the files; nothing happens between two calls. Hooks stay as
 * they were, so that nothing that arrives while an agent works can run unseen. Restrictions that disappear from the project's files stay
 * in force until the user confirms the directory: an agent may be allowed to switch to a commit without them.
 * @param warn called if a changed file cannot be read or has become empty (the old settings stay in force, so that a typo lifts no
 *   deny rule), and once for each part that needs the user's confirmation
 * @throws TeamError CORRUPT_FILE if the first read fails
 */
export function liveSettings(root: string, cwd: string, warn: (problem: string) => void): LiveSettings {
  const files = [userFile(root), ...projectFiles(root, cwd), managedFile(), trustPath(root)];
  const currentMarks = (): string => files.map(fileMark).join();
  // Taken before the settings are read: a change in between causes one more read, never a missed one.
  let marks = currentMarks();
  let empty = files.filter(isEmpty);
  let settings = loadSettings(root, cwd);
  const { hooks } = settings;
  const reported = new Set(ignoredLines(settings));
  let reportedHooks = JSON.stringify(hooks);
  let confirmedAt = decidedAt(root, cwd);
  /** Keeps the hooks of the start and the restrictions of the project. Reports once which changes do not apply, and which stay. */
  const accept = (read: LoadedSettings): LoadedSettings => {
    const isConfirmed = confirmedAt !== decidedAt(root, cwd);
    confirmedAt = decidedAt(root, cwd);
    const { next, kept } = isConfirmed ? { next: read, kept: [] } : withFormerRestrictions(settings, read);
    const lines = [...ignoredLines(next), ...(kept.length === 0 ? [] : [keptLine(kept)])];
    for (const line of lines.filter((one) => !reported.has(one))) warn(line);
    for (const line of lines) reported.add(line);
    const current = JSON.stringify(next.hooks);
    if (current !== reportedHooks && current !== JSON.stringify(hooks))
      warn("the hooks have changed; this agent keeps its previous hooks until it is restarted");
    reportedHooks = current;
    return { ...next, hooks };
  };
  /** Returns the empty files, and which of them were not empty before. */
  const emptyFiles = () => {
    const all = files.filter(isEmpty);
    return { all, emptied: all.filter((file) => !empty.includes(file)) };
  };
  return () => {
    const now = currentMarks();
    if (now === marks) return settings;
    marks = now;
    const { emptied } = emptyFiles();
    // An editor may be writing it; and an emptied file must not lift a deny rule unseen, nor with the next change of another file.
    if (emptied.length > 0) {
      warn(
        `the old settings stay in force: ${emptied.join(", ")} ${emptied.length === 1 ? "is" : "are"} empty`,
      );
      return settings;
    }
    try {
      const next = loadSettings(root, cwd);
      const after = emptyFiles();
      // A file was emptied meanwhile: the next call reports it.
      if (after.emptied.length > 0) return settings;
      settings = accept(next);
      empty = after.all;
    } catch (error) {
      warn(`the old settings stay in force: ${messageOf(error)}`);
    }
    return settings;
  };
}

/** Adds the restrictions of a project that its files no longer contain. */
function withFormerRestrictions(
  before: LoadedSettings,
  read: LoadedSettings,
): { readonly next: LoadedSettings; readonly kept: readonly string[] } {
  const [own, rules] = [before.own?.permissions, read.permissions];
  const missing = (key: "deny" | "ask"): readonly string[] =>
    before.permissions[key].filter((rule) => !own?.[key].includes(rule) && !rules[key].includes(rule));
  const [deny, ask] = [missing("deny"), missing("ask")];
  const forbids = (one = own): boolean => one !== undefined && forbidsBypass(one);
  const isForbidden = forbids(before.permissions) && !forbids(own) && !forbids(rules);
  const permissions = {
    ...rules,
    deny: [...rules.deny, ...deny],
    ask: [...rules.ask, ...ask],
    ...(isForbidden && BYPASS_FORBIDDEN),
  };
  const kept = [
    ...deny.map((rule) => `permissions.deny ${rule}`),
    ...ask.map((rule) => `permissions.ask ${rule}`),
    ...(isForbidden ? ["permissions.disableBypassPermissionsMode"] : []),
  ];
  return { next: { ...read, permissions }, kept };
}

function keptLine(kept: readonly string[]): string {
  return `removed from the project's files, but in force until you confirm that (teams trust) or restart the agent: ${kept.join(", ")}`;
}

/** Whether a file has no content except whitespace or a byte order mark. */
function isEmpty(file: string): boolean {
  try {
    const { kind, size } = pathStat(file);
    return kind === "file" && size < MAX_BLANK && readText(file)?.trim() === "";
  } catch {
    // Reading the settings reports it.
    return false;
  }
}

/** Bytes; no editor leaves so much whitespace in an empty file. */
const MAX_BLANK = 100;

/** Returns a text that changes with the file. Follows links: settings files often are links. */
function fileMark(file: string): string {
  try {
    return JSON.stringify(versionOf(file)) ?? "missing";
  } catch (error) {
    return systemCode(error) ?? messageOf(error);
  }
}
