import { TeamError } from "../../errors.ts";
import { formatJson } from "../../os/files/atomic-write.ts";
import { listDir, readText, removeFile } from "../../os/files/fs.ts";
import { livenessOf, ownIdentity } from "../../os/process/identity.ts";
import { ownSecrets, redactText } from "../../os/redact.ts";
import { isVerifyRecord, type VerifyRecord, type VerifyRun } from "../../schema/guards/verify-record.ts";
import type { Task } from "../../schema/task.ts";
import { updateTeamFile } from "../config/team-lock.ts";
import { readCached, type TeamRef } from "../ref.ts";
import { completionNumber } from "./pending-notifications.ts";

/*
 * The verify commands that a person confirmed, and their runs, one file for each task in the team's own directory. Other
 * programs write the task files, so a command or a result there proves nothing: only these records count.
 */

/** Returns a task's confirmed command with its last run; undefined if none was confirmed. */
export function readVerify(ref: TeamRef, id: string): VerifyRecord | undefined {
  const path = ref.paths.verify(id);
  return readCached(ref, path, () => parsed(readText(path)));
}

/** Returns the ids of tasks with a confirmed command. */
export function verifiedIds(ref: TeamRef): ReadonlySet<string> {
  return new Set(
    listDir(ref.paths.verifies).flatMap((name) => /^([1-9][0-9]{0,14})\.json$/.exec(name)?.[1] ?? []),
  );
}

function parsed(text: string | undefined): VerifyRecord | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "null");
    return isVerifyRecord(value) ? value : undefined;
  } catch {
    // Only a person can confirm the command again.
    return undefined;
  }
}

/** Records that a person confirmed a command. If the command is new, the earlier run is forgotten. */
export async function confirmVerify(ref: TeamRef, id: string, command: string, at: number): Promise<void> {
  const safe = redactText(command, ownSecrets());
  await changeVerify(ref, id, (current) =>
    current?.command === safe ? current : { command: safe, confirmedAt: at },
  );
}

/** Removes the command of a task, and its run. Idempotent. */
export async function removeVerify(ref: TeamRef, id: string): Promise<void> {
  if (readText(ref.paths.verify(id)) === undefined) return;
  await updateTeamFile(ref, ref.paths.verify(id), {
    whileLocked: (held) => {
      held.assertOwned();
      removeFile(ref.paths.verify(id));
    },
  });
}

/**
 * Marks the command as running in this process.
 * @throws TeamError TASK_CLAIMED if another process runs it
 */
export async function beginVerify(ref: TeamRef, id: string): Promise<VerifyRecord | undefined> {
  return changeVerify(ref, id, (current) => {
    if (current === undefined) return undefined;
    const { running } = current;
    if (running !== undefined && livenessOf(running) !== "dead" && running.pid !== ownIdentity().pid) {
      throw new TeamError(
        "TASK_CLAIMED",
        `The verify command of task #${id} is already running (process ${running.pid}); nothing was changed.`,
        {
          hint: `teams task show ${id} shows its result.`,
          details: { reason: "verify_running", taskId: id },
        },
      );
    }
    return { ...current, running: ownIdentity() };
  });
}

/**
 * Records the end of a run. Does nothing if a person has confirmed another command meanwhile, which this run does not prove.
 * @param command the command that ran
 * @param run undefined for an interrupted run, which proves nothing
 */
export async function endVerify(
  ref: TeamRef,
  id: string,
  command: string,
  run: VerifyRun | undefined,
): Promise<void> {
  await changeVerify(ref, id, (current) => {
    if (current?.command !== command) return undefined;
    const { running: _ended, ...rest } = current;
    return run === undefined ? rest : { ...rest, run };
  });
}

/** @param change returns undefined for no change, or if there is no record */
function changeVerify(
  ref: TeamRef,
  id: string,
  change: (current: VerifyRecord | undefined) => VerifyRecord | undefined,
): Promise<VerifyRecord | undefined> {
  return updateTeamFile(ref, ref.paths.verify(id), (text) => {
    const current = parsed(text);
    const next = change(current);
    return next === undefined || next === current
      ? { value: current }
      : { value: next, content: formatJson(next) };
  });
}

/** True if the task has a confirmed command that has not passed for its current or next completion. */
export function needsVerify(ref: TeamRef, task: Task): boolean {
  const record = readVerify(ref, task.id);
  return record !== undefined && !hasPassed(record, task);
}

function hasPassed({ run }: VerifyRecord, task: Task): boolean {
  return run?.outcome === "passed" && run.completion === completionNumber(task);
}
