import { readText } from "../../os/files/fs.ts";
import { type TeamConfig, teamConfig, teamMember } from "../../schema/config.ts";
import { SCHEMA_VERSION } from "../../schema/migrate.ts";
import { foldName, sameName } from "../../schema/names.ts";
import { quarantine } from "../../store/quarantine.ts";
import { salvageJson } from "../../store/salvage-json.ts";
import { hasOwnRecords } from "../config/config.ts";
import { readLastConfig } from "../config/last-config.ts";
import { updateTeamFile } from "../config/team-lock.ts";
import type { TeamRef } from "../ref.ts";
import { type JsonRepaired, repairJson } from "./repair-json.ts";

/**
 * Salvages a config's text: the readable fields, and the members that have a name.
 * @returns undefined if no member is left, or a name occurs twice
 */
export function salvageConfig(text: string, team: string): TeamConfig | undefined {
  const value = salvageJson(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { members, ...fields } = value as { readonly members?: unknown };
  const named = (Array.isArray(members) ? members : []).filter(
    (member) => teamMember.safeParse(member).success,
  );
  const parsed = teamConfig.safeParse({ name: team, ...withoutWrong(fields), members: named });
  if (!parsed.success || named.length === 0) return undefined;
  const names = parsed.data.members.map(({ name }) => foldName(name));
  return new Set(names).size === names.length ? parsed.data : undefined;
}

/** Leaves out fields with an invalid value: a failed parse names each of them. */
function withoutWrong(fields: object): object {
  const parsed = teamConfig.safeParse({ name: "x", ...fields });
  const wrong = new Set(parsed.error?.issues.map(({ path }) => path[0]));
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !wrong.has(key)));
}

/** Returns the version in a config's text, even a broken one: it shows which program created the team. */
export function versionIn(text: string): string | undefined {
  const version = (salvageJson(text) as { readonly schemaVersion?: unknown } | undefined)?.schemaVersion;
  return typeof version === "string" ? version : undefined;
}

/**
 * Replaces a broken config with the copy that a process of teams wrote last. Members and fields that only the broken text has
 * are added: another program may have written them since.
 * @returns undefined without a copy, if nothing of the text can be salvaged either
 */
function restoredConfig(ref: TeamRef, text: string): TeamConfig | undefined {
  const saved = salvageConfig(text, ref.team);
  const last = readLastConfig(ref);
  if (last === undefined || saved === undefined) return last ?? saved;
  const added = saved.members.filter(({ name }) => !last.members.some((one) => sameName(one.name, name)));
  return { ...saved, ...last, members: [...last.members, ...added] };
}

/**
 * Restores a broken config from its last copy, or else from its readable parts. If the version is lost, and other files show
 * that the team is ours, the version is set again.
 * @throws TeamError TEAM_NOT_FOUND, LOCK_TIMEOUT
 */
export function repairConfig(ref: TeamRef): Promise<JsonRepaired> {
  const salvage = (text: string): TeamConfig | undefined => {
    const saved = restoredConfig(ref, text);
    if (saved === undefined || saved.schemaVersion !== undefined || !hasOwnRecords(ref)) return saved;
    return teamConfig.parse({ ...saved, schemaVersion: SCHEMA_VERSION });
  };
  return repairJson(ref, { path: ref.paths.config, schema: teamConfig, salvage });
}

/**
 * Quarantines a config that cannot be salvaged, so that the rest of the team can be deleted, or its name used again.
 * @returns its new path
 */
export function quarantineConfig(ref: TeamRef): Promise<string> {
  return updateTeamFile(ref, ref.paths.config, { whileLocked: () => quarantine(ref.paths.config) });
}

/** True if an unreadable config can be restored or salvaged. */
export function isConfigSalvageable(ref: TeamRef): boolean {
  return restoredConfig(ref, readText(ref.paths.config) ?? "") !== undefined;
}
