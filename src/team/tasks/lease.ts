import { livenessOf } from "../../os/process/identity.ts";
import { parseShape } from "../../schema/guards/guard.ts";
import { identityForm } from "../../schema/guards/identity.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import type { Task } from "../../schema/task.ts";
import { livenessOfAgent, readStatus } from "../records/read-records.ts";
import type { TeamRef } from "../ref.ts";

/**
 * Returns a task with its owner's lease: the identity of the owner's agent process, from its status. An owner without a
 * status (a person, a script, another program's member) gets no lease, and its claim never expires (protocol.md section 5).
 */
export function withLease(ref: TeamRef, task: Task, owner: string): Task {
  const status = readStatus(ref, owner);
  const process = status?.process;
  const bare = withoutLease(task);
  // A stopped member gets a lease when it resumes the task.
  return process === undefined || livenessOfAgent(ref, owner, status) === "dead"
    ? bare
    : { ...bare, metadata: { ...bare.metadata, _lease: process } };
}

/** Returns a task without its lease, and without metadata if it has no other key. */
export function withoutLease(task: Task): Task {
  const { metadata, ...rest } = task;
  if (metadata === undefined) return task;
  const { _lease, ...others } = metadata;
  return Object.keys(others).length === 0 && _lease !== undefined ? rest : { ...rest, metadata: others };
}

/** True if the agent that claimed the task is known to be dead, so any member may claim it. */
export function hasLeaseExpired(task: Task): boolean {
  const lease = leaseOf(task);
  return lease !== undefined && livenessOf(lease) === "dead";
}

/**
 * Returns tasks in their effective state: a dead agent's unfinished tasks are unassigned and pending, even if the files do not
 * say so yet. Checks each agent once.
 */
export function withExpiredUnassigned(tasks: readonly Task[]): Task[] {
  const dead = new Map<string, boolean>();
  const hasExpired = (task: Task): boolean => {
    const lease = leaseOf(task);
    if (lease === undefined) return false;
    const key = JSON.stringify(lease);
    const known = dead.get(key) ?? livenessOf(lease) === "dead";
    dead.set(key, known);
    return known;
  };
  return tasks.map((task) => {
    if (task.status === "completed" || !hasExpired(task)) return task;
    const { owner: _dead, ...rest } = task;
    return withoutLease({ ...rest, status: "pending" });
  });
}

/** True if the agent that claimed the task is known to be alive. */
export function isLeaseAlive(task: Task): boolean {
  const lease = leaseOf(task);
  return lease !== undefined && livenessOf(lease) === "alive";
}

/** True if the task was claimed by this process. */
export function isLeasedTo(task: Task, process: ProcessIdentity | undefined): boolean {
  const lease = leaseOf(task);
  return lease !== undefined && lease.pid === process?.pid && lease.procStart === process.procStart;
}

function leaseOf({ metadata }: Task): ProcessIdentity | undefined {
  if (metadata?._lease === undefined) return undefined;
  const lease = parseShape(identityForm, metadata._lease);
  return lease.success ? lease.data : undefined;
}
