import { dirname, isAbsolute, join, normalize, sep } from "node:path";
import { isOwnRuntime } from "../../os/files/app-directories.ts";
import { isOwnFifoAt } from "../../os/files/fifo.ts";
import { listDir, removeFile, removeIfEmpty, removeTree } from "../../os/files/fs.ts";
import { bootId, type Liveness, livenessOf, pidSpace } from "../../os/process/identity.ts";
import type { AgentPaths } from "../../protocol/paths.ts";
import { defined } from "../../schema/defined.ts";
import type { Form } from "../../schema/guards/guard.ts";
import { exitForm, placeForm, statusForm } from "../../schema/guards/records.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import type { ExitRecord, PlaceRecord, StatusRecord } from "../../schema/status.ts";
import { readRecordFile } from "../../store/json-file.ts";
import { readCached, type TeamRef } from "../ref.ts";
import { writeRecord } from "./write-records.ts";

/** Returns the status that an agent's process last wrote; undefined before its first (a starting agent), and for another program's member. */
export function readStatus(ref: TeamRef, agent: string): StatusRecord | undefined {
  return readRecord(ref, ref.paths.agent(agent).status, statusForm);
}

/** Returns an agent's place; taken from its status if the process that spawned it was killed before it wrote the record. */
export function readPlace(ref: TeamRef, agent: string): PlaceRecord | undefined {
  const paths = ref.paths.agent(agent);
  return readRecord(ref, paths.place, placeForm) ?? placeFromStatus(readStatus(ref, agent), paths);
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
 */
export function writePlace(ref: TeamRef, agent: string, record: PlaceRecord): void {
  writeRecord(ref, ref.paths.agent(agent).place, { pidSpace: pidSpace(), bootId: bootId(), ...record });
}

/** Returns how an agent's program ended, as recorded by its launch script. */
export function readExit(ref: TeamRef, agent: string): ExitRecord | undefined {
  return readRecord(ref, ref.paths.agent(agent).exit, exitForm);
}

/** Returns how an agent's program had ended before a person restarted it in its pane. */
export function readCrash(ref: TeamRef, agent: string): ExitRecord | undefined {
  return readRecord(ref, ref.paths.agent(agent).crash, exitForm);
}

function readRecord<T>(ref: TeamRef, path: string, form: Form<T>): T | undefined {
  return readCached(ref, path, () => readRecordFile(path, form));
}

/** Removes the records of an agent's previous instance before the next start. */
export function clearRun(ref: TeamRef, agent: string): void {
  const paths = ref.paths.agent(agent);
  for (const path of [paths.status, paths.place, paths.exit, paths.crash]) removeFile(path);
}

/** Restores the records of an agent's previous instance after the next start failed and cleared them. */
export function restoreRun(
  ref: TeamRef,
  agent: string,
  {
    status,
    place,
    exit,
  }: { readonly status?: StatusRecord; readonly place?: PlaceRecord; readonly exit?: ExitRecord },
): void {
  clearRun(ref, agent);
  const paths = ref.paths.agent(agent);
  if (status !== undefined) writeRecord(ref, paths.status, status);
  if (place !== undefined) writeRecord(ref, paths.place, place);
  if (exit !== undefined) writeRecord(ref, paths.exit, exit);
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
  return hasEnded ? "dead" : livenessOf(status.process);
}
