import { basename, join } from "node:path";
import { isFileAccessError, isSystemError, systemCode, TeamError } from "../../errors.ts";
import { formatJson, replaceFile } from "../../os/files/atomic-write.ts";
import { ensureDir, entryOf, listDir, removeTree, rename } from "../../os/files/fs.ts";
import { ownSecrets, redactText } from "../../os/redact.ts";
import { type TeamConfig, teamConfig } from "../../schema/config.ts";
import { SCHEMA_VERSION } from "../../schema/migrate.ts";
import { agentId, freeName, isTeamDir, LEAD_NAME, sameTeamName, teamDir } from "../../schema/names.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import { ownerRecord } from "../../store/owner-lock.ts";
import { operand } from "../../text/shell-quote.ts";
import { type Home, type TeamRef, teamAt, teamRef } from "../ref.ts";
import { finishRemovals, leftoversOf } from "./delete-files.ts";

export interface NewTeam {
  /** The name as the user wrote it; the directory name is derived from it. */
  readonly name: string;
  /** Takes the next free name of name, name-2, … if the name is taken. */
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
    const similar = teamWithSimilarName(ref);
    if (similar === undefined && !taskListExists(ref) && place(ref)) {
      createTaskList(ref);
      return ref;
    }
    if (!unique) throw teamExistsError(similar ?? ref);
    taken.push(ref.team);
  }
}

/** Creates an empty task list. If the system refuses, the first task creates the directory: the team exists already. */
function createTaskList({ paths }: TeamRef): void {
  try {
    ensureDir(paths.tasks);
    replaceFile(paths.taskLock, "");
  } catch (error) {
    // Adding a task reports the cause, unless it is gone by then.
    if (!isFileAccessError(error) && !isSystemError(error)) throw error;
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

/** Returns a team of another program whose name differs only in spelling, such as `SnakeGame` and `snakegame`. */
export function teamWithSimilarName({ home, team }: TeamRef): TeamRef | undefined {
  return listDir(join(home.root, "teams"))
    .flatMap((name) =>
      name !== team && isTeamDir(name) && sameTeamName(name, team) ? [teamAt(home, name)] : [],
    )
    .find(({ paths }) => entryOf(paths.config) !== undefined);
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

/** Creates the error for a name that is taken by a team, or by files of a deleted team. */
export function teamExistsError(ref: TeamRef): TeamError {
  const { team } = ref;
  const details = { team };
  if (entryOf(ref.paths.config) === undefined) {
    const leftovers = leftoversOf(ref).join(", ");
    const message = `The name ${team} is taken by files of a deleted team or of another program: ${leftovers}; nothing was changed.`;
    const hint = `Choose another name. To remove those files: teams delete --force ${operand(team)}`;
    return new TeamError("TEAM_EXISTS", message, { hint, details });
  }
  return new TeamError("TEAM_EXISTS", `Team ${team} already exists; nothing was changed.`, {
    hint: `Choose another name. To see the team: teams status ${operand(team)}. To remove it: teams delete ${operand(team)}`,
    details,
  });
}
