import { basename, join } from "node:path";
import { oldOutputs, removeOutputs } from "../agent/background/output-cleanup.ts";
import { entryOf, isDirectory, listDir, removeTree } from "../os/files/fs.ts";
import { livenessOf } from "../os/process/identity.ts";
import { isTeamDir } from "../schema/names.ts";
import { statusRecord } from "../schema/status.ts";
import { readRecordFile } from "../store/json-file.ts";
import { ownerLiveness, ownerOf } from "../store/owner-lock.ts";
import { operand } from "../text/shell-quote.ts";
import { type Finding, fail, listSome, ok, warn } from "./finding.ts";
/** What is moved away or under construction is gone in a moment; after an hour nobody works on it any more, whoever it was. */
export const UNFINISHED_MS = 60 * 60 * 1000;

/** A run that records writes with each turn of its model; what one left that was killed is nobody's after three days without any. */
const RECORDING_RETENTION_MS = 3 * 24 * 60 * 60 * 1000;

export interface TeamsDirectories {
  readonly root: string;
  readonly runtime: string;
}

/**
 * Directories of teams that are no more: FIFOs of ended processes, halves of an interrupted create, import or delete, parts of a
 * recording whose run was killed.
 */
function findLeftovers({ root, runtime }: TeamsDirectories, now: number): string[] {
  const teams = join(root, "teams");
  const bells = listDir(runtime)
    .filter((team) => entryOf(join(teams, team, "config.json")) === undefined)
    .filter((team) => runningAgents(join(teams, team)).length === 0)
    .map((team) => join(runtime, team))
    .filter((path) => ageOf(path, now) > UNFINISHED_MS);
  const halves = [teams, join(root, "tasks")].flatMap((dir) =>
    listDir(dir)
      .map((name) => join(dir, name))
      .filter((path) => isAbandoned(path, now)),
  );
  const recordings = listDir(join(root, "recordings"))
    .map((name) => join(root, "recordings", name))
    .filter((path) => listDir(path).every((name) => ageOf(join(path, name), now) > RECORDING_RETENTION_MS))
    .filter((path) => ageOf(path, now) > RECORDING_RETENTION_MS);
  return [...bells, ...halves, ...recordings].filter(isDirectory);
}

/** By who made it, as its name says; where that cannot be judged from here, by its age. */
function isAbandoned(path: string, now: number): boolean {
  const maker = /^\.[^.]+\.(?:new|deleted|leftover)-(.+)$/.exec(basename(path))?.[1];
  if (maker === undefined || (ownerOf(maker) === undefined && !UUID.test(maker))) return false;
  const liveness = ownerLiveness(maker);
  return liveness === "unknown" ? ageOf(path, now) > UNFINISHED_MS : liveness === "dead";
}

/** Of an earlier version, which did not say who made it. */
const UUID = /^[0-9a-f-]{36}$/;

/** @param fix removes them */
export function checkLeftovers(home: TeamsDirectories, now: number, fix: boolean): Finding {
  const name = "leftovers";
  const found = findLeftovers(home, now);
  if (found.length === 0) return ok(name, "none");
  const list = `${found.slice(0, 3).join(", ")}${found.length > 3 ? ", …" : ""}`;
  if (!fix) return warn(name, `${found.length} of deleted teams: ${list}`, "Remove them: teams doctor --fix");
  for (const path of found) removeTree(path);
  return ok(name, `removed ${found.length}: ${list}`);
}

/**
 * Output of commands that is older than it is kept: each agent that runs a command removes it, at most once a day.
 * @param fix removes it
 */
export function checkOutputs(now: number, fix: boolean, scratch?: string): Finding {
  const name = "old output";
  const found = oldOutputs(now, scratch);
  const [first] = found;
  if (first === undefined) return ok(name, "none older than three days");
  const text = `${found.length} files of commands older than three days: ${listSome(found)}`;
  if (!fix) return warn(name, text, "Remove them: teams doctor --fix");
  removeOutputs(found);
  return ok(name, `removed ${text}`);
}

/**
 * Task lists whose team has no config: their names are taken. They may be another program's, so that each is removed
 * only by its name and `--force`; a list that a session of such a program keeps under its id is no leftover.
 */
export function checkTaskLists(root: string): Finding {
  const name = "task lists";
  const lists = join(root, "tasks");
  const found = listDir(lists).filter(
    (team) =>
      isTeamDir(team) &&
      !SESSION_ID.test(team) &&
      entryOf(join(root, "teams", team, "config.json")) === undefined &&
      listDir(join(lists, team)).some((file) => file.endsWith(".json")),
  );
  const [first] = found;
  if (first === undefined) return ok(name, "none without a team");
  const shown = found.slice(0, 3).map((team) => join(lists, team));
  return warn(
    name,
    `${found.length} without a team: ${shown.join(", ")}${found.length > 3 ? ", …" : ""}`,
    `Remove what no other program uses: teams delete --force ${operand(first)}`,
  );
}

/**
 * Directories of teams that have no config: no command but `delete` finds them, and an agent of ours may still run there.
 * They may be another program's, as the task lists.
 */
export function checkTeamDirectories(root: string): Finding {
  const name = "team directories";
  const teams = join(root, "teams");
  const found = listDir(teams).filter(
    (team) =>
      isTeamDir(team) &&
      listDir(join(teams, team)).length > 0 &&
      entryOf(join(teams, team, "config.json")) === undefined,
  );
  const [first] = found;
  if (first === undefined) return ok(name, "none without a config");
  const text = `${found.length} without a config.json: ${listSome(found.map((team) => join(teams, team)))}`;
  const remedy = `Put config.json back from a copy of it, or remove what no other program uses: teams delete --force ${operand(first)}`;
  const living = found.flatMap((team) => runningAgents(join(teams, team)));
  if (living.length === 0) return warn(name, text, remedy);
  return fail(name, `${text}; ${listSome(living)} may still run there`, `End what is to end. ${remedy}`);
}

/** Who of ours may still run in a team's directory, each with its pid. */
function runningAgents(directory: string): string[] {
  const run = join(directory, "run");
  return listDir(run).flatMap((agent) => {
    const status = readRecordFile(join(run, agent, "status.json"), statusRecord);
    const isLiving = status !== undefined && livenessOf(status.process) !== "dead";
    return isLiving ? [`${agent} (process ${status.process.pid})`] : [];
  });
}

const SESSION_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function ageOf(path: string, now: number): number {
  const entry = entryOf(path);
  return entry === undefined ? 0 : now - Number(entry.mtimeMs);
}
