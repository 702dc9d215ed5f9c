import { TeamError } from "../errors.ts";
import { steadyNow } from "../os/clock.ts";
import { livenessOf } from "../os/process/identity.ts";
import { formatProtocol } from "../protocol/messages.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { type BackgroundTask, backgroundRecord } from "../schema/status.ts";
import { readRecordFile } from "../store/json-file.ts";
import { memberWord } from "../team/address-words.ts";
import { sendMessage } from "../team/mailbox/send.ts";
import { livenessOfAgent } from "../team/records/read-records.ts";
import type { TeamRef } from "../team/ref.ts";
import { operand, optionWords } from "../text/shell-quote.ts";
import { openTreeBell } from "../wakeup/tree-bell.ts";
import { type OperationContext, requireLead } from "./context.ts";

/** Milliseconds to wait until the agent has ended a task and everything that it started. */
const END_TIMEOUT = 10_000;
/** Longest time between two polls, in milliseconds, for a directory that cannot be watched. */
const POLL_MS = 1_000;

/** A background task with its agent. */
export type AgentTask = BackgroundTask & { readonly agent: string };

/** Returns the background tasks of an agent's last process, oldest first; empty if it has had none, or is another program's. */
export function backgroundTasks(ref: TeamRef, agent: string): readonly AgentTask[] {
  const record = readRecordFile(ref.paths.agent(agent).background, backgroundRecord);
  if (record === undefined) return [];
  // Background work ends with its agent, which may have been killed before it could record that.
  const isOver = livenessOf(record.process) === "dead" || livenessOfAgent(ref, agent) === "dead";
  return record.tasks.map((task) =>
    isOver && task.status === "running"
      ? { ...task, agent, status: "killed", how: "ended with its agent" }
      : { ...task, agent },
  );
}

/** Returns one background task. @throws TeamError TASK_NOT_FOUND */
export function backgroundTask(ref: TeamRef, agent: string, id: string): AgentTask {
  const task = backgroundTasks(ref, agent).find((one) => one.id === id);
  if (task !== undefined) return task;
  throw new TeamError("TASK_NOT_FOUND", `${agent} has no background task ${id}.`, {
    hint: `See its background tasks: teams bg ${operand(agent)} --all ${optionWords("--team", ref.team)}`,
  });
}

interface EndOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Ends a background task and everything that it started. The agent owns the processes, so it gets a control message. It handles
 * the message at once in every state, and notices the end like any other.
 * @returns the task as it ended; unchanged if it had ended before
 * @throws TeamError NOT_LEAD, TASK_NOT_FOUND; TIMEOUT if the agent does not react in time; INTERRUPTED by the signal
 */
export async function endBackgroundTask(
  ctx: OperationContext,
  agent: string,
  id: string,
  { timeoutMs = END_TIMEOUT, signal }: EndOptions = {},
): Promise<AgentTask> {
  const { ref, clock } = ctx;
  requireLead(ctx, "end background work");
  let task = backgroundTask(ref, agent, id);
  if (task.status !== "running") return task;
  // Opened before the request is sent, so that a quick reaction is not missed.
  const bell = openTreeBell([ref.paths.dir]);
  try {
    const request = { type: "background_end_request", taskId: id, from: LEAD_NAME } as const;
    await sendMessage(ref, {
      from: LEAD_NAME,
      to: agent,
      text: formatProtocol(request, new Date(clock.now())),
    });
    const deadline = steadyNow() + timeoutMs;
    for (;;) {
      task = backgroundTask(ref, agent, id);
      if (task.status !== "running") return task;
      const remaining = deadline - steadyNow();
      if (signal?.aborted) throw endInterrupted(ref, task);
      if (remaining <= 0) throw endTimeout(ref, task, timeoutMs);
      await bell.wait({
        timeoutMs: Math.min(remaining, POLL_MS),
        ...(signal === undefined ? {} : { signal }),
      });
    }
  } finally {
    bell.close();
  }
}

function endInterrupted(ref: TeamRef, { agent, id }: AgentTask): TeamError {
  return new TeamError(
    "INTERRUPTED",
    `Interrupted while waiting for ${agent} to end ${id}; the request was sent.`,
    { hint: `See what the agent is doing: teams peek ${memberWord(ref, agent)}` },
  );
}

function endTimeout(ref: TeamRef, { agent, id }: AgentTask, timeoutMs: number): TeamError {
  return new TeamError(
    "TIMEOUT",
    `${agent} did not end ${id} within ${timeoutMs / 1000} s; the request was sent.`,
    {
      hint: `See what the agent is doing: teams peek ${memberWord(ref, agent)}. To end the agent with all its work: teams kill ${memberWord(ref, agent)}`,
    },
  );
}
