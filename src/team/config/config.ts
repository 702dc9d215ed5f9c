import { join } from "node:path";
import { messageOf, systemCode, TeamError } from "../../errors.ts";
import { isOwnRuntime } from "../../os/files/app-directories.ts";
import { replaceFile } from "../../os/files/atomic-write.ts";
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
import { SCHEMA_VERSION } from "../../schema/migrate.ts";
import { agentId, freeName, isTeamDir, LEAD_NAME, type TeamDir, teamDir } from "../../schema/names.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import { formatJson } from "../../store/format-json.ts";
import { jsonUpdate, readJsonFile } from "../../store/json-file.ts";
import { ownerRecord } from "../../store/owner-lock.ts";
import { operand } from "../../text/shell-quote.ts";
import { type Home, readCached, type TeamRef, teamRef } from "../ref.ts";
import { emptyTrash, finishRemovals, leftoversOf, moveTeamToTrash } from "./delete-files.ts";
import { removePlans } from "./plan-files.ts";
import { assertTeam, changeInTeam, lockInTeam } from "./team-lock.ts";
import { teamNotFound } from "./team-not-found.ts";

/**
 * Whether a team whose config cannot be read is ours: our version stands in its text where we write it, or an agent of ours ran in
 * it. To be asked by every command, so the text is not parsed.
 */
function looksLikeOurs(ref: TeamRef, text: string): boolean {
  return /^ {2}"schemaVersion": "\d/m.test(text) || hasOwnAgentRecords(ref);
}

/** Only agents of ours write a status; a journal is no proof, since a message to a foreign team leaves one there too. */
export function hasOwnAgentRecords({ paths }: TeamRef): boolean {
  const run = join(paths.dir, "run");
  return listDir(run).some((agent) => entryOf(join(run, agent, "status.json")) !== undefined);
}

export interface NewTeam {
  /** As the user wrote it; the directory form is derived. */
  readonly name: string;
  /** Take the next free of name, name-2, … where it exists. */
  readonly unique?: boolean;
  readonly description?: string;
  readonly leadSessionId: string;
  readonly leadCwd: string;
  readonly leadAgentType?: string;
  readonly leadModel?: string;
  readonly leadMode?: string;
  /** The lead's own process; none when a person leads by commands. */
  readonly leadProcess?: ProcessIdentity;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Makes a team's files: all of them appear in one step or none does.
 * @throws TeamError TEAM_EXISTS, INVALID_NAME
 */
export async function createTeamFiles(home: Home, input: NewTeam): Promise<TeamRef> {
  return placeTeam(home, input, (ref) => {
    const building = join(home.root, "teams", `.${ref.team}.new-${ownerRecord()}`);
    try {
      ensureDir(join(building, "inboxes"));
      replaceFile(join(building, "config.json"), formatJson(newConfig(ref, input)));
      return moveOntoFree(building, ref.paths.dir);
    } finally {
      removeTree(building);
    }
  });
}

/**
 * Finds a free name for a team and puts its files there.
 * @param place puts them there in one step; false when the name turned out to be taken
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
 * Gives a directory its place. Onto one with anything in it this fails, so that two never become one.
 * @returns whether the place was free
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

/** A foreign session keeps a task list under its name without a team; it must not become ours. */
function taskListExists(ref: TeamRef): boolean {
  return listDir(ref.paths.tasks).some((name) => name.endsWith(".json"));
}

function newConfig(ref: TeamRef, input: NewTeam): TeamConfig {
  const leadAgentId = agentId(LEAD_NAME, ref.team);
  // Parsed, so that its fields stand in the order in which every later rewrite puts them.
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
 * The team as its file says.
 * @throws TeamError TEAM_NOT_FOUND with the nearest names, CORRUPT_FILE
 */
export function readTeam(ref: TeamRef): TeamConfig {
  const { config: path } = ref.paths;
  const config = readCached(ref, path, () => readJsonFile(path, teamConfig));
  if (config === undefined) throw teamNotFound(ref);
  return config;
}

/** Whether the team is there, whatever its file says. */
export function teamExists({ paths }: TeamRef): boolean {
  return entryOf(paths.config) !== undefined;
}

/**
 * Changes the team's file under its lock. A team that was deleted is not brought back.
 * @param change undefined means no change; it may run more than once and has no other effect
 * @returns what the file holds now
 * @throws TeamError TEAM_NOT_FOUND, CORRUPT_FILE, LOCK_TIMEOUT, and what `change` throws
 */
export function updateTeam(
  ref: TeamRef,
  change: (config: TeamConfig) => TeamConfig | undefined,
): Promise<TeamConfig> {
  const path = ref.paths.config;
  const missing = (): TeamError => teamNotFound(ref);
  return changeInTeam(ref, path, jsonUpdate({ path, schema: teamConfig, missing, change }));
}

export interface TeamEntry {
  readonly team: TeamDir;
  readonly config?: TeamConfig;
  /** Made by us: our schemaVersion stands in it (protocol.md, Whose is it), or, where it cannot be read, all else says so. */
  readonly ours: boolean;
  /** Why its config could not be read. */
  readonly flaw?: string;
}

/** Every team of this root, by name; one whose config cannot be read is listed with the reason. */
export function listTeams(home: Home): TeamEntry[] {
  return listDir(join(home.root, "teams")).flatMap((name): TeamEntry[] => {
    if (name.startsWith(".") || !isTeamDir(name)) return [];
    const ref = teamRef(home, name);
    if (entryOf(ref.paths.config) === undefined) return [];
    try {
      const config = readTeam(ref);
      return [{ team: ref.team, config, ours: config.schemaVersion !== undefined }];
    } catch (error) {
      // One that was deleted just now is no entry; any other failure is part of the list.
      if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return [];
      return [{ team: ref.team, ours: looksLikeOurs(ref, textOf(ref.paths.config)), flaw: messageOf(error) }];
    }
  });
}

/** The text of a file that may not even be one; what is wrong with it was said by whoever read it first. */
function textOf(path: string): string {
  try {
    return readText(path) ?? "";
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return "";
  }
}

/**
 * Removes a team's config, inboxes, tasks, plans and runtime directory. Each leaves its name in one step, under the lock, so that
 * a writer that comes late finds no team and makes none.
 * @throws TeamError TEAM_NOT_FOUND; PERMISSION_DENIED when something of it stays, which is named
 */
export async function removeTeamFiles(ref: TeamRef): Promise<void> {
  const trash = await lockInTeam(ref, ref.paths.config, () => {
    assertTeam(ref);
    removePlans(ref, () => readTeam(ref));
    return moveTeamToTrash(ref);
  });
  if (isOwnRuntime(ref.home.runtime, 1)) removeIfEmpty(ref.home.runtime);
  emptyTrash(ref, trash);
}

function teamExistsError(ref: TeamRef): TeamError {
  const { team } = ref;
  const details = { team };
  if (entryOf(ref.paths.config) === undefined) {
    const left = leftoversOf(ref).join(", ");
    const message = `The name ${team} is taken by what is left of a team, or is another program's: ${left}; nothing was changed.`;
    const hint = `Choose another name. To remove what is there: teams delete --force ${operand(team)}`;
    return new TeamError("TEAM_EXISTS", message, { hint, details });
  }
  return new TeamError("TEAM_EXISTS", `There is a team ${team} already; nothing was changed.`, {
    hint: `Choose another name. What it is: teams status ${operand(team)}. To remove it: teams delete ${operand(team)}`,
    details,
  });
}
