import { dirname } from "node:path";
import { ensureRuntimeDirectory, isOwnRuntime } from "../../os/files/app-directories.ts";
import { formatJson, makeDirBelow, replaceFile } from "../../os/files/atomic-write.ts";
import { entryOf, isMissing, removeTree } from "../../os/files/fs.ts";
import { ownSecrets, redactText } from "../../os/redact.ts";
import type { StatusRecord } from "../../schema/status.ts";
import { makeFifos } from "../../wakeup/fifo-bell.ts";
import { teamNotFound } from "../config/team-not-found.ts";
import type { TeamRef } from "../ref.ts";

interface RecordOptions {
  /** Waits until the record is on disk. */
  readonly sync?: boolean;
}

/**
 * Writes this agent's status, with secrets redacted. Only the agent's own process writes it.
 * @throws TeamError TEAM_NOT_FOUND if the team was deleted meanwhile
 */
export function writeStatus(
  ref: TeamRef,
  agent: string,
  record: StatusRecord,
  options: RecordOptions = {},
): void {
  const activity = redactText(record.activity, ownSecrets());
  writeRecord(ref, ref.paths.agent(agent).status, { ...record, activity }, options);
}

/**
 * Creates the run directories and FIFOs (bell, lifeline, readiness) of agents, with one fork for all FIFOs.
 * @throws TeamError PERMISSION_DENIED if the runtime directory is a link or belongs to another user; TEAM_NOT_FOUND
 */
export async function prepareRun(ref: TeamRef, agents: readonly string[]): Promise<void> {
  const paths = agents.map((agent) => ref.paths.agent(agent));
  for (const { run, runtime } of paths) {
    inTeamDir(ref, () => makeDirBelow(ref.paths.dir, run));
    ensureRuntimeDirectory(runtime);
  }
  await makeFifos(paths.flatMap(({ bell, lifeline, ready }) => [bell, lifeline, ready]));
  if (entryOf(ref.paths.config) !== undefined) return;
  // The team was deleted at the same moment: remove the files that were created after that.
  if (isOwnRuntime(ref.paths.runtime, 2)) removeTree(ref.paths.runtime);
  throw teamNotFound(ref);
}

/** Writes a record, by default without fsync: it describes the present, and after a crash of the machine no agent is running. */
export function writeRecord(
  ref: TeamRef,
  path: string,
  record: unknown,
  { sync = false }: RecordOptions = {},
): void {
  const content = formatJson(record);
  inTeamDir(ref, () => {
    makeDirBelow(ref.paths.dir, dirname(path));
    replaceFile(path, content, { sync });
  });
}

function inTeamDir(ref: TeamRef, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw isMissing(error) ? teamNotFound(ref) : error;
  }
}
