import { join } from "node:path";
import * as z from "zod/mini";
import { formatJson, replaceFile } from "../../os/files/atomic-write.ts";
import { ensureDir, listDir, removeFile } from "../../os/files/fs.ts";
import {
  bootId,
  isLocalProcess,
  livenessOf,
  newUuid,
  pidSpace,
  startTimeOf,
} from "../../os/process/identity.ts";
import { ownPid, type ProcessRow, processTable } from "../../os/process/process-table.ts";
import { processIdentity } from "../../schema/process-identity.ts";
import { readRecordFile } from "../../store/json-file.ts";
import type { Home } from "../ref.ts";

/** `teams-hooks/<uuid>.json` in the root: a running hook of a task, which leads its own session. */
const runningHook = z.object({ event: z.string(), process: processIdentity });
type RunningHook = z.infer<typeof runningHook>;

/** Excludes the temporary files of other writers. */
const NAME = /^[0-9a-f-]{36}\.json$/;

/** Records a hook that has just started. It may have ended already, and left processes behind. */
export function recordRunningHook({ root }: Home, event: string, pid: number): void {
  const process = { pid, procStart: startTimeOf(pid) ?? "", pidSpace: pidSpace(), bootId: bootId() };
  const directory = directoryIn(root);
  ensureDir(directory);
  replaceFile(join(directory, `${newUuid()}.json`), formatJson({ event, process }));
}

/** Removes the records of ended hooks. Processes that a hook left behind still belong to it. */
export function removeEndedHooks({ root }: Home): void {
  for (const { path, hook } of records(root)) if (hook === undefined || isOver(hook)) removeFile(path);
}

/** Returns the events of the hooks that this process descends from. */
export function eventsOfHooksAbove({ root }: Home): ReadonlySet<string> {
  const hooks = records(root).flatMap(({ hook }) => (hook && isLocalProcess(hook.process) ? [hook] : []));
  if (hooks.length === 0) return new Set();
  const rows = new Map(processTable().map((row) => [row.pid, row]));
  const sessions = new Set(lineage(rows).map(({ sid }) => sid));
  const above = hooks.filter(
    ({ process: { pid, procStart } }) =>
      sessions.has(pid) && (rows.get(pid)?.procStart ?? procStart) === procStart,
  );
  return new Set(above.map(({ event }) => event));
}

/** Returns this process and its ancestors. */
function lineage(rows: ReadonlyMap<number, ProcessRow>): readonly ProcessRow[] {
  const line = new Set<ProcessRow>();
  for (let row = rows.get(ownPid); row !== undefined && !line.has(row); row = rows.get(row.ppid))
    line.add(row);
  return [...line];
}

function isOver({ process }: RunningHook): boolean {
  if (livenessOf(process) !== "dead") return false;
  return !isLocalProcess(process) || !processTable().some(({ sid }) => sid === process.pid);
}

function records(root: string): readonly { readonly path: string; readonly hook: RunningHook | undefined }[] {
  const directory = directoryIn(root);
  return listDir(directory)
    .filter((name) => NAME.test(name))
    .map((name) => join(directory, name))
    .map((path) => ({ path, hook: readRecordFile(path, runningHook) }));
}

function directoryIn(root: string): string {
  return join(root, "teams-hooks");
}
