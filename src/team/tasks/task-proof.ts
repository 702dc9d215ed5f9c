import { livenessOf } from "../../os/process/identity.ts";
import type { VerifyRecord, VerifyRun } from "../../schema/guards/verify-record.ts";
import type { Task } from "../../schema/task.ts";
import { textStart } from "../../text/characters/cut-text.ts";
import type { TeamRef } from "../ref.ts";
import { completionNumber } from "./pending-notifications.ts";
import { proposedVerify, reviewerOf, touchesOf } from "./task-fields.ts";
import { readVerify, verifiedIds } from "./verify-record.ts";

/**
 * The result of our own run of the verify command. `none`: there is no command. `unconfirmed`: no person has confirmed the command
 * in the task's file, so it never runs. `not run`: it has not run for this completion.
 */
export type Shown = "passed" | "failed" | "running" | "not run" | "unconfirmed" | "none";

/** A member's claim about a task, and its verify result. */
export interface TaskProof {
  /** The command that our code runs when the task is completed. */
  readonly verify: string | null;
  /** A command in the task's file that no person has confirmed. */
  readonly proposedVerify?: string;
  readonly reviewer: string | null;
  readonly touches: readonly string[];
  /** A member reported it as completed. */
  readonly said: boolean;
  readonly shown: Shown;
  /** The last run of the command; null without one. */
  readonly verifyRun: VerifyRun | null;
}

export type ProvenTask = Task & TaskProof;

/** A task of a list, with its claim and verify result if they are known. */
export type ListedTask = Task & Partial<TaskProof>;

/** Returns a task with its claim and verify result. */
export function withProof(ref: TeamRef, task: Task): ProvenTask {
  return { ...task, ...proofOf(ref, task) };
}

/** Returns tasks with their claims and verify results. Reads the directory of the records once. */
export function withProofs(ref: TeamRef, tasks: readonly Task[]): ProvenTask[] {
  const known = verifiedIds(ref);
  return tasks.map((task) => ({ ...task, ...proofOf(ref, task, known.has(task.id)) }));
}

function proofOf(ref: TeamRef, task: Task, mayHaveRecord = true): TaskProof {
  const record = mayHaveRecord ? readVerify(ref, task.id) : undefined;
  const proposed = proposedVerify(task);
  const isUnconfirmed = proposed !== undefined && proposed !== record?.command;
  const shown = record === undefined ? (isUnconfirmed ? "unconfirmed" : "none") : shownBy(record, task);
  return {
    verify: record?.command ?? null,
    ...(isUnconfirmed ? { proposedVerify: proposed } : {}),
    reviewer: reviewerOf(task) ?? null,
    touches: touchesOf(task),
    said: task.status === "completed" || shown === "running" || shown === "failed",
    shown,
    verifyRun: record?.run ?? null,
  };
}

function shownBy({ running, run }: VerifyRecord, task: Task): Shown {
  if (running !== undefined && livenessOf(running) !== "dead") return "running";
  if (run?.completion !== completionNumber(task)) return "not run";
  return run.outcome === "passed" ? "passed" : "failed";
}

/** `exit code 1 after 12 s, at 1a2b3c4 with 2 uncommitted files`. */
export function runText(run: VerifyRun): string {
  const { ms, commit, uncommitted = 0 } = run;
  const files = uncommitted === 1 ? "1 uncommitted file" : `${uncommitted} uncommitted files`;
  const where = commit === undefined ? "" : `, at ${textStart(commit, 7)}`;
  const seconds = ms < 10_000 ? (ms / 1000).toFixed(1) : String(Math.round(ms / 1000));
  return `${endText(run)} after ${seconds} s${where}${uncommitted > 0 ? ` with ${files}` : ""}`;
}

function endText({ outcome, exitCode, signal }: VerifyRun): string {
  if (outcome === "timed-out") return "a timeout";
  if (outcome === "refused") return "a refusal by a deny rule";
  if (outcome === "not-started") return "a failed start";
  return signal ?? `exit code ${exitCode ?? "?"}`;
}
