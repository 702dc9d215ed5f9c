import type { ProcessIdentity } from "../../schema/process-identity.ts";
import type { Task } from "../../schema/task.ts";
import type { TeamRef } from "../ref.ts";
import { isLeaseAlive, isLeasedTo, withoutLease } from "./lease.ts";
import { changeTask, ownerName, readableTask, readTasks } from "./tasks.ts";

/** The ids of what each owner has not finished, internal tasks too, by the owner's name. */
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
 * Gives an ended agent's unfinished tasks back: pending, without an owner. Done twice it is done once.
 * @param ended.tasks what it had not finished when its end was noticed
 * @param ended.process its own; a task that another living process holds under the same name stays
 * @returns those of them that are nobody's now
 */
export async function unassignTasks(
  ref: TeamRef,
  ended: {
    readonly name: string;
    readonly tasks: readonly string[];
    readonly process?: ProcessIdentity | undefined;
  },
): Promise<Task[]> {
  const isHis = (task: Task): boolean =>
    task.status !== "completed" &&
    ownerName(task) === ended.name &&
    (isLeasedTo(task, ended.process) || !isLeaseAlive(task));
  const free: Task[] = [];
  for (const id of ended.tasks) {
    // One that was deleted, or that cannot be read, is nobody's.
    if (readableTask(ref, id) === undefined) continue;
    const task = await changeTask(ref, id, (current) => {
      if (!isHis(current)) return undefined;
      const { owner: _gone, ...rest } = current;
      return withoutLease({ ...rest, status: "pending" });
    });
    if (task.status !== "completed" && ownerName(task) === undefined) free.push(task);
  }
  return free;
}
