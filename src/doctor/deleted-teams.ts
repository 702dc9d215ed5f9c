import { basename, join } from "node:path";
import { oldOutputs, removeOutputs } from "../agent/background/output-cleanup.ts";
import { entryOf, isDirectory, listDir, removeTree } from "../os/files/fs.ts";
import { livenessOf } from "../os/process/identity.ts";
import { isOwnTeamDir } from "../schema/names.ts";
import { statusRecord } from "../schema/status.ts";
import { readRecordFile } from "../store/json-file.ts";
import { ownerLiveness, ownerOf } from "../store/owner-lock.ts";
import { operand } from "../text/shell-quote.ts";
import { type Finding, fail, listSome, ok, warn } from "./finding.ts";

/**
 * Milliseconds. A directory that is being created or moved away exists only for a moment; after an hour no process works on
 * it any more.
 */
export const UNFINISHED_MS = 60 * 60 * 1000;

/** Milliseconds. A recording run writes with each turn of its model; after three days without a change, the run was killed. */
const RECORDING_RETENTION_MS = 3 * 24 * 60 * 60 * 1000;

export interface TeamsDirectories {
  readonly root: string;
  readonly runtime: string;
}

/**
 * Finds directories of deleted teams: FIFOs of ended processes, incomplete directories of an interrupted create, import or
 * delete, and parts of a recording whose run was killed.
 */
function findLeftovers({ root, runtime }: TeamsDirectories, now: number): string[] {
  const teams = join(root, "teams");
  const bells = listDir(runtime)
    .filter((team) => entryOf(join(teams, team, "config.json")) === undefined)
    .filter((team) => runningAgents(join(teams, team)).length === 0)
    .map((team) => join(runtime, team))
    .filter((path) => ageOf(path, now) > UNFINISHED_MS);
  const incomplete = [teams, join(root, "tasks")].flatMap((dir) =>
    listDir(dir)
      .map((name) => join(dir, name))
      .filter((path) => isAbandoned(path, now)),
  );
  const recordings = listDir(join(root, "recordings"))
    .map((name) => join(root, "recordings", name))
    .filter((path) => listDir(path).every((name) => ageOf(join(path, name), now) > RECORDING_RETENTION_MS))
    .filter((path) => ageOf(path, now) > RECORDING_RETENTION_MS);
  return [...bells, ...incomplete, ...recordings].filter(isDirectory);
}

/** Whether an incomplete directory is abandoned: the creator in its name is dead, or may be dead and the directory is old. */
function isAbandoned(path: string, now: number): boolean {
  const creator = /^\.[^.]+\.(?:new|deleted|leftover)-(.+)$/.exec(basename(path))?.[1];
  if (creator === undefined || (ownerOf(creator) === undefined && !UUID.test(creator))) return false;
  const liveness = ownerLiveness(creator);
  return liveness === "unknown" ? ageOf(path, now) > UNFINISHED_MS : liveness === "dead";
}

/** The suffix of an earlier version, which did not name the creator. */
const UUID = /^[0-9a-f-]{36}$/;

/** Checks for directories of deleted teams. @param fix removes them */
export function checkLeftovers(home: TeamsDirectories, now: number, fix: boolean): Finding {
  const name = "leftovers";
  const found = findLeftovers(home, now);
  if (found.length === 0) return ok(name, "none");
  const list = listSome(found);
  if (!fix)
    return warn(
      name,
      `${found.length === 1 ? "1 directory" : `${found.length} directories`} of deleted teams: ${list}`,
      "Remove them: teams doctor --fix",
    );
  for (const path of found) removeTree(path);
  return ok(name, `removed ${found.length}: ${list}`);
}

/**
 * Checks for output files of commands that are older than their retention time. Agents that run commands remove them too, at
 * most once a day.
 * @param fix removes them
 */
export function checkOutputs(now: number, fix: boolean, scratch?: string): Finding {
  const name = "old output";
  const found = oldOutputs(now, scratch);
  const [first] = found;
  if (first === undefined) return ok(name, "none older than three days");
  const text = `${found.length} output files of commands older than three days: ${listSome(found)}`;
  if (!fix) return warn(name, text, "Remove them: teams doctor --fix");
  removeOutputs(found);
  return ok(name, `removed ${text}`);
}

/**
 * Checks for task lists whose team has no config: they block the team's name. They may belong to another program, so they are
 * removed only by name and with `--force`. A list named after a session id of such a program is not a leftover.
 */
export function checkTaskLists(root: string): Finding {
  const name = "task lists";
  const lists = join(root, "tasks");
  const found = listDir(lists).filter(
    (team) =>
      isOwnTeamDir(team) &&
      !SESSION_ID.test(team) &&
      entryOf(join(root, "teams", team, "config.json")) === undefined &&
      listDir(join(lists, team)).some((file) => file.endsWith(".json")),
  );
  const [first] = found;
  if (first === undefined) return ok(name, "none without a team");
  return warn(
    name,
    `${found.length} without a team: ${listSome(found.map((team) => join(lists, team)))}`,
    `If no other program uses it, remove it: teams delete --force ${operand(first)}`,
  );
}

/**
 * Checks for directories of teams without a config: only `delete` finds them, and an agent that teams started may still run
 * there. Like the task lists, they may belong to another program.
 */
export function checkTeamDirectories(root: string): Finding {
  const name = "team directories";
  const teams = join(root, "teams");
  const found = listDir(teams).filter(
    (team) =>
      isOwnTeamDir(team) &&
      listDir(join(teams, team)).length > 0 &&
      entryOf(join(teams, team, "config.json")) === undefined,
  );
  const [first] = found;
  if (first === undefined) return ok(name, "none without a config");
  const text = `${found.length} without a config.json: ${listSome(found.map((team) => join(teams, team)))}`;
  const remedy = `Restore config.json from a copy, or if no other program uses the directory, remove it: teams delete --force ${operand(first)}`;
  const running = found.flatMap((team) => runningAgents(join(teams, team)));
  if (running.length === 0) return warn(name, text, remedy);
  return fail(name, `${text}; ${listSome(running)} may still run there`, `End these processes. ${remedy}`);
}

/** Returns the agents that teams started and that may still run in a team's directory, each with its pid. */
function runningAgents(directory: string): string[] {
  const run = join(directory, "run");
  return listDir(run).flatMap((agent) => {
    const status = readRecordFile(join(run, agent, "status.json"), statusRecord);
    const mayRun = status !== undefined && livenessOf(status.process) !== "dead";
    return mayRun ? [`${agent} (process ${status.process.pid})`] : [];
  });
}

const SESSION_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function ageOf(path: string, now: number): number {
  const entry = entryOf(path);
  return entry === undefined ? 0 : now - Number(entry.mtimeMs);
}
