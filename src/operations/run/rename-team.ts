import { join } from "node:path";
import { formatJson, replaceFile } from "../../os/files/atomic-write.ts";
import { ensureDir, entryOf, isDirectory, listDir, readText, removeTree, rename } from "../../os/files/fs.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { agentId, agentName, type TeamDir } from "../../schema/names.ts";
import { ownerRecord } from "../../store/owner-lock.ts";
import { moveOntoFree, placeTeam, readConfigFile } from "../../team/config/config.ts";
import { updateTeamFile } from "../../team/config/team-lock.ts";
import { rebindTeam, type TeamRef } from "../../team/ref.ts";
import { lockTasks } from "../../team/tasks/tasks.ts";

/**
 * Gives the directory of a team that has never had a teammate another name; its former name still finds it. Afterwards `ref`
 * names the new directory. One rename moves the team, so a process that is killed at any step leaves it whole under one of the
 * two names.
 * @param name as the lead wrote it
 * @returns false if the team has or had a teammate; nothing was changed then
 * @throws TeamError TEAM_EXISTS, INVALID_NAME, TEAM_NOT_FOUND, LOCK_TIMEOUT; nothing was changed
 */
export async function renameTeam(ref: TeamRef, name: string): Promise<boolean> {
  const from: TeamRef = { ...ref };
  const move = (): boolean => {
    const to = moveTeam(from, name);
    // In the same tick as the move: no other part of this process looks for the team in between.
    if (to !== undefined) rebindTeam(ref, to);
    return to !== undefined;
  };
  return lockTasks(from, () => updateTeamFile(from, from.paths.config, { whileLocked: move }));
}

/** Moves the team under the locks of its config and its tasks. @returns the new place; undefined if there is a teammate */
function moveTeam(from: TeamRef, name: string): TeamRef | undefined {
  const config = readConfigFile(from);
  if (config.members.length > 1 || config.former !== undefined) return undefined;
  const to = placeTeam(from.home, { name, unique: false }, (place) => {
    const tasks = join(place.paths.tasks, "..", `.${place.team}.new-${ownerRecord()}`);
    copyTasks(from.paths.tasks, tasks);
    write(from, renamed(config, place.team, name));
    // First the tasks: from the rename of the team on, they are read in the new place.
    if (moveOntoFree(tasks, place.paths.tasks)) {
      if (moveOntoFree(from.paths.dir, place.paths.dir)) return true;
      removeTree(place.paths.tasks);
    }
    write(from, config);
    removeTree(tasks);
    return false;
  });
  removeMovedLocks(to.paths.dir);
  moveRest(from, to);
  return to;
}

function write({ paths }: TeamRef, config: TeamConfig): void {
  for (const path of [paths.config, paths.lastConfig]) replaceFile(path, formatJson(config));
}

function renamed(config: TeamConfig, team: TeamDir, name: string): TeamConfig {
  const idOf = (member: string): string => agentId(agentName(member), team);
  const [lead] = config.members;
  return {
    ...config,
    name: team,
    ...(lead && { leadAgentId: idOf(lead.name) }),
    members: config.members.map((member) => ({ ...member, agentId: idOf(member.name) })),
    displayName: name,
    formerNames: [...new Set([...(config.formerNames ?? []), config.name])],
  };
}

/** Copies the files that differ; locks stay behind. */
function copyTasks(from: string, to: string): void {
  ensureDir(to);
  for (const name of listDir(from)) {
    if (entryOf(join(from, name))?.isFile() !== true) continue;
    const text = readText(join(from, name)) ?? "";
    if (readText(join(to, name)) !== text) replaceFile(join(to, name), text);
  }
}

/** Moves what the rename of the team left behind: changes of tasks since they were copied, and the runtime directory. */
function moveRest(from: TeamRef, to: TeamRef): void {
  // Renamed first: a late change of a task then fails instead of being lost.
  const trash = join(from.paths.tasks, "..", `.${from.team}.deleted-${ownerRecord()}`);
  rename(from.paths.tasks, trash);
  copyTasks(trash, to.paths.tasks);
  removeTree(trash);
  if (!isDirectory(from.paths.runtime)) return;
  // The lead recreates its bell if it is missing.
  if (!moveOntoFree(from.paths.runtime, to.paths.runtime)) removeTree(from.paths.runtime);
}

/** Names of locks and of what waits for them. */
const LOCK = /\.(lock|q~*|owner|waiting)$/;

/** Removes the locks that were moved with the team: their holders look for them in the old place. */
function removeMovedLocks(directory: string): void {
  for (const name of listDir(directory)) {
    const path = join(directory, name);
    if (LOCK.test(name)) removeTree(path);
    else if (isDirectory(path)) removeMovedLocks(path);
  }
}
