import { livenessOf } from "../../os/process/identity.ts";
import { type ProcessIdentity, processIdentity } from "../../schema/process-identity.ts";
import type { Task } from "../../schema/task.ts";
import { livenessOfAgent, readStatus } from "../records/read-records.ts";
import type { TeamRef } from "../ref.ts";

/**
 * A task with its owner's lease: the identity of the owner's agent process, from its own status. An owner that has none (a
 * person, a script, a foreign peer) gets no lease, and its claim never lapses (protocol.md section 5).
 */
export function withLease(ref: TeamRef, task: Task, owner: string): Task {
  const status = readStatus(ref, owner);
  const process = status?.process;
  const bare = withoutLease(task);
  // One that is down and will be started again gets its lease when it goes on with the task.
  return process === undefined || livenessOfAgent(ref, owner, status) === "dead"
    ? bare
    : { ...bare, metadata: { ...bare.metadata, _lease: process } };
}

/** The task without a lease; a metadata that held nothing else goes too. */
export function withoutLease(task: Task): Task {
  const { metadata, ...rest } = task;
  if (metadata === undefined) return task;
  const { _lease, ...others } = metadata;
  return Object.keys(others).length === 0 && _lease !== undefined ? rest : { ...rest, metadata: others };
}

/** Whether the agent that claimed the task is known to be dead, so that the task is free for anybody. */
export function hasLeaseLapsed(task: Task): boolean {
  const lease = leaseOf(task);
  return lease !== undefined && livenessOf(lease) === "dead";
}

/**
 * Tasks as they count now: what a dead agent had claimed is nobody's and pending, before somebody has written that down.
 * Each agent is looked at once.
 */
export function withLapsedUnassigned(tasks: readonly Task[]): Task[] {
  const dead = new Map<string, boolean>();
  const hasLapsed = (task: Task): boolean => {
    const lease = leaseOf(task);
    if (lease === undefined) return false;
    const key = JSON.stringify(lease);
    const known = dead.get(key) ?? livenessOf(lease) === "dead";
    dead.set(key, known);
    return known;
  };
  return tasks.map((task) => {
    if (task.status === "completed" || !hasLapsed(task)) return task;
    const { owner: _dead, ...rest } = task;
    return withoutLease({ ...rest, status: "pending" });
  });
}

/** Whether the agent that claimed the task is known to live. */
export function isLeaseAlive(task: Task): boolean {
  const lease = leaseOf(task);
  return lease !== undefined && livenessOf(lease) === "alive";
}

/** Whether the task was claimed by this very process. */
export function isLeasedTo(task: Task, process: ProcessIdentity | undefined): boolean {
  const lease = leaseOf(task);
  return lease !== undefined && lease.pid === process?.pid && lease.procStart === process.procStart;
}

function leaseOf({ metadata }: Task): ProcessIdentity | undefined {
  if (metadata?._lease === undefined) return undefined;
  const lease = processIdentity.safeParse(metadata._lease);
  return lease.success ? lease.data : undefined;
}
