import { TeamError } from "../../errors.ts";
import type { Clock } from "../../os/clock.ts";
import type { VerifyRun } from "../../schema/guards/verify-record.ts";
import type { Task } from "../../schema/task.ts";
import { hasNoRecipient, sendMessage } from "../../team/mailbox/send.ts";
import type { TeamRef } from "../../team/ref.ts";
import { completionNumber } from "../../team/tasks/pending-notifications.ts";
import { reopenTask } from "../../team/tasks/reopen-task.ts";
import { runText } from "../../team/tasks/task-proof.ts";
import { ownerName } from "../../team/tasks/tasks.ts";
import { beginVerify, endVerify, needsVerify, readVerify } from "../../team/tasks/verify-record.ts";
import { runVerify, type VerifyPlace } from "./run-verify.ts";

/** The options of a verification. */
export interface VerifyOptions {
  readonly ref: TeamRef;
  /** The member that completes the task. */
  readonly actor: string;
  /** Returns the place of a member, by its name. */
  readonly placeOf: (owner: string) => Promise<VerifyPlace>;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly timeoutMs?: number | undefined;
  /** Milliseconds after which the actor may no longer see the result; it then gets a message, too. */
  readonly patienceMs?: number | undefined;
}

/** Milliseconds: the longest test suite that a completion should wait for. */
const TIMEOUT_MS = 10 * 60_000;

/**
 * Runs a task's confirmed verify command before the task becomes completed. Does nothing without one, or if it has passed for
 * this completion. If it fails, the task is in progress again, with its owner, and the owner gets the end of the output.
 * @throws TeamError VERIFY_FAILED; TASK_CLAIMED if another process runs it; INTERRUPTED
 */
export async function verifyTask(task: Task, options: VerifyOptions): Promise<void> {
  const { ref, actor, signal, clock } = options;
  if (!needsVerify(ref, task)) return;
  const record = await beginVerify(ref, task.id);
  if (record === undefined) return;
  const owner = ownerName(task) ?? actor;
  let run: VerifyRun | undefined;
  try {
    const { timeoutMs = TIMEOUT_MS } = options;
    const ran = await runVerify(record.command, await options.placeOf(owner), { timeoutMs, signal, clock });
    run = ran && { ...ran, by: actor, completion: completionNumber(task) };
  } finally {
    await endVerify(ref, task.id, record.command, run);
  }
  if (run === undefined) {
    throw new TeamError(
      "INTERRUPTED",
      `The verify command of task #${task.id} was interrupted; the task was not completed.`,
      { hint: `Run it again: teams task done ${task.id}` },
    );
  }
  // A person has confirmed another command, or removed it, while this one ran: its result no longer counts.
  if (readVerify(ref, task.id)?.command !== record.command) return verifyTask(task, options);
  if (run.outcome !== "passed") await rejectCompletion(task, { command: record.command, run }, options);
}

async function rejectCompletion(
  before: Task,
  { command, run }: { readonly command: string; readonly run: VerifyRun },
  { ref, actor, clock, patienceMs = Number.POSITIVE_INFINITY }: VerifyOptions,
): Promise<never> {
  const task = await reopenTask(ref, before.id);
  const completion = completionNumber(task);
  // Another program had completed it: the next completion has another number, and this run is still the last one.
  if (completion !== run.completion) await endVerify(ref, task.id, command, { ...run, completion });
  const owner = ownerName(task);
  const failure = failureOf(task, command, run);
  if (owner !== undefined && (owner !== actor || run.ms >= patienceMs)) {
    await notify(ref, { to: owner, text: `${failure}\n\n${nextStep(task)}`, taskId: task.id }, clock);
  }
  throw new TeamError("VERIFY_FAILED", failure, {
    hint: nextStep(task),
    details: { taskId: task.id, status: task.status, owner, run },
  });
}

/** The result comes last: the output before it may be long. */
function failureOf({ id, subject }: Task, command: string, run: VerifyRun): string {
  const shown = run.tail === "" ? "(no output)" : run.tail;
  return `Task #${id} (${subject}) is not completed: its verify command failed.\n\n$ ${command}\n${shown}\n\nIt ended with ${runText(run)}.`;
}

function nextStep(task: Task): string {
  const owner = ownerName(task);
  const state = task.status === "in_progress" ? "in progress" : "pending";
  const whose = owner === undefined ? "without an owner" : `with its owner ${owner}`;
  return `The task is ${state}, ${whose}. Correct the work, then complete the task again.`;
}

async function notify(
  ref: TeamRef,
  { to, text, taskId }: { readonly to: string; readonly text: string; readonly taskId: string },
  clock: Clock,
): Promise<void> {
  try {
    await sendMessage(ref, { from: "system", to, text, summary: `Task #${taskId} is not verified` }, clock);
  } catch (error) {
    // A manual lead need not be a member, and an owner may have left.
    if (!hasNoRecipient(error)) throw error;
  }
}
