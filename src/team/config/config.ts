import { basename, join } from "node:path";
import { messageOf, systemCode, TeamError } from "../../errors.ts";
import { isOwnRuntime } from "../../os/files/app-directories.ts";
import { formatJson, replaceFile } from "../../os/files/atomic-write.ts";
import {
  ensureDir,
  entryOf,
  listDir,
  readText,
  removeIfEmpty,
  removeTree,
  rename,
} from "../../os/files/fs.ts";
import { ownSecrets, redactText } from "../../os/redact.ts";
import { type TeamConfig, teamConfig } from "../../schema/config.ts";
import { configForm } from "../../schema/guards/config.ts";
import { SCHEMA_VERSION } from "../../schema/migrate.ts";
import { agentId, freeName, isTeamDir, LEAD_NAME, type TeamDir, teamDir } from "../../schema/names.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import { changeTogether, type TogetherChanges } from "../../store/change-together.ts";
import { jsonUpdate, readJsonFile } from "../../store/json-file.ts";
import { ownerRecord } from "../../store/owner-lock.ts";
import { operand } from "../../text/shell-quote.ts";
import { type Home, readCached, type TeamRef, teamRef } from "../ref.ts";
import { emptyTrash, finishRemovals, leftoversOf, moveTeamToTrash } from "./delete-files.ts";
import { keepLastConfig } from "./last-config.ts";
import { removePlans } from "./plan-files.ts";
import { assertTeam, updateTeamFile } from "./team-lock.ts";
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

export interface NewTeam {
  /** The name as the user wrote it; the directory name is derived from it. */
  readonly name: string;
  /** Takes the next free name of name, name-2, … if it exists. */
  readonly unique?: boolean;
  readonly description?: string;
  readonly leadSessionId: string;
  readonly leadCwd: string;
  readonly leadAgentType?: string;
  readonly leadModel?: string;
  readonly leadMode?: string;
  /** The lead's process; undefined if a person leads with commands. */
  readonly leadProcess?: ProcessIdentity;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Creates a team's files: all of them appear in one step, or none.
 * @throws TeamError TEAM_EXISTS, INVALID_NAME
 */
export async function createTeamFiles(home: Home, input: NewTeam): Promise<TeamRef> {
  return placeTeam(home, input, (ref) => {
    const building = join(home.root, "teams", `.${ref.team}.new-${ownerRecord()}`);
    try {
      ensureDir(join(building, "inboxes"));
      const config = formatJson(newConfig(ref, input));
      for (const path of [ref.paths.config, ref.paths.lastConfig])
        replaceFile(join(building, basename(path)), config);
      return moveOntoFree(building, ref.paths.dir);
    } finally {
      removeTree(building);
    }
  });
}

/**
 * Finds a free name for a team and places its files.
 * @param place places the files in one step; returns false if the name turns out to be taken
 * @throws TeamError TEAM_EXISTS, INVALID_NAME
 */
export function placeTeam(
  home: Home,
  { name, unique }: Pick<NewTeam, "name" | "unique">,
  place: (ref: TeamRef) => boolean,
): TeamRef {
  ensureDir(join(home.root, "teams"));
  for (const taken: string[] = []; ; ) {
    const ref = teamRef(home, freeName(teamDir(name), taken));
    finishRemovals(ref);
    if (!taskListExists(ref) && place(ref)) {
      ensureDir(ref.paths.tasks);
      replaceFile(ref.paths.taskLock, "");
      return ref;
    }
    if (!unique) throw teamExistsError(ref);
    taken.push(ref.team);
  }
}

/**
 * Renames a directory to a free name, or onto an empty directory. Never merges two directories.
 * @returns whether the name was free
 */
export function moveOntoFree(from: string, to: string): boolean {
  try {
    rename(from, to);
    return true;
  } catch (error) {
    if (systemCode(error) === "ENOTEMPTY" || systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** True if there are tasks under this name: a session of Claude Code keeps a task list without a team, which must not become ours. */
function taskListExists(ref: TeamRef): boolean {
  return listDir(ref.paths.tasks).some((name) => name.endsWith(".json"));
}

function newConfig(ref: TeamRef, input: NewTeam): TeamConfig {
  const leadAgentId = agentId(LEAD_NAME, ref.team);
  // Parsed, so its fields already have the order of every later rewrite.
  return teamConfig.parse({
    name: ref.team,
    description: input.description && redactText(input.description, ownSecrets()),
    createdAt: input.now,
    leadAgentId,
    leadSessionId: input.leadSessionId,
    leadProcess: input.leadProcess && { ...input.leadProcess, claimedAt: input.now },
    members: [
      {
        name: LEAD_NAME,
        agentId: leadAgentId,
        agentType: input.leadAgentType ?? LEAD_NAME,
        model: input.leadModel,
        joinedAt: input.now,
        cwd: input.leadCwd,
        mode: input.leadMode,
      },
    ],
    schemaVersion: SCHEMA_VERSION,
    displayName: input.name === ref.team ? undefined : input.name,
    joinedCount: 0,
    metadata: input.metadata,
  });
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
  /** Why its config could not be read (public API, also a key of `teams ls --json`). */
  readonly flaw?: string;
}

/** Lists the teams of this root by name; a team with an unreadable config is listed with the reason. */
export function listTeams(home: Home): TeamEntry[] {
  return listDir(join(home.root, "teams")).flatMap((name): TeamEntry[] => {
    if (name.startsWith(".") || !isTeamDir(name)) return [];
    const ref = teamRef(home, name);
    if (entryOf(ref.paths.config) === undefined) return [];
    try {
      const config = readTeam(ref);
      return [{ team: ref.team, config, ours: config.schemaVersion !== undefined }];
    } catch (error) {
      // A team that was just deleted is left out; any other failure is part of the entry.
      if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return [];
      return [{ team: ref.team, ours: looksLikeOurs(ref, textOf(ref.paths.config)), flaw: messageOf(error) }];
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

/**
 * Removes a team's config, inboxes, tasks, plans and runtime directory. Each directory is renamed in one step under the
 * lock, so that a late writer finds no team and creates none.
 * @throws TeamError TEAM_NOT_FOUND; PERMISSION_DENIED if files could not be removed, naming them
 */
export async function removeTeamFiles(ref: TeamRef): Promise<void> {
  const trash = await updateTeamFile(ref, ref.paths.config, {
    whileLocked: () => {
      assertTeam(ref);
      removePlans(ref, () => readTeam(ref));
      return moveTeamToTrash(ref);
    },
  });
  if (isOwnRuntime(ref.home.runtime, 1)) removeIfEmpty(ref.home.runtime);
  emptyTrash(ref, trash);
}

function teamExistsError(ref: TeamRef): TeamError {
  const { team } = ref;
  const details = { team };
  if (entryOf(ref.paths.config) === undefined) {
    const leftovers = leftoversOf(ref).join(", ");
    const message = `The name ${team} is taken by files of a deleted team or of another program: ${leftovers}; nothing was changed.`;
    const hint = `Choose another name. To remove those files: teams delete --force ${operand(team)}`;
    return new TeamError("TEAM_EXISTS", message, { hint, details });
  }
  return new TeamError("TEAM_EXISTS", `A team ${team} exists already; nothing was changed.`, {
    hint: `Choose another name. To see the team: teams status ${operand(team)}. To remove it: teams delete ${operand(team)}`,
    details,
  });
}
