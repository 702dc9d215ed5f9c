import { dirname, isAbsolute, join, normalize, sep } from "node:path";
import { isOwnRuntime } from "../../os/files/app-directories.ts";
import { syncFile } from "../../os/files/atomic-write.ts";
import { isOwnFifoAt } from "../../os/files/fifo.ts";
import { entryOf, listDir, removeFile, removeIfEmpty, removeTree, rename } from "../../os/files/fs.ts";
import { bootId, type Liveness, pidSpace } from "../../os/process/identity.ts";
import { type AgentPaths, recordOfEarlierStart } from "../../protocol/paths.ts";
import { defined } from "../../schema/defined.ts";
import type { Form } from "../../schema/guards/guard.ts";
import { exitForm, placeForm, statusForm } from "../../schema/guards/records.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import type { ExitRecord, PlaceRecord, StatusRecord } from "../../schema/status.ts";
import { readRecordFile } from "../../store/json-file.ts";
import { isThere, judgeProcess, readCached, type TeamRef } from "../ref.ts";
import { writeRecord } from "./write-records.ts";

/** Returns the status that an agent's process last wrote; undefined before its first (a starting agent), and for another program's member. */
export function readStatus(ref: TeamRef, agent: string): StatusRecord | undefined {
  return readRecord(ref, agent, "status", statusForm);
}

/** Returns the status that any process of a member last wrote, even if its next start has renamed the record. */
export function readLastStatus(ref: TeamRef, agent: string): StatusRecord | undefined {
  const path = ref.paths.agent(agent).status;
  return readFile(ref, path, statusForm) ?? readFile(ref, recordOfEarlierStart(path), statusForm);
}

/** Returns an agent's place; taken from its status if the process that spawned it was killed before it wrote the record. */
export function readPlace(ref: TeamRef, agent: string): PlaceRecord | undefined {
  const paths = ref.paths.agent(agent);
  return readRecord(ref, agent, "place", placeForm) ?? placeFromStatus(readStatus(ref, agent), paths);
}

function placeFromStatus(status: StatusRecord | undefined, paths: AgentPaths): PlaceRecord | undefined {
  if (status?.instance === undefined) return undefined;
  if (status.shared) return inProcessPlace(status.process, status.instance, paths, status.startedAt);
  if (status.paneId === undefined || status.panePid === undefined) return undefined;
  const { instance, paneId, server, panePid, paneProcStart, startedAt } = status;
  const { pidSpace, bootId } = status.process;
  const place = { instance, backend: "tmux", paneId, server, panePid, paneProcStart, pidSpace, bootId };
  return defined({ ...place, spawnedAt: startedAt });
}

/** Returns the place of an agent that runs in another agent's process. */
export function inProcessPlace(
  process: ProcessIdentity,
  instance: string,
  { log, endWanted, exit }: AgentPaths,
  spawnedAt: number,
): PlaceRecord {
  const within = { process, endWanted, endRecord: exit };
  return { instance, backend: "in-process", logFile: log, within, spawnedAt };
}

/**
 * Writes an agent's place, with this pid space and boot id unless the record has its own. Called after a spawn, and when
 * the agent's pane is moved.
 * @param sync false if the caller syncs the record later
 */
export function writePlace(
  ref: TeamRef,
  agent: string,
  record: PlaceRecord,
  { sync = true }: { readonly sync?: boolean } = {},
): void {
  const path = ref.paths.agent(agent).place;
  writeRecord(ref, path, { pidSpace: pidSpace(), bootId: bootId(), ...record }, { sync });
}

/** Syncs the place records of agents that have just started. Does not block this process; a missing record is ignored. */
export async function syncPlaces(ref: TeamRef, agents: readonly string[]): Promise<void> {
  await Promise.all(agents.map((agent) => syncFile(ref.paths.agent(agent).place)));
}

/** Returns how an agent's program ended, as recorded by its launch script. */
export function readExit(ref: TeamRef, agent: string): ExitRecord | undefined {
  return readRecord(ref, agent, "exit", exitForm);
}

/** Returns how an agent's program had ended before a person restarted it in its pane. */
export function readCrash(ref: TeamRef, agent: string): ExitRecord | undefined {
  return readRecord(ref, agent, "crash", exitForm);
}

/** The records of one start of an agent. */
const RECORDS = ["status", "place", "exit", "crash"] as const;
type RecordName = (typeof RECORDS)[number];

/**
 * Reads a record. A start renames the records of the earlier start; until its own first record, the renamed ones still describe
 * the agent.
 */
function readRecord<T>(ref: TeamRef, agent: string, name: RecordName, form: Form<T>): T | undefined {
  const paths = ref.paths.agent(agent);
  const current = readFile(ref, paths[name], form);
  if (current !== undefined || isThere(ref, paths.status) || isThere(ref, paths.place)) return current;
  return readFile(ref, recordOfEarlierStart(paths[name]), form);
}

function readFile<T>(ref: TeamRef, path: string, form: Form<T>): T | undefined {
  return readCached(ref, path, () => readRecordFile(path, form));
}

function isPresent(path: string): boolean {
  return entryOf(path) !== undefined;
}

/** Removes the records of an agent, for a new holder of the name. Its undelivered reports stay: they are still to be sent. */
export function clearRun(ref: TeamRef, agent: string): void {
  const paths = ref.paths.agent(agent);
  removeFile(paths.background);
  removeFile(paths.foreign);
  removeFile(paths.hook);
  removeFile(paths.lastWords);
  removeFile(paths.edits);
  removeTree(paths.handedOut);
  removeFile(paths.mcpToken);
  for (const name of RECORDS) {
    removeFile(paths[name]);
    removeFile(recordOfEarlierStart(paths[name]));
  }
}

/**
 * Restores the records of an agent's earlier start after a failed one, by renaming: this works on a full disk too. Idempotent;
 * does nothing if the failed start had not renamed them.
 * @param instance the failed start
 */
export function restoreRun(ref: TeamRef, agent: string, instance: string): void {
  const paths = ref.paths.agent(agent);
  const forms = { status: statusForm, place: placeForm, exit: exitForm, crash: exitForm };
  for (const name of RECORDS) {
    const current = readRecordFile<{ readonly instance?: string | undefined }>(paths[name], forms[name]);
    if (current?.instance === instance) removeFile(paths[name]);
    const earlier = recordOfEarlierStart(paths[name]);
    if (isPresent(earlier) && !isPresent(paths[name])) rename(earlier, paths[name]);
  }
}

/** Removes all files of an agent's run: records, launch script, log, bell and lifeline. */
export function removeRun(ref: TeamRef, agent: string): void {
  const paths = ref.paths.agent(agent);
  const { bell, lifeline } = readStatus(ref, agent) ?? {};
  const recorded = [bell, lifeline].flatMap((path) => (path === undefined ? [] : [dirname(path)]));
  for (const directory of new Set([paths.runtime, ...recorded.filter((path) => isRuntimeOf(paths, path))]))
    removeFifos(directory);
  removeTree(paths.run);
}

/**
 * True if a directory named by an agent's record has the layout of the agent's runtime directory. The agent may have been
 * started with another runtime directory than this process, but a record may contain any path.
 */
function isRuntimeOf({ runtime }: AgentPaths, path: string): boolean {
  const layout = (of: string): string => of.split(sep).slice(-3).join(sep);
  return isAbsolute(path) && normalize(path) === path && layout(path) === layout(runtime);
}

function removeFifos(directory: string): void {
  if (!isOwnRuntime(directory, 3)) return;
  for (const name of listDir(directory)) {
    const path = join(directory, name);
    if (isOwnFifoAt(path)) removeFile(path);
  }
  removeIfEmpty(directory);
}

/**
 * Returns whether an agent is running: its own process, or its host process unless the agent has ended there. Undefined
 * for an agent without a status.
 */
export function livenessOfAgent(
  ref: TeamRef,
  agent: string,
  status = readStatus(ref, agent),
): Liveness | undefined {
  if (status === undefined) return undefined;
  const hasEnded = status.shared === true && readExit(ref, agent)?.instance === status.instance;
  return hasEnded ? "dead" : judgeProcess(ref, status.process);
}
