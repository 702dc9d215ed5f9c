import { openTeam } from "../../../runtime/select-team.ts";
import type { Task } from "../../../schema/task.ts";
import { listTasks } from "../../../team/tasks/tasks.ts";
import { line, type Output, TASK_STYLES, visible } from "../../../terminal/output.ts";
import { brokenTasksNote } from "../../../terminal/status-line.ts";
import { taskState } from "../../../terminal/task-text.ts";
import { defineCommand } from "../../command.ts";

export const command = defineCommand({
  name: "task graph",
  summary: "Show which tasks wait for which",
  args: [],
  options: { dot: { summary: "print it in the DOT language of Graphviz" } },
  examples: ["teams task graph", "teams task graph --dot | dot -Tsvg > tasks.svg"],
  async run({ options, io, out }) {
    const { ref } = openTeam(io.env, options);
    const broken: string[] = [];
    const tasks = listTasks(ref, (_, id) => broken.push(id));
    if (broken.length > 0) out.note(brokenTasksNote(broken));
    const edges = tasks.flatMap(({ id, blockedBy }) => blockedBy.map((from) => ({ from, to: id })));
    out.answer({ tasks, edges, ...(broken.length === 0 ? {} : { broken }) }, () => {
      if (options.dot) return dotOf(tasks);
      return tasks.length + broken.length === 0
        ? 'No tasks yet. Try: teams task add "…"'
        : treeOf(tasks, out);
    });
  },
});

/** Lists each task under every task that it waits for. The second time, a task is listed without the tasks below it. */
function treeOf(tasks: readonly Task[], { styleText }: Pick<Output, "styleText">): string {
  const unfolded = new Set<string>();
  const row = (task: Task, depth: number): string[] => {
    const state = styleText(taskState(task, tasks), ...TASK_STYLES[task.status]);
    const after = tasks.filter(({ blockedBy }) => blockedBy.includes(task.id));
    const known = unfolded.has(task.id) && after.length > 0;
    const text = line`${"  ".repeat(depth)}#${task.id} ${task.subject} [${state}]${known ? " (above)" : ""}`;
    if (known) return [text];
    unfolded.add(task.id);
    return [text, ...after.flatMap((next) => row(next, depth + 1))];
  };
  const ids = new Set(tasks.map(({ id }) => id));
  const roots = tasks.filter(({ blockedBy }) => !blockedBy.some((id) => ids.has(id)));
  const rows = roots.flatMap((task) => row(task, 0));
  // A cycle has no root; only another program can have written one.
  for (const task of tasks) if (!unfolded.has(task.id)) rows.push(...row(task, 0));
  return rows.join("\n");
}

function dotOf(tasks: readonly Task[]): string {
  const nodes = tasks.map(({ id, subject }) => `  ${quoted(id)} [label=${quoted(`#${id} ${subject}`)}];`);
  const edges = tasks.flatMap(({ id, blockedBy }) =>
    blockedBy.map((blocker) => `  ${quoted(blocker)} -> ${quoted(id)};`),
  );
  return ["digraph tasks {", ...nodes, ...edges, "}"].join("\n");
}

/** Quotes a text for Graphviz: another program's task may name a blocker with any characters. */
function quoted(text: string): string {
  return JSON.stringify(visible(text));
}
