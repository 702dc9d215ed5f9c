import type { VerifyRun } from "../../schema/guards/verify-record.ts";
import type { Task } from "../../schema/task.ts";
import { teamExists } from "../../team/config/config.ts";
import { type TaskProof, withProofs } from "../../team/tasks/task-proof.ts";
import { listTasks } from "../../team/tasks/tasks.ts";
import type { Output } from "../../terminal/output.ts";
import { taskTable } from "../../terminal/task-text.ts";
import { isoTime } from "../../text/local-time.ts";
import type { Lead } from "./lead.ts";

/** A task in the result of a run: its owner's claim, and the result of its verify command. */
export interface ReportedTask
  extends Pick<Task, "id" | "subject" | "status" | "blockedBy" | "owner">,
    Pick<TaskProof, "said" | "shown"> {
  /** The run of the verify command, with its time in ISO 8601; null if there is none. */
  readonly verifyRun: (Omit<VerifyRun, "at"> & { readonly at: string | null }) | null;
}

/** The tasks of each lead when they were read last: at the end of a run, the team may be deleted. */
const known = new WeakMap<Lead["ctx"], readonly ReportedTask[]>();

/** Reads the tasks for the result of the run. Call it before the team is deleted. */
export function rememberTasks(ctx: Lead["ctx"]): void {
  // The lead has deleted its team: keep the tasks that were read before.
  if (!teamExists(ctx.ref)) return;
  const tasks = withProofs(ctx.ref, listTasks(ctx.ref));
  known.set(
    ctx,
    tasks.map(({ id, subject, status, blockedBy, owner, said, shown, verifyRun }) => ({
      ...{ id, subject, status, blockedBy, said, shown },
      verifyRun: verifyRun && { ...verifyRun, at: isoTime(verifyRun.at) },
      ...(owner === undefined ? {} : { owner }),
    })),
  );
}

/** Returns the tasks for the result; none if no task has a verify command. */
export function reportedTasks(ctx: Lead["ctx"]): readonly ReportedTask[] {
  const tasks = known.get(ctx) ?? [];
  return tasks.some(({ shown }) => shown !== "none") ? tasks : [];
}

/** Returns the tasks as lines of the result; none if no task has a verify command. */
export function taskReport(ctx: Lead["ctx"], out: Pick<Output, "styleText" | "columns">): string[] {
  const tasks = reportedTasks(ctx);
  if (tasks.length === 0) return [];
  return ["", taskTable(tasks, out)];
}
