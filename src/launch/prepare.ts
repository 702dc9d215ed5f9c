import { ensureRuntimeDirectory } from "../os/files/app-directories.ts";
import { replaceFile } from "../os/files/atomic-write.ts";
import { ensureDir, removeFile, removeIfEmpty } from "../os/files/fs.ts";
import type { AgentPaths } from "../protocol/paths.ts";
import { makeFifos } from "../wakeup/fifo-bell.ts";
import { type LaunchScriptInput, launchScript } from "./launch-script.ts";

/**
 * Puts on disk what a start needs: the run and runtime directories, the three FIFOs (all of a batch by one fork), the launch script;
 * and takes away what an earlier run of the same name left (`exit.json`, `crash.json`, `status.json` are that run's).
 */
export async function prepareLaunches(inputs: readonly LaunchScriptInput[]): Promise<void> {
  const starts = prepareStarts(inputs.map(({ paths }) => paths));
  // The scripts are written while the fork is under way.
  await Promise.all([starts, writeScripts(inputs)]);
}

async function writeScripts(inputs: readonly LaunchScriptInput[]): Promise<void> {
  for (const input of inputs) {
    replaceFile(input.paths.launchScript, launchScript(input), { mode: 0o700, sync: false });
  }
}

/** The same for agents that no launch script starts. */
export async function prepareStarts(starts: readonly AgentPaths[]): Promise<void> {
  for (const paths of starts) {
    ensureDir(paths.run);
    ensureRuntimeDirectory(paths.runtime);
    for (const stale of [paths.exit, paths.crash, paths.status, paths.endWanted]) removeFile(stale);
  }
  await makeFifos(starts.flatMap(fifosOf));
}

/** Takes away what a start that failed has made; a directory stays while somebody's file is in it. */
export function discardLaunch(paths: AgentPaths): void {
  const { launchScript, exit, crash, status, endWanted, log } = paths;
  for (const path of [launchScript, exit, crash, status, endWanted, log, ...fifosOf(paths)]) {
    removeFile(path);
  }
  for (const directory of [paths.run, paths.runtime]) removeIfEmpty(directory);
}

function fifosOf(paths: AgentPaths): string[] {
  return [paths.bell, paths.lifeline, paths.ready];
}
