import type { TeamStatus } from "../operations/status.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { line } from "./output.ts";

/** A team in one line, for a status bar: `review 2 running 1 idle · 3/7 tasks · 1 waiting`. */
export function statusLine({ team, members, tasks, approvals }: TeamStatus): string {
  const counts = new Map<string, number>();
  for (const { name, state } of members) {
    if (name !== LEAD_NAME) counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  const states = [...counts].map(([state, count]) => `${count} ${state}`).join(" ");
  const parts = [
    states === "" ? "no teammates" : states,
    ...(tasks.list.length === 0 ? [] : [`${tasks.completed}/${tasks.list.length} tasks`]),
    ...(approvals.length === 0 ? [] : [`${approvals.length} waiting`]),
  ];
  return line`${team} ${parts.join(" · ")}`;
}

/** The note for a list or a count of tasks that omits unreadable ones. */
export function brokenTasksNote(ids: readonly string[]): string {
  const list = ids.map((id) => `#${id}`).join(", ");
  return `${ids.length === 1 ? "Task" : "Tasks"} ${list} cannot be read and ${ids.length === 1 ? "is" : "are"} omitted: teams doctor`;
}
