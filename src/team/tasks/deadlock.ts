import type { Task } from "../../schema/task.ts";
import { ownerName } from "./tasks.ts";

/** Why nobody can go on, though there are tasks left. */
export type Deadlock =
  /** Each of these waits for the next, the last for the first. */
  | { readonly kind: "cycle"; readonly tasks: readonly string[] }
  /** These wait for nothing but an owner that will not come to them. */
  | {
      readonly kind: "dead-owner";
      readonly owner: string;
      readonly tasks: readonly string[];
      /** The team never had a member of that name. */
      readonly isStranger?: true;
    };

/**
 * Tells what keeps a team from its unfinished tasks, when none of them can be worked on: none is free, and none is of
 * somebody who may still do it. Circles and links to missing tasks come from foreign peers; a missing task blocks nobody.
 * @param mayWork whether an owner may come to its tasks yet: everybody of whom it is not known that they are dead or gone
 * @returns undefined while anybody can go on, or everything is done
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
    // Whoever has begun goes on, also behind a blocker that came later.
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

/** Some unfinished tasks of which each waits for the next, and the last for the first; undefined where there are none. */
export function dependencyCycle(tasks: readonly Task[]): readonly string[] | undefined {
  const open = new Map(tasks.filter(({ status }) => status !== "completed").map((task) => [task.id, task]));
  const waitsFor = ({ blockedBy }: Task): string[] => blockedBy.filter((id) => open.has(id));
  for (let before = -1; before !== open.size; ) {
    before = open.size;
    for (const task of open.values()) if (waitsFor(task).length === 0) open.delete(task.id);
  }
  return open.size === 0 ? undefined : followToCycle(open, waitsFor);
}

/** Where every task waits for another, any way leads into a circle: it begins where the way meets itself. */
function followToCycle(open: ReadonlyMap<string, Task>, waitsFor: (task: Task) => string[]): string[] {
  const way = new Set<string>();
  let [next] = open.keys();
  while (next !== undefined && !way.has(next)) {
    way.add(next);
    const task = open.get(next);
    next = task === undefined ? undefined : waitsFor(task)[0];
  }
  const passed = [...way];
  return next === undefined ? passed : passed.slice(passed.indexOf(next));
}

/** The report in one sentence, without its end: `#1 waits for #2, #2 for #1`. */
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
