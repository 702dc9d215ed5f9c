import { messageOf } from "../../errors.ts";
import { teamLedHere } from "../../operations/run/led-here.ts";
import { isRunOver, runState } from "../../operations/run/run-state.ts";
import { fileSize } from "../../os/files/fs.ts";
import { transcriptPath } from "../../protocol/paths.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { Task } from "../../schema/task.ts";
import { unreadCount } from "../../team/mailbox/receive.ts";
import { listTasks } from "../../team/tasks/tasks.ts";
import { optionWords } from "../../text/shell-quote.ts";
import type { WorkerEnd } from "../../worker/lifecycle.ts";
import type { Worker } from "../../worker/worker.ts";
import { isInteractive, type Lead } from "./lead.ts";

/**
 * The fate of a team when its lead's process ends. `left`: nothing is touched, as if the lead was killed. `stopped`: its
 * teammates end, and members, tasks and conversations stay for `run --resume`. `ended`: its teammates leave, and it is deleted
 * unless the run keeps it.
 */
export type TeamFate = "left" | "stopped" | "ended";

/** The signal of a lost terminal: a closed pane, a lost connection, the end of its tmux server. */
export const HANGUP = "SIGHUP";

/**
 * Decides what happens to the team. Only a team whose work is done, whose lead has deleted it, or that the user deletes, ends.
 * If the team cannot be read, it is left.
 */
export function fateOf(lead: Lead, worker: Worker, end: WorkerEnd, signal: AbortSignal): TeamFate {
  const { plan, ctx, view } = lead;
  try {
    if (teamLedHere(ctx) === undefined) return "ended";
    if (signal.reason === HANGUP) return "left";
    if (plan.remove || lead.exit === "delete" || !plan.resumable) return "ended";
    if (couldNotResume(lead, worker, signal)) return "left";
    return isUntouched(lead) || isWorkDone(lead, worker, end) ? "ended" : "stopped";
  } catch (error) {
    view.error(messageOf(error));
    return "left";
  }
}

/** Whether the model failed in a run without a prompt that resumed its team: teammates that ran before keep running. */
function couldNotResume({ plan, call }: Lead, { lastFailure }: Worker, signal: AbortSignal): boolean {
  return plan.resumes !== undefined && lastFailure !== undefined && !isInteractive(call) && !signal.aborted;
}

/** Whether this run's team never had a teammate, a task, a conversation or a typed goal. */
export function isUntouched({ ctx, plan, sessionId, hasOwnInput }: Lead): boolean {
  const { ref } = ctx;
  const config = teamLedHere(ctx);
  const isUsed = hasOwnInput || plan.resumes !== undefined;
  if (config === undefined || isUsed || config.members.length > 1) return false;
  if (fileSize(transcriptPath(ref.home.root, sessionId)) !== undefined || hasTasks(ref)) return false;
  return plan.goal !== "" || unreadCount(ref, LEAD_NAME) === 0;
}

function hasTasks(ref: Lead["ctx"]["ref"]): boolean {
  const { all, unreadable } = tasksOf(ref);
  return all.length > 0 || unreadable > 0;
}

function isWorkDone({ ctx, exit }: Lead, worker: Worker, end: WorkerEnd): boolean {
  const { all, unreadable } = tasksOf(ctx.ref);
  if (worker.lastFailure !== undefined || unreadable > 0 || all.some(isOpen)) return false;
  if (end === "over" && exit === undefined) return true;
  // The user or a signal ended the run: without tasks, nothing shows that the work is done.
  return all.length > 0 && !worker.wasInterrupted && isRunOver(runState(ctx, worker.heldCount));
}

/** Returns the number of unfinished tasks; a task that cannot be read counts as one. */
export function unfinishedCount({ ctx }: Lead): number {
  const { all, unreadable } = tasksOf(ctx.ref);
  return all.filter(isOpen).length + unreadable;
}

function isOpen({ status }: Task): boolean {
  return status !== "completed";
}

function tasksOf(ref: Lead["ctx"]["ref"]): { readonly all: readonly Task[]; readonly unreadable: number } {
  let unreadable = 0;
  const all = listTasks(ref, () => {
    unreadable += 1;
  });
  return { all, unreadable };
}

/** The command that continues a kept team. */
export function resumeCommand(team: string): string {
  return `teams run --resume ${optionWords("--team", team)}`;
}

export function continueText(team: string): string {
  return `To continue: ${resumeCommand(team)}`;
}
