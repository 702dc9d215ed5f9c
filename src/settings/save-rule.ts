import { join } from "node:path";
import { applyEdits, modify } from "jsonc-parser";
import { isInside } from "../agent/permissions/protected-paths.ts";
import { fileAccessError, isSystemError, TeamError } from "../errors.ts";
import { gitDirectoriesOf, repositoryOf } from "../git/repository.ts";
import { markOf } from "../os/files/file-parts.ts";
import { ifReadable } from "../os/files/if-readable.ts";
import { realPathOf } from "../os/files/symlinks.ts";
import { writeUserFile } from "../os/files/user-files.ts";
import type { RuleDestination } from "../protocol/permission-messages.ts";
import { settingsPlace } from "./project-parts.ts";
import { userFile } from "./setting-paths.ts";
import { parseSettingsFile } from "./settings.ts";
import { localFile, type SettingsScope } from "./settings-files.ts";
import { readSettingsText } from "./settings-text.ts";
import { confirmAdded, trustDecision } from "./trust.ts";

const DESTINATION: Readonly<Record<SettingsScope, RuleDestination>> = {
  user: "userSettings",
  project: "projectSettings",
  local: "localSettings",
};

/** A checked change to a settings file, not saved yet. */
export interface RuleChange {
  readonly file: string;
  readonly rules: readonly string[];
  /** The directory in which the rules apply; undefined for the user's own rules, which apply everywhere. */
  readonly directory: string | undefined;
  readonly destination: RuleDestination;
  /**
   * Adds the rules that the file does not have yet.
   * @throws TeamError CORRUPT_FILE, LOCK_TIMEOUT for the record of trust, PERMISSION_DENIED or STORAGE_ERROR for a file that cannot be
   *   written; then the settings file is unchanged
   */
  save(): Promise<void>;
}

/**
 * Prepares to add allow rules to a settings file. The rest of the file keeps its format and comments.
 * @param cwd the directory of the asking agent, whose project gets the rules
 * @param decider a person confirms what they add to a project's file
 * @throws TeamError CORRUPT_FILE, and PERMISSION_DENIED for an untrusted project, whose allow rules do not apply
 */
export function prepareRuleChange(
  root: string,
  cwd: string,
  where: SettingsScope,
  rules: readonly string[],
  decider: "person" | "model",
): RuleChange {
  if (where !== "user" && trustDecision(root, cwd) !== true) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `${cwd} is not trusted, so a rule there would have no effect; no rule was saved.`,
      { hint: "Trust it (teams trust <directory>), or save the rule in your own settings: --save user" },
    );
  }
  const file = scopeFile(root, cwd, where);
  if (where !== "user") requireInProject(file, cwd);
  parseSettingsFile(file);
  return {
    file,
    rules,
    directory: where === "user" ? undefined : cwd,
    destination: DESTINATION[where],
    save: async () => {
      if (where !== "user" && decider === "person") {
        // Before the file is written: running agents report an unconfirmed rule as ignored.
        const label = "permissions.allow";
        const place = settingsPlace(file);
        await confirmAdded(
          root,
          cwd,
          rules.map((value) => ({ file: place, label, key: label, value })),
        );
      }
      const text = readSettingsText(file) ?? "{}\n";
      const existing = parseSettingsFile(file).permissions.allow;
      const next = rules.filter((rule) => !existing.includes(rule)).reduce(addRule, text);
      try {
        if (next !== text) writeUserFile(file, markOf(file) + next);
      } catch (error) {
        throw isSystemError(error) ? fileAccessError(file, "written", error, "; no rule was saved") : error;
      }
    },
  };
}

/** A project's files come from others: a link there must not lead to a file of the user. @throws TeamError PERMISSION_DENIED */
function requireInProject(file: string, cwd: string): void {
  const real = ifReadable(() => realPathOf(file));
  const projects = [repositoryOf(cwd), gitDirectoriesOf(cwd)?.top ?? realPathOf(cwd)];
  if (real !== undefined && projects.some((directory) => isInside(real, directory))) return;
  const what = real === undefined ? "cannot be resolved" : `leads out of the project, to ${real}`;
  throw new TeamError("PERMISSION_DENIED", `${file} ${what}; no rule was saved.`, {
    hint: "Replace the link with a file, or save the rule in your own settings: --save user",
  });
}

function scopeFile(root: string, cwd: string, where: SettingsScope): string {
  if (where === "user") return userFile(root);
  return where === "local" ? localFile(cwd) : join(cwd, ".claude", "settings.json");
}

function addRule(text: string, rule: string): string {
  const formattingOptions = { tabSize: 2, insertSpaces: true };
  const edits = modify(text, ["permissions", "allow", -1], rule, {
    formattingOptions,
    isArrayInsertion: true,
  });
  return applyEdits(text, edits);
}
