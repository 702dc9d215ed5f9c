import { join } from "node:path";
import { messageOf, systemCode, TeamError } from "../../errors.ts";
import { entryOf, listDir, readText } from "../../os/files/fs.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { configForm } from "../../schema/guards/config.ts";
import { isTeamDir, type TeamDir } from "../../schema/names.ts";
import { changeTogether, type TogetherChanges } from "../../store/change-together.ts";
import { jsonUpdate, readJsonFile } from "../../store/json-file.ts";
import { type Home, readCached, type TeamRef, teamAt } from "../ref.ts";
import { keepLastConfig } from "./last-config.ts";
import { updateTeamFile } from "./team-lock.ts";
import { teamNotFound } from "./team-not-found.ts";

/**
 * True if a team with an unreadable config seems to be ours: its text contains our version in the usual place, or one of
 * our agents ran in it. Does not parse the text, since every command may call this.
 */
function looksLikeOurs(ref: TeamRef, text: string): boolean {
  return /^ {2}"schemaVersion": "\d/m.test(text) || hasOwnRecords(ref);
}

/**
 * True if a process of teams changed this team's config, or one of our agents ran in it: only those write a copy of the config
 * or a status. A journal proves nothing: a message to another program's team creates one.
 */
export function hasOwnRecords({ paths }: TeamRef): boolean {
  if (entryOf(paths.lastConfig) !== undefined) return true;
  const run = join(paths.dir, "run");
  return listDir(run).some((agent) => entryOf(join(run, agent, "status.json")) !== undefined);
}

/**
 * Reads a team's config. In an agent, returns the config of its last successful read if the file is unreadable.
 * @throws TeamError TEAM_NOT_FOUND with the nearest names, CORRUPT_FILE
 */
export function readTeam(ref: TeamRef): TeamConfig {
  const { keptConfig } = ref;
  if (keptConfig === undefined) return readConfigFile(ref);
  let config: TeamConfig;
  try {
    config = readConfigFile(ref);
  } catch (error) {
    return keptConfig.insteadOf(ref, error);
  }
  keptConfig.read(config);
  return config;
}

/**
 * Reads a team's config from its file. Use it for a change under the config's lock, which must not restore an older config.
 * @throws TeamError TEAM_NOT_FOUND with the nearest names, CORRUPT_FILE
 */
export function readConfigFile(ref: TeamRef): TeamConfig {
  const { config: path } = ref.paths;
  const config = readCached(ref, path, () => readJsonFile(path, configForm));
  if (config === undefined) throw teamNotFound(ref);
  return config;
}

/** True if the team's config file exists, readable or not. */
export function teamExists({ paths }: TeamRef): boolean {
  return entryOf(paths.config) !== undefined;
}

/**
 * Changes a team's config under its lock. Never restores a deleted team.
 * @param change returns undefined for no change; it may run more than once, so it must have no side effects
 * @returns the config as it is in the file afterwards
 * @throws TeamError TEAM_NOT_FOUND, CORRUPT_FILE, LOCK_TIMEOUT, and what `change` throws
 */
export function updateTeam(
  ref: TeamRef,
  change: (config: TeamConfig) => TeamConfig | undefined,
): Promise<TeamConfig> {
  return changeTogether(ref.paths.config, change, (changes) => writeChanges(ref, changes));
}

/** Makes several changes in one write. */
function writeChanges(ref: TeamRef, changes: TogetherChanges<TeamConfig>): Promise<TeamConfig> {
  const path = ref.paths.config;
  const missing = (): TeamError => teamNotFound(ref);
  return updateTeamFile(ref, path, (text, isLocked) => {
    const change = (config: TeamConfig): TeamConfig | undefined => changes(config, isLocked);
    const next = jsonUpdate({ path, schema: configForm, missing, change })(text, isLocked, []);
    return next.content === undefined ? next : { ...next, written: () => keepLastConfig(ref, next.value) };
  });
}

export interface TeamEntry {
  readonly team: TeamDir;
  readonly config?: TeamConfig;
  /** Created by `teams`: it has our schemaVersion (protocol.md, Whose is it) or, if unreadable, other signs of it. */
  readonly ours: boolean;
  /** Why its config could not be read. */
  readonly problem?: string;
}

/** Lists the teams of this root by name; a team with an unreadable config is listed with the reason. */
export function listTeams(home: Home): TeamEntry[] {
  return listDir(join(home.root, "teams")).flatMap((name): TeamEntry[] => {
    if (!isTeamDir(name)) return [];
    const ref = teamAt(home, name);
    if (entryOf(ref.paths.config) === undefined) return [];
    try {
      const config = readTeam(ref);
      return [{ team: ref.team, config, ours: config.schemaVersion !== undefined }];
    } catch (error) {
      // A team that was just deleted is left out; any other failure is part of the entry.
      if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return [];
      const ours = looksLikeOurs(ref, textOf(ref.paths.config));
      return [{ team: ref.team, ours, problem: messageOf(error) }];
    }
  });
}

/** Reads a config that may not even be a regular file; "" if that fails, which has been reported already. */
function textOf(path: string): string {
  try {
    return readText(path) ?? "";
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return "";
  }
}
