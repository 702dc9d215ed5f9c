import { displayWidth } from "../text/cell-width.ts";
import { TONE } from "../text/style.ts";
import { gridText } from "../text/terminal-text.ts";
import type { SidebarData, SidebarTask } from "./data.ts";
import type { GraphNode } from "./graph.ts";
import { SHOWN_LOOKS, TASK_LOOKS, type TaskState, taskState, wrap } from "./labels.ts";
import { nameSpan } from "./message-rows.ts";
import {
  bar,
  cut,
  ends,
  FIGURES_FROM,
  INDENT,
  type Line,
  lineOf,
  type Span,
  type SpanStyle,
  span,
} from "./spans.ts";

const quiet: SpanStyle = { fg: TONE.quiet };
const faint: SpanStyle = { fg: TONE.faint };

/** The progress of the task list as a bar. */
export function taskBar(tasks: readonly SidebarTask[], width: number): Line {
  const room = Math.max(1, width - 1);
  const states = tasks.map((task) => taskState(task, tasks));
  const count = (wanted: TaskState): number => states.filter((state) => state === wanted).length;
  const share = (n: number): number => (tasks.length === 0 ? 0 : Math.round((n / tasks.length) * room));
  const done = share(count("done"));
  const active = share(count("done") + count("active")) - done;
  return lineOf([
    span(" "),
    span("━".repeat(done), { fg: TONE.good }),
    span("━".repeat(active), { fg: TONE.busy }),
    span("─".repeat(room - done - active), faint),
  ]);
}

export function taskFigure(tasks: readonly SidebarTask[]): string {
  return tasks.length === 0
    ? "none"
    : `${tasks.filter((task) => task.status === "completed").length} of ${tasks.length}`;
}

/** A task in one row; a selected task with its full subject, and its blockers or state. */
export function taskRows(task: SidebarTask, data: SidebarData, selected: boolean, width: number): Line[] {
  const { list } = data.status.tasks;
  const state = taskState(task, list);
  const look = TASK_LOOKS[state];
  const target = { kind: "task", id: task.id } as const;
  const digits = Math.max(...list.map(({ id }) => id.length));
  const ownerSpan = (name: string): Span =>
    state === "done" ? span(gridText(name), quiet) : nameSpan(name, data);
  const marks = width < FIGURES_FROM ? [] : proofMarks(task, list);
  const begin = [
    bar(selected),
    span(look.sign, { fg: look.tone }),
    span(` ${task.id.padStart(digits)} `, quiet),
    ...marks,
  ];
  const text = state === "done" || state === "blocked" ? quiet : {};
  const owner = task.owner === undefined || width < FIGURES_FROM ? [] : [ownerSpan(task.owner)];
  if (!selected) return [lineOf(ends([...begin, span(gridText(task.subject), text)], owner, width), target)];
  const indent = INDENT + digits + 1 + (marks.length === 0 ? 0 : MARKS_WIDTH);
  const room = width - indent - (owner.length > 0 ? displayWidth(owner[0]?.text ?? "") + 1 : 0);
  const [first = "", ...rest] = wrap(task.subject, Math.max(8, room), 3);
  const waits =
    state === "blocked" ? gridText(`after ${task.blockedBy.map((id) => `#${id}`).join(" ")}`) : look.word;
  const proof = proofWords(task);
  const below = [
    ...rest.map((row) => span(row)),
    span(waits, { fg: look.tone }),
    ...(proof === undefined ? [] : [proof]),
  ];
  return [
    lineOf(ends([...begin, span(first, { bold: true })], owner, width), target),
    ...below.map((row) => lineOf(cut([bar(true), span(" ".repeat(indent - 1)), row], width), target)),
  ];
}

/** Cells of the two marks and the space after them. */
const MARKS_WIDTH = 3;

/** Returns two signs of a task: the member's claim and the verify result; nothing if no task has a verify command. */
function proofMarks({ said = false, shown = "none" }: SidebarTask, all: readonly SidebarTask[]): Span[] {
  if (all.every((task) => (task.shown ?? "none") === "none")) return [];
  const look = SHOWN_LOOKS[shown];
  return [span(said ? "✓" : "·", quiet), span(`${look.sign} `, { fg: look.tone })];
}

function proofWords({ said = false, shown = "none" }: SidebarTask): Span | undefined {
  if (shown === "none") return undefined;
  return span(`said: ${said ? "done" : "not done"}, shown: ${shown}`, { fg: SHOWN_LOOKS[shown].tone });
}

/** A task in the graph, one row: below the task that it waits for. */
export function graphRow(
  { task, depth, isRepeated }: GraphNode,
  data: SidebarData,
  selected: boolean,
  width: number,
): Line {
  const look = TASK_LOOKS[taskState(task, data.status.tasks.list)];
  // A deep task keeps room for its subject.
  const indent = Math.min(depth * 2, Math.max(0, width - 20));
  const branch = depth === 0 ? [] : [span(`${" ".repeat(Math.max(0, indent - 2))}└ `, faint)];
  const owner = task.owner === undefined || width < FIGURES_FROM ? [] : [nameSpan(task.owner, data)];
  const style = isRepeated ? quiet : selected ? { bold: true } : {};
  const left = [
    bar(selected && !isRepeated),
    ...branch,
    span(`${look.sign} `, { fg: look.tone }),
    span(`${gridText(task.id)} `, quiet),
    ...(isRepeated ? [span("↑ ", quiet)] : []),
    span(gridText(task.subject), style),
  ];
  return lineOf(ends(left, owner, width), { kind: "task", id: task.id });
}
