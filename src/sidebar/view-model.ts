import { TONE } from "../text/style.ts";
import type { SidebarData, SidebarMember, SidebarTask } from "./data.ts";
import { graphNodes } from "./graph.ts";
import { taskState } from "./labels.ts";
import { around } from "./list-window.ts";
import { header, memberRows, workingCount } from "./member-rows.ts";
import { messageRows } from "./message-rows.ts";
import { BLANK, beside, cut, heading, type Line, lineOf, span } from "./spans.ts";
import {
  type ScreenSize,
  type SidebarState,
  type SidebarTarget,
  sameTarget,
  selectedTarget,
  shownMembers,
  shownTasks,
} from "./state.ts";
import { graphRow, taskBar, taskFigure, taskRows } from "./task-rows.ts";
import { bottomLines, readerLines } from "./views/reader-frame.ts";
import { waiting } from "./waiting.ts";

/** Minimum width for members and the rest side by side. */
const TWO_COLUMNS_FROM = 84;
/** Minimum and maximum width of the members' column, and its share of the width. */
const COLUMN = { min: 34, max: 56, share: 0.42 };
const GAP = 3;
/** Minimum rows for the messages: title and one message. */
const MIN_MESSAGES = 4;
/** Rows of a blank line, the title and the bar. */
const TASK_HEAD = 3;

/**
 * Renders the sidebar: exactly `height` lines of at most `width` cells. Pure, so that tests can compare values.
 */
export function frame(data: SidebarData, state: SidebarState, size: ScreenSize): Line[] {
  const { width, height } = size;
  if (height <= 0) return [];
  const bottom = bottomLines(state, data, size);
  const room = height - bottom.length;
  const { reader } = state;
  const lines = (
    reader === undefined
      ? listLines(data, state, { width, height: room })
      : readerLines(reader, state, data, size)
  ).slice(0, room);
  const filler = Array.from({ length: room - lines.length }, () => BLANK);
  return [...lines, ...filler, ...bottom]
    .slice(-height)
    .map((row) => ({ ...row, spans: cut(row.spans, width) }));
}

function listLines(data: SidebarData, state: SidebarState, { width, height }: ScreenSize): Line[] {
  const top = [...header(data, { width, height }), ...waiting(data, state, width, height)];
  const body = { width, height: Math.max(0, height - top.length) };
  return [...top, ...bodyOf(data, state, body)];
}

function bodyOf(data: SidebarData, state: SidebarState, size: ScreenSize): Line[] {
  if (state.view === "tasks") return taskList(data, state, size);
  if (state.view === "graph") return taskGraph(data, state, size);
  return size.width >= TWO_COLUMNS_FROM ? columns(data, state, size) : stack(data, state, size);
}

function columns(data: SidebarData, state: SidebarState, { width, height }: ScreenSize): Line[] {
  const left = Math.min(COLUMN.max, Math.max(COLUMN.min, Math.floor(width * COLUMN.share)));
  const right = width - left - GAP;
  const members = memberList(data, state, { width: left, height });
  const tasks = taskSection(data, state, right, Math.max(TASK_HEAD, Math.floor(height / 2)), []);
  const messages = messageSection(data, right, height - tasks.length);
  const gap = span(" │ ", { fg: TONE.faint });
  const rows = beside(members, [...tasks, ...messages], left, gap);
  const rest = Array.from({ length: Math.max(0, height - rows.length) }, () =>
    lineOf([span(" ".repeat(left)), gap]),
  );
  return [...rows, ...rest];
}

function stack(data: SidebarData, state: SidebarState, { width, height }: ScreenSize): Line[] {
  const count = shownMembers(state, data).length;
  const least = height >= 4 + TASK_HEAD ? TASK_HEAD : 0;
  const members = memberList(data, state, { width, height: Math.min(height - least, 1 + count * 2) });
  const left = height - members.length;
  const wanted = Math.min(Math.ceil(left / 2), 2 + data.messages.length * 3);
  const forMessages = wanted < MIN_MESSAGES ? 0 : wanted;
  const tasks = least === 0 ? [] : taskSection(data, state, width, left - forMessages, [BLANK]);
  return [...members, ...tasks, ...messageSection(data, width, left - tasks.length, [BLANK])];
}

/** The filter, as a part of a title. */
function titled(title: string, { filter }: SidebarState): string {
  return filter === undefined ? title : `${title} /${filter}`;
}

function memberList(data: SidebarData, state: SidebarState, { width, height }: ScreenSize): Line[] {
  const members = shownMembers(state, data);
  const two = 1 + members.length * 2 <= height;
  const selected = selectedTarget({ ...state, view: "team" }, data);
  const rows = (member: SidebarMember): Line[] =>
    memberRows(member, data, isAt(selected, { kind: "member", name: member.name }), width, two);
  const at = members.findIndex((member) => isAt(selected, { kind: "member", name: member.name }));
  const title = heading(titled("MEMBERS", state), workingCount(data), width);
  return [title, ...around(members, rows, at, height - 1)];
}

/** Title, bar and the tasks that fit: tasks in progress first, then the next ones. */
function taskSection(
  data: SidebarData,
  state: SidebarState,
  width: number,
  room: number,
  before: readonly Line[],
): Line[] {
  const { list } = data.status.tasks;
  const head = [...before, heading("TASKS", taskFigure(list), width), taskBar(list, width)];
  const order = { active: 0, open: 1, blocked: 2, done: 3 };
  const next = shownTasks(state, data)
    .map((task) => ({ task, rank: order[taskState(task, list)] }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, Math.max(0, room - head.length));
  const shown = next.map(({ task }) => task).sort((a, b) => Number(a.id) - Number(b.id));
  return [...head, ...shown.flatMap((task) => taskRows(task, data, false, width))];
}

function messageSection(
  data: SidebarData,
  width: number,
  room: number,
  before: readonly Line[] = [BLANK],
): Line[] {
  if (room < MIN_MESSAGES) return [];
  const head = [...before, heading("MESSAGES", "", width)];
  const rows = messageRows(data, width, room - head.length);
  return rows.length === 0 ? [] : [...head, ...rows];
}

function taskList(data: SidebarData, state: SidebarState, { width, height }: ScreenSize): Line[] {
  const { list } = data.status.tasks;
  const shown = shownTasks(state, data);
  const head = [heading(titled("TASKS", state), taskFigure(list), width), taskBar(list, width)];
  const selected = selectedTarget(state, data);
  const rows = (task: SidebarTask): Line[] =>
    taskRows(task, data, isAt(selected, { kind: "task", id: task.id }), width);
  const at = shown.findIndex((task) => isAt(selected, { kind: "task", id: task.id }));
  return [...head, ...around(shown, rows, at, height - head.length)];
}

function taskGraph(data: SidebarData, state: SidebarState, { width, height }: ScreenSize): Line[] {
  const head = [heading(titled("TASK GRAPH", state), taskFigure(data.status.tasks.list), width)];
  const selected = selectedTarget(state, data);
  const nodes = graphNodes(shownTasks(state, data));
  const isHere = (id: string): boolean => isAt(selected, { kind: "task", id });
  const at = nodes.findIndex(({ task, isRepeated }) => !isRepeated && isHere(task.id));
  const rows = around(
    nodes,
    (node) => [graphRow(node, data, isHere(node.task.id), width)],
    at,
    height - head.length,
  );
  return [...head, ...rows];
}

function isAt(selected: SidebarTarget | undefined, target: SidebarTarget): boolean {
  return selected !== undefined && sameTarget(selected, target);
}
