import type { SidebarTask } from "./data.ts";

/** A task at its place in the graph: below a task that it waits for. */
export interface GraphNode {
  readonly task: SidebarTask;
  readonly depth: number;
  /** A later appearance: the tasks that wait for it are listed under the first one. */
  readonly isRepeated: boolean;
}

/** Lists each task under every task that it waits for. A repeated task is listed without the tasks below it. */
export function graphNodes(tasks: readonly SidebarTask[]): readonly GraphNode[] {
  const unfolded = new Set<string>();
  const ids = new Set(tasks.map(({ id }) => id));
  const after = new Map<string, SidebarTask[]>();
  for (const task of tasks) {
    for (const id of task.blockedBy) {
      const others = after.get(id);
      if (others === undefined) after.set(id, [task]);
      else others.push(task);
    }
  }
  const nodes: GraphNode[] = [];
  const add = (task: SidebarTask, depth: number): void => {
    const next = after.get(task.id) ?? [];
    const isRepeated = unfolded.has(task.id);
    nodes.push({ task, depth, isRepeated });
    if (isRepeated) return;
    unfolded.add(task.id);
    for (const one of next) add(one, depth + 1);
  };
  for (const task of tasks) if (!task.blockedBy.some((id) => ids.has(id))) add(task, 0);
  // A cycle has no root; only another program can have written one.
  for (const task of tasks) if (!unfolded.has(task.id)) add(task, 0);
  return nodes;
}

/** Returns the ids of all tasks in the order of their first appearance in the graph. */
export function graphOrder(tasks: readonly SidebarTask[]): readonly string[] {
  return graphNodes(tasks).flatMap(({ task, isRepeated }) => (isRepeated ? [] : [task.id]));
}
