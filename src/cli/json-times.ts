import { approvalJson } from "../operations/approvals/approval-json.ts";
import type { TeamStatus } from "../operations/status.ts";
import type { ListedTask } from "../team/tasks/task-proof.ts";
import { isoTime } from "../text/local-time.ts";

/*
 * The values that programs get with --json. Their times are ISO texts, as in messages and events; in our code, a time is
 * milliseconds since the epoch.
 */

/** Returns a status for --json. */
export function statusJson(status: TeamStatus): object {
  return {
    ...status,
    members: status.members.map((member) => ({
      ...member,
      ...(member.pausedUntil === undefined ? {} : { pausedUntil: isoTime(member.pausedUntil) }),
      startedAt: isoTime(member.startedAt),
      lastActivityAt: isoTime(member.lastActivityAt),
      exit: member.exit === null ? null : { ...member.exit, at: isoTime(member.exit.at) },
    })),
    tasks: { ...status.tasks, list: status.tasks.list.map(taskJson) },
    approvals: status.approvals.map(approvalJson),
  };
}

/** Returns a task for --json. */
export function taskJson(task: ListedTask): object {
  const { verifyRun } = task;
  return verifyRun == null ? task : { ...task, verifyRun: { ...verifyRun, at: isoTime(verifyRun.at) } };
}
