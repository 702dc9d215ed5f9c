import type { Clock } from "../../os/clock.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import type { Task } from "../../schema/task.ts";
import type { TeamRef } from "../ref.ts";
import { hasLeaseExpired, isLeaseAlive, isLeasedTo, withLease, withoutLease } from "./lease.ts";
import { notifyPending } from "./notify-owners.ts";
import { withPendingAssignment } from "./pending-notifications.ts";
import { changeTask, ownerName, readableTask, readTasks } from "./tasks.ts";

/** Returns the ids of unfinished tasks, including internal ones, by the owner's name. */
export function unfinishedTasks(ref: TeamRef): ReadonlyMap<string, readonly string[]> {
  const unfinished = new Map<string, string[]>();
  for (const task of readTasks(ref)) {
    const owner = ownerName(task);
    if (owner === undefined || task.status === "completed") continue;
    const ids = unfinished.get(owner) ?? [];
    ids.push(task.id);
    unfinished.set(owner, ids);
  }
  return unfinished;
}

/**
 * Unassigns an ended agent's unfinished tasks: pending, without an owner. Idempotent.
 * @param ended.tasks ids of its unfinished tasks when its end was noticed
 * @param ended.process its process; a task leased to another living process of the same name stays assigned
 * @param isStillEnded whether it has not been started again meanwhile; called under each task's lock
 * @returns the tasks among `ended.tasks` that have no owner afterwards
 */
export async function unassignTasks(
  ref: TeamRef,
  ended: {
    readonly name: string;
    readonly tasks: readonly string[];
    readonly process?: ProcessIdentity | undefined;
  },
  isStillEnded: () => boolean = () => true,
): Promise<Task[]> {
  const isHeldByEnded = (task: Task): boolean =>
    task.status !== "completed" &&
    ownerName(task) === ended.name &&
    (isLeasedTo(task, ended.process) || !isLeaseAlive(task));
  const free: Task[] = [];
  for (const id of ended.tasks) {
    // Deleted or unreadable tasks cannot be unassigned.
    if (readableTask(ref, id) === undefined) continue;
    const task = await changeTask(ref, id, (current) => {
      if (!isHeldByEnded(current) || !isStillEnded()) return undefined;
      const { owner: _ended, ...rest } = current;
      return withoutLease({ ...rest, status: "pending" });
    });
    if (task.status !== "completed" && ownerName(task) === undefined) free.push(task);
  }
  return free;
}

/**
 * Reassigns the tasks that a member owned when it ended, and that are still unassigned. It gets a notification for each, as for every
 * assignment, and continues with them. Idempotent.
 * @returns the ids of its tasks
 */
export async function restoreTasks(
  ref: TeamRef,
  name: string,
  ids: readonly string[],
  clock: Clock,
): Promise<readonly string[]> {
  const restored: string[] = [];
  for (const id of ids) {
    if (readableTask(ref, id) === undefined) continue;
    const task = await changeTask(ref, id, (current) =>
      current.status === "pending" && ownerName(current) === undefined
        ? withPendingAssignment({ ...current, owner: name }, name, LEAD_NAME)
        : undefined,
    );
    await notifyPending(ref, task, clock);
    if (ownerName(task) === name && task.status !== "completed") restored.push(id);
  }
  return restored;
}

/** Leases the tasks that a member has in progress to its present process, if the process that claimed them is dead. */
export async function renewLeases(ref: TeamRef, name: string): Promise<void> {
  const isExpired = (task: Task): boolean =>
    ownerName(task) === name && task.status !== "completed" && hasLeaseExpired(task);
  for (const { id } of readTasks(ref).filter(isExpired))
    await changeTask(ref, id, (task) => (isExpired(task) ? withLease(ref, task, name) : undefined));
}
