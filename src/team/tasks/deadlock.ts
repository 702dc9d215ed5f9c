import type { Task } from "../../schema/task.ts";
import { ownerName } from "./tasks.ts";

/** Why no member can work, although there are unfinished tasks. */
export type Deadlock =
  /** Each of these tasks waits for the next one, the last for the first. */
  | { readonly kind: "cycle"; readonly tasks: readonly string[] }
  /** These unblocked tasks belong to an owner that will not work on them. */
  | {
      readonly kind: "dead-owner";
      readonly owner: string;
      readonly tasks: readonly string[];
      /** The team never had a member of this name. */
      readonly isStranger?: true;
    };

/**
 * Returns why no unfinished task can be worked on: no task is free or has an owner that may still complete it. Cycles and links to
 * missing tasks come from other programs; a missing task blocks nothing.
 * @param mayWork returns false if an owner is known to be dead or to have left
 * @returns undefined if a task can be worked on, or all are completed
 */
export function findDeadlock(
  tasks: readonly Task[],
  mayWork: (owner: string) => boolean,
): Deadlock | undefined {
  const open = new Map(tasks.filter(({ status }) => status !== "completed").map((task) => [task.id, task]));
  const waitsFor = ({ blockedBy }: Task): string[] => blockedBy.filter((id) => open.has(id));
  const stuck: Task[] = [];
  for (const task of open.values()) {
    const owner = ownerName(task);
    const isAttended = owner === undefined || mayWork(owner);
    const isReady = waitsFor(task).length === 0;
    // A task in progress continues, even if a blocker was added later.
    if (isAttended && (isReady || (task.status === "in_progress" && owner !== undefined))) return undefined;
    if (isReady) stuck.push(task);
  }
  const [first] = stuck;
  if (first === undefined)
    return open.size === 0 ? undefined : { kind: "cycle", tasks: followToCycle(open, waitsFor) };
  const owner = ownerName(first) ?? "";
  return {
    kind: "dead-owner",
    owner,
    tasks: stuck.filter((task) => ownerName(task) === owner).map(({ id }) => id),
  };
}

/** Returns unfinished tasks that form a cycle: each waits for the next, the last for the first. Undefined without a cycle. */
export function dependencyCycle(tasks: readonly Task[]): readonly string[] | undefined {
  const open = new Map(tasks.filter(({ status }) => status !== "completed").map((task) => [task.id, task]));
  const waitsFor = ({ blockedBy }: Task): string[] => blockedBy.filter((id) => open.has(id));
  const after = new Map<string, Task[]>([...open.keys()].map((id) => [id, []]));
  const left = new Map<string, number>();
  for (const task of open.values()) {
    const blockers = new Set(waitsFor(task));
    left.set(task.id, blockers.size);
    for (const id of blockers) after.get(id)?.push(task);
  }
  const free = [...open.keys()].filter((id) => left.get(id) === 0);
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    open.delete(id);
    for (const task of after.get(id) ?? []) {
      const blockers = (left.get(task.id) ?? 0) - 1;
      left.set(task.id, blockers);
      if (blockers === 0) free.push(task.id);
    }
  }
  return open.size === 0 ? undefined : followToCycle(open, waitsFor);
}

/** Follows the blockers from any task until one repeats: if every task waits for another, this is a cycle. */
function followToCycle(open: ReadonlyMap<string, Task>, waitsFor: (task: Task) => string[]): string[] {
  const path = new Set<string>();
  let [next] = open.keys();
  while (next !== undefined && !path.has(next)) {
    path.add(next);
    const task = open.get(next);
    next = task === undefined ? undefined : waitsFor(task)[0];
  }
  const visited = [...path];
  return next === undefined ? visited : visited.slice(visited.indexOf(next));
}

/** Describes a deadlock in one sentence without a full stop: `#1 waits for #2, #2 for #1`. */
export function deadlockSentence(deadlock: Deadlock): string {
  const { tasks } = deadlock;
  if (deadlock.kind === "dead-owner") {
    const list = tasks.map((id) => `#${id}`).join(", ");
    const why = deadlock.isStranger ? "who is not in this team" : "who has ended";
    return `${list} ${tasks.length === 1 ? "belongs" : "belong"} to ${deadlock.owner}, ${why}`;
  }
  const [first = "", ...rest] = tasks;
  if (rest.length === 0) return `#${first} waits for itself`;
  const links = [...rest, first].map((id, i) =>
    i === 0 ? `#${first} waits for #${id}` : `#${tasks[i]} for #${id}`,
  );
  return links.join(", ");
}
