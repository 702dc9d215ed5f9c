import { basename, join } from "node:path";
import { ensureRuntimeDirectory } from "../os/files/app-directories.ts";
import { replaceFile } from "../os/files/atomic-write.ts";
import {
  ensureDir,
  entryOf,
  listDir,
  removeFile,
  removeIfEmpty,
  rename,
  temporaryWriter,
} from "../os/files/fs.ts";
import { type AgentPaths, recordOfEarlierStart } from "../protocol/paths.ts";
import { makeFifos } from "../wakeup/fifo-bell.ts";
import { type LaunchScriptInput, launchScript } from "./launch-script.ts";

/**
 * Creates the files of a start: the run and runtime directories, the three FIFOs (one fork for the whole batch) and the launch script.
 * Renames the records of an earlier start, so that a failed start can restore them. If it fails, it creates nothing afterwards.
 */
export async function prepareLaunches(inputs: readonly LaunchScriptInput[]): Promise<void> {
  const starts = prepareStarts(inputs.map(({ paths }) => paths));
  try {
    // Write the scripts while the fork runs.
    for (const input of inputs)
      replaceFile(input.paths.launchScript, launchScript(input), { mode: 0o700, sync: false });
  } finally {
    await starts;
  }
}

/** Does the same for agents without a launch script. */
export async function prepareStarts(starts: readonly AgentPaths[]): Promise<void> {
  for (const paths of starts) {
    ensureDir(paths.run);
    ensureRuntimeDirectory(paths.runtime);
    renameEarlierRecords(paths);
    removeFile(paths.endWanted);
  }
  await makeFifos(starts.flatMap(fifosOf));
}

/**
 * Renames the records of an earlier start. If this process is killed in between, the next start renames the rest.
 */
function renameEarlierRecords({ status, place, exit, crash }: AgentPaths): void {
  for (const record of [status, place, exit, crash]) {
    if (entryOf(record) !== undefined) rename(record, recordOfEarlierStart(record));
  }
}

/**
 * Removes the files of a failed start, including records that a killed process left incomplete. Call it once the
 * processes have ended. A directory that contains other files stays.
 */
export function discardLaunch(paths: AgentPaths): void {
  const { launchScript, exit, crash, status, endWanted, log } = paths;
  const files = [launchScript, exit, crash, status, endWanted, log];
  for (const path of [...files, ...halfWritten(paths.run, files), ...fifosOf(paths)]) {
    // A directory with this name does not belong to the start.
    if (!entryOf(path)?.isDirectory()) removeFile(path);
  }
  for (const directory of [paths.run, paths.runtime]) removeIfEmpty(directory);
}

function fifosOf(paths: AgentPaths): string[] {
  return [paths.bell, paths.lifeline, paths.ready];
}

function halfWritten(directory: string, files: readonly string[]): string[] {
  const prefixes = files.map((file) => `.${basename(file)}.`);
  return listDir(directory)
    .filter((name) => temporaryWriter(name) !== undefined)
    .filter((name) => prefixes.some((prefix) => name.startsWith(prefix)))
    .map((name) => join(directory, name));
}
