import type { ListedTask, Shown } from "../team/tasks/task-proof.ts";
import { type Output, TASK_STYLES, type TextStyle } from "./output.ts";
import { type Cell, table } from "./table.ts";

/** The part of a task that tables show. */
type TableTask = Pick<ListedTask, "id" | "subject" | "status" | "blockedBy" | "said" | "shown"> & {
  readonly owner?: string | undefined;
};

const SHOWN_STYLES: Readonly<Record<Shown, readonly TextStyle[]>> = {
  passed: ["good"],
  failed: ["bad"],
  running: ["busy"],
  "not run": ["quiet"],
  unconfirmed: ["attention"],
  none: [],
};

/** Returns the ids of the unfinished tasks that a task waits for. @param among all tasks */
function openBlockers({ status, blockedBy }: TableTask, among: readonly TableTask[]): string[] {
  if (status === "completed" || blockedBy.length === 0) return [];
  const open = openAmong(among);
  return blockedBy.filter((id) => open.has(id));
}

/** Caches the ids of unfinished tasks for each list: a table asks for each task of a list that may be long. */
const openIds = new WeakMap<readonly TableTask[], ReadonlySet<string>>();

function openAmong(tasks: readonly TableTask[]): ReadonlySet<string> {
  const known = openIds.get(tasks);
  if (known !== undefined) return known;
  const ids = new Set(tasks.filter(({ status }) => status !== "completed").map(({ id }) => id));
  openIds.set(tasks, ids);
  return ids;
}

/** Returns the state of a task for users: a pending task that waits for another one is blocked. @param among all tasks */
export function taskState(task: TableTask, among: readonly TableTask[]): string {
  const isBlocked = task.status === "pending" && openBlockers(task, among).length > 0;
  return isBlocked ? "blocked" : task.status.replace("_", " ");
}

/**
 * Returns the tasks as a table: state, claim and verify result if a task has a verify command, owner, unfinished blockers and
 * subject.
 * @param among all tasks, if only some are shown
 */
export function taskTable(
  tasks: readonly TableTask[],
  {
    styleText,
    columns,
    among = tasks,
  }: Pick<Output, "styleText" | "columns"> & { readonly among?: readonly TableTask[] },
): string {
  // Without any verify command, all verify results are the same.
  const isProved = among.some(({ shown = "none" }) => shown !== "none");
  const rows = tasks.map((task): Cell[] => {
    const waits = openBlockers(task, among);
    const { said = task.status === "completed", shown = "none" } = task;
    return [
      `#${task.id}`,
      styleText(taskState(task, among), ...TASK_STYLES[task.status]),
      ...(isProved
        ? [said ? "done" : "", styleText(shown === "none" ? "" : shown, ...SHOWN_STYLES[shown])]
        : []),
      task.owner ?? "",
      waits.map((id) => `#${id}`).join(" "),
      task.subject,
    ];
  });
  const proof = isProved ? ["SAID", "SHOWN"] : [];
  return table(["TASK", "STATE", ...proof, "OWNER", "WAITS FOR", "SUBJECT"], rows, { columns });
}
