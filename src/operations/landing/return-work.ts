import { TeamError } from "../../errors.ts";
import { entryOf } from "../../os/files/fs.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { Task } from "../../schema/task.ts";
import { readTeam } from "../../team/config/config.ts";
import { eventMessageId, sendMessage } from "../../team/mailbox/send.ts";
import { lookUpMember } from "../../team/members/members.ts";
import type { TeamRef } from "../../team/ref.ts";
import { completionNumber } from "../../team/tasks/pending-notifications.ts";
import { listTasks, ownerName } from "../../team/tasks/tasks.ts";
import { updateTask } from "../../team/tasks/update-task.ts";
import { shortenedStart } from "../../text/characters/cut-text.ts";
import { stripControls } from "../../text/terminal-text.ts";
import type { OperationContext } from "../context.ts";
import type { AgentWork } from "./agent-work.ts";

/** Why an agent has to work on its changes again. */
export interface Rework {
  readonly kind: "conflict" | "gate-failed";
  /** Sentences for the agent and for a person. */
  readonly reason: string;
  /** The next step of the agent, as a sentence. */
  readonly todo: string;
  readonly output: string;
  /** The agent's commit and the target's: they conflict, or fail the gate together. */
  readonly commit: string;
  readonly onto: string;
}

/** The result of returning work. */
export interface ReturnedWork {
  /** The task that is open again, or was still open; null if the agent owns none. */
  readonly taskId: string | null;
  /** Whether the agent got a message about it; false if it left the team. */
  readonly notified: boolean;
}

/** How many of the last characters of the output the message quotes. */
const MAX_QUOTED = 2_000;

/**
 * Returns work to its agent: reopens the task that the agent completed last, unless it has one in progress, and sends a message. The
 * task of an agent that left becomes unassigned. Idempotent: for the same commits, it reopens one task and sends one message.
 */
export async function returnWork(
  ctx: OperationContext,
  { agent, member }: AgentWork,
  target: string,
  rework: Rework,
): Promise<ReturnedWork> {
  const { ref, clock } = ctx;
  // It may have left during the check.
  const isMember = lookUpMember(readTeam(ref), agent) !== undefined;
  // The tasks of that name belong to its new holder.
  if (member === undefined && isMember) return { taskId: null, notified: false };
  const { kind, commit, onto } = rework;
  const reason = [agent, kind, commit, onto].join(" ");
  const task = taskToReopen(ref, agent, reason);
  const isReopened = task?.status === "completed" && (await reopen(ctx, task, reason, isMember));
  if (!isMember) return { taskId: task?.id ?? null, notified: false };
  const text = [
    `Your work has not landed on ${target}. ${rework.reason}`,
    ...(rework.output === "" ? [] : [shortenedStart(stripControls(rework.output), MAX_QUOTED)]),
    `${rework.todo}${task === undefined ? "" : ` ${isReopened ? `Task #${task.id} is open again` : `This belongs to task #${task.id}`}; complete it afterwards.`}`,
  ].join("\n\n");
  // The number of completions: work that was completed again, and fails again, is news.
  const completions = task === undefined ? 0 : completionNumber(task) - (task.status === "completed" ? 0 : 1);
  const messageId = eventMessageId("landing", reason, task?.id ?? "", String(completions));
  const summary = kind === "conflict" ? "your work conflicts" : "the check of your work failed";
  await sendMessage(ref, { from: ctx.actor, to: agent, text, summary, messageId }, clock);
  return { taskId: task?.id ?? null, notified: true };
}

/** The metadata key that records why a task was reopened: an agent that left no longer owns the task. */
const RETURNED = "_returned";

/**
 * Returns the task that was reopened for the same reason, else the agent's task in progress, else its last completed task, by the
 * modification time of the file.
 */
function taskToReopen(ref: TeamRef, agent: string, reason: string): Task | undefined {
  const all = listTasks(ref);
  const returned = all.find((task) => task.metadata?.[RETURNED] === reason && task.status !== "completed");
  if (returned !== undefined) return returned;
  const own = all.filter((task) => ownerName(task) === agent);
  const changedAt = ({ id }: Task): number => Number(entryOf(ref.paths.task(id))?.mtimeMs ?? 0);
  const completed = own.filter(({ status }) => status === "completed");
  return (
    own.find(({ status }) => status === "in_progress") ??
    completed.toSorted((a, b) => changedAt(b) - changedAt(a) || Number(b.id) - Number(a.id))[0]
  );
}

/** @returns false if the task has been deleted meanwhile */
async function reopen(
  { ref, clock }: OperationContext,
  { id }: Task,
  reason: string,
  isMember: boolean,
): Promise<boolean> {
  const metadata = { [RETURNED]: reason };
  const free = { status: "pending", owner: "", metadata } as const;
  const own = { status: "in_progress", metadata } as const;
  try {
    await updateTask(ref, LEAD_NAME, id, isMember ? own : free, clock);
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    if (error.code === "TASK_NOT_FOUND") return false;
    if (error.code !== "TASK_BLOCKED" && error.code !== "TASK_CONFLICT") throw error;
    // One of its blockers was reopened too, or a task in progress touches the same files.
    await updateTask(ref, LEAD_NAME, id, { ...own, status: "pending" }, clock);
  }
  return true;
}
