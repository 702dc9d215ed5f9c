import { join } from "node:path";
import { applyEdits, modify } from "jsonc-parser";
import { TeamError } from "../errors.ts";
import { writeUserFile } from "../os/files/user-files.ts";
import type { RuleDestination } from "../protocol/permission-messages.ts";
import { parseSettingsFile } from "./settings.ts";
import { localFile, readSettingsText, type SettingsScope, userFile } from "./settings-files.ts";
import { trustDecision } from "./trust.ts";

const DESTINATION: Readonly<Record<SettingsScope, RuleDestination>> = {
  user: "userSettings",
  project: "projectSettings",
  local: "localSettings",
};

/** A change of a settings file that has been looked at, and not been made. */
export interface RuleChange {
  readonly file: string;
  readonly rules: readonly string[];
  /** The only one that they are for; undefined for the user's own, which hold everywhere. */
  readonly directory: string | undefined;
  readonly destination: RuleDestination;
  /** Adds the rules; those that are there already are left. */
  save(): void;
}

/**
 * Adds allow rules to a file of settings, the rest of which stays as it is written.
 * @param cwd the directory of the agent that asked, whose project it is
 * @throws TeamError CORRUPT_FILE, and PERMISSION_DENIED for a project that nobody trusts, whose rules would not count
 */
export function prepareRuleChange(
  root: string,
  cwd: string,
  where: SettingsScope,
  rules: readonly string[],
): RuleChange {
  if (where !== "user" && trustDecision(root, cwd) !== true) {
    throw new TeamError("PERMISSION_DENIED", `${cwd} is not trusted, so that a rule in it would not count.`, {
      hint: "Trust it (teams trust <directory>), or keep the rule for yourself: --save user",
    });
  }
  const file = scopeFile(root, cwd, where);
  parseSettingsFile(file);
  return {
    file,
    rules,
    directory: where === "user" ? undefined : cwd,
    destination: DESTINATION[where],
    save: () => {
      const text = readSettingsText(file) ?? "{}\n";
      const there = parseSettingsFile(file).permissions.allow;
      const next = rules.filter((rule) => !there.includes(rule)).reduce(addRule, text);
      if (next !== text) writeUserFile(file, next);
    },
  };
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
