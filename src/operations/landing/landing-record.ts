import { basename, dirname, join } from "node:path";
import * as z from "zod/mini";
import { TeamError } from "../../errors.ts";
import { abortRebase, isWorkedOnSinceStop, rebaseIn } from "../../git/rebase.ts";
import { pause, steadyNow } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";
import { formatJson, makeDirBelow, replaceFile } from "../../os/files/atomic-write.ts";
import { listDir, removeFile } from "../../os/files/fs.ts";
import { livenessOf, newUuid, ownIdentity } from "../../os/process/identity.ts";
import { endMarked, isMarkedRunning } from "../../os/process/process-tree.ts";
import { agentFileName } from "../../protocol/paths.ts";
import { processIdentity } from "../../schema/process-identity.ts";
import { readRecordFile } from "../../store/json-file.ts";
import type { TeamRef } from "../../team/ref.ts";
import { shellWord } from "../../text/shell-quote.ts";

/** Milliseconds to wait for git commands that a killed landing left running. */
const GIT_WAIT_MS = 60_000;
const POLL_MS = 50;

/**
 * A landing that is in progress in a worktree. Its file is in the team's directory, where no agent may write. It is written before
 * the rebase begins and removed after the last step, so a remaining record belongs to a killed process.
 */
const landingRecord = z.object({
  worktree: z.string(),
  /** The commit of the worktree before a rebase that this landing has begun; undefined while none is in progress. */
  from: z.optional(z.string()),
  /** Marks the processes of the gate, and with `-git` at its end those of git. */
  mark: z.uuid(),
  by: processIdentity,
});
export type LandingRecord = z.infer<typeof landingRecord>;

export function markOfGit({ mark }: Pick<LandingRecord, "mark">): string {
  return `${mark}-git`;
}

function recordPath(ref: TeamRef, agent: string): string {
  return join(ref.paths.dir, "landings", `${agentFileName(agent)}.json`);
}

/** Records that a landing begins. @returns the record */
export function beginLanding(ref: TeamRef, agent: string, worktree: string): LandingRecord {
  const record = { worktree, mark: newUuid(), by: ownIdentity() };
  writeLanding(ref, agent, record);
  return record;
}

/** Replaces the record, before a rebase begins and after it has ended. */
export function writeLanding(ref: TeamRef, agent: string, record: LandingRecord): void {
  const path = recordPath(ref, agent);
  makeDirBelow(ref.paths.dir, dirname(path));
  replaceFile(path, formatJson(record));
}

/** Ends a landing. A rebase that could not be aborted needs the record: the next landing aborts it. */
export function finishLanding(ref: TeamRef, agent: string): void {
  const record = readRecordFile(recordPath(ref, agent), landingRecord);
  if (record === undefined || !isRebasing(record)) endLanding(ref, agent);
}

/** Whether a rebase of this landing is in progress. Any other rebase is the agent's own, with work that an abort would lose. */
function isRebasing({ worktree, from }: LandingRecord): boolean {
  return from !== undefined && rebaseIn(worktree)?.from === from;
}

/** Removes the record, even a half-written one of a killed process. */
function endLanding(ref: TeamRef, agent: string): void {
  const path = recordPath(ref, agent);
  removeFile(path);
  for (const name of listDir(dirname(path)))
    if (name.startsWith(`.${basename(path)}.`)) removeFile(join(dirname(path), name));
}

/**
 * Cleans up a worktree after a killed landing: ends its gate, waits for its git commands, and aborts its rebase. The caller holds
 * the lock of the repository. Idempotent.
 * @throws TeamError AGENT_BUSY if its gate or git still runs, WORKTREE_DIRTY if an abort would lose work; GitError if git cannot
 * abort the rebase
 */
export async function recoverLanding(ref: TeamRef, agent: string, env: Env): Promise<void> {
  const record = readRecordFile(recordPath(ref, agent), landingRecord);
  if (record === undefined) return endLanding(ref, agent);
  const { worktree, mark, by } = record;
  const isOwn = by.pid === ownIdentity().pid && by.procStart === ownIdentity().procStart;
  if (!isOwn && livenessOf(by) === "alive") throw stillLanding(agent, `process ${by.pid} is landing it`);
  const left = await endMarked(mark);
  if (left.length > 0) throw stillLanding(agent, `its check still runs (process ${left.join(", ")})`);
  // git finishes its work in milliseconds. Ending it in the middle would leave its locks.
  const deadline = steadyNow() + GIT_WAIT_MS;
  while (isMarkedRunning(markOfGit(record))) {
    if (steadyNow() > deadline)
      throw stillLanding(agent, `one of its git commands still runs in ${worktree}`);
    await pause(POLL_MS);
  }
  if (isRebasing(record)) {
    if (await isWorkedOnSinceStop(worktree, env)) throw workedOn(worktree);
    await abortRebase(worktree, env);
  }
  endLanding(ref, agent);
}

function workedOn(worktree: string): TeamError {
  const git = `git -C ${shellWord(worktree)} rebase`;
  return new TeamError(
    "WORKTREE_DIRTY",
    `A killed landing left its rebase in ${worktree}, and that rebase was worked on since then; nothing was changed.`,
    { hint: `Finish it (${git} --continue) or abort it (${git} --abort), then land again.` },
  );
}

function stillLanding(agent: string, why: string): TeamError {
  return new TeamError("AGENT_BUSY", `An earlier landing of ${agent} has not ended: ${why}.`, {
    hint: `Wait for its end, then run teams land ${shellWord(agent)} again.`,
  });
}
