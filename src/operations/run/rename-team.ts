import { basename, dirname, join } from "node:path";
import { formatJson, replaceFile, syncNames } from "../../os/files/atomic-write.ts";
import {
  ensureDir,
  entryOf,
  listDir,
  readText,
  removeFile,
  removeTree,
  writeNew,
} from "../../os/files/fs.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { readMetadata, withMetadata } from "../../schema/member-metadata.ts";
import {
  agentId,
  isGeneratedTeamName,
  LEAD_NAME,
  possibleTeamDir,
  type TeamDir,
} from "../../schema/names.ts";
import type { Held } from "../../store/lock.ts";
import { awaitSeenChanges, releaseMoved } from "../../store/moved-file.ts";
import { ownerRecord } from "../../store/owner-lock.ts";
import { readConfigFile, teamExists, updateTeam } from "../../team/config/config.ts";
import { moveOntoFree, teamWithSimilarName } from "../../team/config/create-files.ts";
import { finishRemovals, leftoversOf, removeRuntime } from "../../team/config/delete-files.ts";
import { pathOfTaskCopy, removeAbandonedCopies } from "../../team/config/task-copies.ts";
import { updateTeamFile } from "../../team/config/team-lock.ts";
import { unfinishedEndings } from "../../team/members/ending-claims.ts";
import { type TeamRef, teamRef } from "../../team/ref.ts";
import { taskIds } from "../../team/tasks/task-ids.ts";
import { lockTasks } from "../../team/tasks/tasks.ts";

// A rename must be safe against a kill after each step, although a team has two directories:
//   1. the config records its present name as a former one, so that this name keeps naming the team
//   2. the tasks are copied to the new name; that name has no config yet, so the copy counts only from step 3 on
//   3. one rename of the team's directory, which carries everything else
//   4. the first task list is removed, and the config gets the new name
// After a kill before step 3 the team is whole under its old name, and the copy is removed when the name is used again. After a
// kill later it is whole under the new name, and the next lead repeats step 4. All locks of the team are held from 1 to 3: no
// process is in the middle of a change, and a waiting process finds no team and changes nothing. Before the rename, each sender
// whose message another process has written must have seen that.

/** Whether the lead may choose the name of its team's directory: no person has chosen it. */
export function mayBeRenamed(
  { team, moveTo }: Pick<TeamRef, "team" | "moveTo">,
  config: Pick<TeamConfig, "metadata">,
): boolean {
  const wasRenamed = (readMetadata(config, "formerNames") ?? []).some(isGeneratedTeamName);
  return moveTo !== undefined && (isGeneratedTeamName(team) || wasRenamed);
}

/**
 * Gives the directories of a team another name, if the run has generated the current one, the team never had a teammate and the
 * new name is free. The ref moves with them.
 * @returns false if the team was left as it is
 * @throws TeamError TEAM_NOT_FOUND, LOCK_TIMEOUT, PERMISSION_DENIED; the team is whole under one of the names
 */
export async function renameTeam(ref: TeamRef, name: string): Promise<boolean> {
  const team = possibleTeamDir(name);
  if (team === undefined || team === ref.team || !isGeneratedTeamName(ref.team)) return false;
  const from = { ...ref };
  const to = teamRef(ref.home, team);
  finishRemovals(to);
  removeAbandonedCopies(to);
  if (teamExists(to) || teamWithSimilarName(to) !== undefined || leftoversOf(to).length > 0) return false;
  const isRenamed = await underAllLocks(from, async (held) => {
    if (!(await awaitSeenChanges(from.paths.inbox(LEAD_NAME))) || !move(from, to, held)) return false;
    // In the same step: nothing in this process uses the old name from now on.
    ref.moveTo?.(team);
    return true;
  });
  if (isRenamed) await finishRename(to);
  return isRenamed;
}

/** Finishes a rename that a killed process has begun. Idempotent. @throws TeamError TEAM_NOT_FOUND, LOCK_TIMEOUT */
export async function finishRename(ref: TeamRef): Promise<void> {
  const former = unfinishedRenameOf(ref, readConfigFile(ref));
  if (former === undefined) return;
  removeTree(former.paths.tasks);
  removeRuntime(former);
  removeFile(ref.paths.taskCopy);
  await updateTeam(ref, (config) =>
    unfinishedRenameOf(ref, config) === undefined ? undefined : withName(config, ref.team),
  );
}

/** Returns the ref of the former name, if the config still has that name. */
function unfinishedRenameOf(ref: TeamRef, config: TeamConfig): TeamRef | undefined {
  const { name } = config;
  if (name === ref.team || !(readMetadata(config, "formerNames") ?? []).includes(name)) return undefined;
  const former = teamRef(ref.home, name);
  return teamExists(former) ? undefined : former;
}

function withName(config: TeamConfig, team: TeamDir): TeamConfig {
  const lead = agentId(LEAD_NAME, team);
  const members = config.members.map((member) =>
    member.name === LEAD_NAME ? { ...member, agentId: lead } : member,
  );
  return { ...config, name: team, leadAgentId: lead, members };
}

/** Runs `work` under the locks of the config, the lead's inbox, the task list and each task. */
function underAllLocks<T>(ref: TeamRef, work: (held: readonly Held[]) => Promise<T>): Promise<T> {
  const eachTask = (ids: readonly string[], held: readonly Held[]): Promise<T> => {
    const [id, ...rest] = ids;
    if (id === undefined) return work(held);
    return updateTeamFile(ref, ref.paths.task(id), { whileLocked: (own) => eachTask(rest, [...held, own]) });
  };
  return updateTeamFile(ref, ref.paths.config, {
    whileLocked: (config) =>
      updateTeamFile(ref, ref.paths.inbox(LEAD_NAME), {
        whileLocked: (inbox) => lockTasks(ref, (tasks) => eachTask(taskIds(ref), [config, inbox, tasks])),
      }),
  });
}

/** Steps 1 to 3. @returns false if nothing was moved */
function move(from: TeamRef, to: TeamRef, held: readonly Held[]): boolean {
  const config = readConfigFile(from);
  const { members, former = [], joinedCount = 0 } = config;
  const hadTeammates = members.length > 1 || former.length > 0 || joinedCount > 0;
  if (hadTeammates || unfinishedEndings(config).length > 0) return false;
  const copy = pathOfTaskCopy(to, ownerRecord());
  try {
    copyTasks(from.paths.tasks, copy, to.paths.taskCopy);
    for (const lock of held) lock.assertOwned();
    const names = new Set([...(readMetadata(config, "formerNames") ?? []), from.team]);
    replaceFile(from.paths.config, formatJson(withMetadata(config, { formerNames: [...names] })));
    if (!moveOntoFree(copy, to.paths.tasks)) return false;
  } finally {
    removeTree(copy);
  }
  syncNames(dirname(to.paths.tasks));
  let isMoved = false;
  try {
    isMoved = moveOntoFree(from.paths.dir, to.paths.dir);
  } finally {
    if (!isMoved) dropCopy(to);
  }
  if (!isMoved) return false;
  for (const path of [to.paths.inbox(LEAD_NAME), to.paths.config]) releaseMoved(path);
  removeRuntime(from);
  syncNames(dirname(to.paths.dir));
  return true;
}

/** Removes the copy, unless another process has created a team of this name at the same moment: its task list is there too. */
function dropCopy(to: TeamRef): void {
  if (teamExists(to)) removeFile(to.paths.taskCopy);
  else removeTree(to.paths.tasks);
}

/** Copies the files of a task list, without its locks, and marks the copy as one. */
function copyTasks(from: string, to: string, mark: string): void {
  ensureDir(to);
  writeNew(join(to, basename(mark)), ownerRecord());
  for (const name of listDir(from)) {
    const path = join(from, name);
    const isTemporary = name.startsWith(".") && name.endsWith(".tmp");
    if (entryOf(path)?.isFile() && !isTemporary) writeNew(join(to, name), readText(path) ?? "");
  }
  syncNames(to);
}
