import { dirname, isAbsolute, join, normalize, sep } from "node:path";
import type * as z from "zod/mini";
import { isOwnRuntime } from "../../os/files/app-directories.ts";
import { isOwnFifoAt } from "../../os/files/fifo.ts";
import { listDir, removeFile, removeIfEmpty, removeTree } from "../../os/files/fs.ts";
import { bootId, type Liveness, livenessOf, pidSpace } from "../../os/process/identity.ts";
import type { AgentPaths } from "../../protocol/paths.ts";
import { defined } from "../../schema/defined.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import {
  type ExitRecord,
  exitRecord,
  type PlaceRecord,
  placeRecord,
  type StatusRecord,
  statusRecord,
} from "../../schema/status.ts";
import { readRecordFile } from "../../store/json-file.ts";
import { readCached, type TeamRef } from "../ref.ts";
import { writeRecord } from "./write-records.ts";

/** What an agent's own process last said of itself; undefined when it has said nothing (a foreign peer, one that is starting). */
export function readStatus(ref: TeamRef, agent: string): StatusRecord | undefined {
  return readRecord(ref, ref.paths.agent(agent).status, statusRecord);
}

/** Where an agent was put; by its own word where the one that started it was killed before it could write that down. */
export function readPlace(ref: TeamRef, agent: string): PlaceRecord | undefined {
  const paths = ref.paths.agent(agent);
  return readRecord(ref, paths.place, placeRecord) ?? placeFromStatus(readStatus(ref, agent), paths);
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

/** The place of an agent that lives in another's process. */
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
 * Says where an agent was put, and in which pid space unless the record has one. The one that spawned it writes it, and who
 * moves its pane.
 */
export function writePlace(ref: TeamRef, agent: string, record: PlaceRecord): void {
  writeRecord(ref, ref.paths.agent(agent).place, { pidSpace: pidSpace(), bootId: bootId(), ...record });
}

/** How the agent's program ended, as its launch script wrote it down. */
export function readExit(ref: TeamRef, agent: string): ExitRecord | undefined {
  return readRecord(ref, ref.paths.agent(agent).exit, exitRecord);
}

/** How its program had ended when a person started it again in its pane. */
export function readCrash(ref: TeamRef, agent: string): ExitRecord | undefined {
  return readRecord(ref, ref.paths.agent(agent).crash, exitRecord);
}

function readRecord<T>(ref: TeamRef, path: string, schema: z.core.$ZodType<T>): T | undefined {
  return readCached(ref, path, () => readRecordFile(path, schema));
}

/** Forgets what an earlier start of this agent said, before the next one. */
export function clearRun(ref: TeamRef, agent: string): void {
  const paths = ref.paths.agent(agent);
  for (const path of [paths.status, paths.place, paths.exit, paths.crash]) removeFile(path);
}

/** Says again what was known of the last start of an agent, when the next one has failed and taken its records with it. */
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

/** Removes everything of an agent's run: records, launch script, log, bell and lifeline. */
export function removeRun(ref: TeamRef, agent: string): void {
  const paths = ref.paths.agent(agent);
  const { bell, lifeline } = readStatus(ref, agent) ?? {};
  const said = [bell, lifeline].flatMap((path) => (path === undefined ? [] : [dirname(path)]));
  for (const directory of new Set([paths.runtime, ...said.filter((path) => isRuntimeOf(paths, path))]))
    removeFifos(directory);
  removeTree(paths.run);
}

/**
 * Whether a directory that an agent's record names is laid out as its own: the start may have had another runtime directory
 * than this process, and a record may say anything.
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
 * Whether an agent runs: its own process, or the one that it lives in, unless it has ended there. Undefined for one that
 * has said nothing.
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
