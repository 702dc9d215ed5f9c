import { TONE } from "../text/style.ts";
import type { SidebarData, SidebarMember, SidebarTask } from "./data.ts";
import { taskState } from "./labels.ts";
import {
  footer,
  header,
  heading,
  help,
  memberRows,
  messageRows,
  taskBar,
  taskFigure,
  taskRows,
  waiting,
  workingCount,
} from "./sections.ts";
import { BLANK, beside, cut, type Line, lineOf, span } from "./spans.ts";
import { type SidebarState, type SidebarTarget, sameTarget, selectedTarget } from "./state.ts";

interface ScreenSize {
  readonly width: number;
  readonly height: number;
}

/** Minimum width for members and the rest side by side. */
const TWO_COLUMNS_FROM = 84;
/** Minimum and maximum width of the members' column, and its share of the width. */
const COLUMN = { min: 34, max: 56, share: 0.42 };
const GAP = 3;
/** Requests shown; of a longer queue, the number of further ones. */
const WAITING_SHOWN = 3;
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
  const bottom = [footer(state, width)];
  const room = height - bottom.length;
  const waits = state.view === "help" ? [] : waiting(data, width, room < 16 ? 1 : WAITING_SHOWN);
  const top = [...header(data, width), ...waits];
  const body = bodyOf(data, state, { width, height: Math.max(0, room - top.length) });
  const lines = [...top, ...body].slice(0, room);
  const filler = Array.from({ length: room - lines.length }, () => BLANK);
  return [...lines, ...filler, ...bottom]
    .slice(-height)
    .map((row) => ({ ...row, spans: cut(row.spans, width) }));
}

function bodyOf(data: SidebarData, state: SidebarState, size: ScreenSize): Line[] {
  if (state.view === "help") return help(size.width).slice(0, size.height);
  if (state.view === "tasks") return taskList(data, state, size);
  return size.width >= TWO_COLUMNS_FROM ? columns(data, state, size) : stack(data, state, size);
}

function columns(data: SidebarData, state: SidebarState, { width, height }: ScreenSize): Line[] {
  const left = Math.min(COLUMN.max, Math.max(COLUMN.min, Math.floor(width * COLUMN.share)));
  const right = width - left - GAP;
  const members = memberList(data, state, { width: left, height });
  const tasks = taskSection(data, right, Math.max(TASK_HEAD, Math.floor(height / 2)), []);
  const messages = messageSection(data, right, height - tasks.length);
  const gap = span(" │ ", { fg: TONE.faint });
  const rows = beside(members, [...tasks, ...messages], left, gap);
  const rest = Array.from({ length: Math.max(0, height - rows.length) }, () =>
    lineOf([span(" ".repeat(left)), gap]),
  );
  return [...rows, ...rest];
}

function stack(data: SidebarData, state: SidebarState, { width, height }: ScreenSize): Line[] {
  const count = data.status.members.length;
  const least = height >= 4 + TASK_HEAD ? TASK_HEAD : 0;
  const members = memberList(data, state, { width, height: Math.min(height - least, 1 + count * 2) });
  const left = height - members.length;
  const wanted = Math.min(Math.ceil(left / 2), 2 + data.messages.length * 3);
  const forMessages = wanted < MIN_MESSAGES ? 0 : wanted;
  const tasks = least === 0 ? [] : taskSection(data, width, left - forMessages, [BLANK]);
  return [...members, ...tasks, ...messageSection(data, width, left - tasks.length, [BLANK])];
}

function memberList(data: SidebarData, state: SidebarState, { width, height }: ScreenSize): Line[] {
  const { members } = data.status;
  const two = 1 + members.length * 2 <= height;
  const selected = selectedTarget({ ...state, view: "team" }, data);
  const rows = (member: SidebarMember): Line[] =>
    memberRows(member, data, isAt(selected, { kind: "member", name: member.name }), width, two);
  const at = members.findIndex((member) => isAt(selected, { kind: "member", name: member.name }));
  return [heading("MEMBERS", workingCount(data), width), ...around(members, rows, at, height - 1)];
}

/** Title, bar and the tasks that fit: tasks in progress first, then the next ones. */
function taskSection(data: SidebarData, width: number, room: number, before: readonly Line[]): Line[] {
  const { list } = data.status.tasks;
  const head = [...before, heading("TASKS", taskFigure(list), width), taskBar(list, width)];
  const order = { active: 0, open: 1, blocked: 2, done: 3 };
  const next = list
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
  if (room < MIN_MESSAGES || data.messages.length === 0) return [];
  const head = [...before, heading("MESSAGES", "", width)];
  return [...head, ...messageRows(data, width, room - head.length)];
}

function taskList(data: SidebarData, state: SidebarState, { width, height }: ScreenSize): Line[] {
  const { list } = data.status.tasks;
  const head = [heading("TASKS", taskFigure(list), width), taskBar(list, width)];
  const selected = selectedTarget(state, data);
  const rows = (task: SidebarTask): Line[] =>
    taskRows(task, data, isAt(selected, { kind: "task", id: task.id }), width);
  const at = list.findIndex((task) => isAt(selected, { kind: "task", id: task.id }));
  return [...head, ...around(list, rows, at, height - head.length)];
}

/**
 * Returns the blocks around the selected item's block that fit into `room` rows, and the number of omitted ones on either side. Renders
 * only the blocks that may fit: a block has at least one row.
 */
function around<T>(items: readonly T[], rowsOf: (item: T) => Line[], at: number, room: number): Line[] {
  const blocks: Line[][] = [];
  const block = (index: number): Line[] | undefined => {
    const item = items[index];
    if (item !== undefined) blocks[index] ??= rowsOf(item);
    return blocks[index];
  };
  const all = items.length > room ? undefined : items.flatMap((_, index) => block(index) ?? []);
  if (all !== undefined && all.length <= room) return all;
  let from = Math.max(0, at);
  let to = from;
  let used = block(from)?.length ?? 0;
  for (let grew = true; grew; ) {
    grew = false;
    for (const [side, index] of [
      ["to", to + 1],
      ["from", from - 1],
    ] as const) {
      const size = block(index)?.length;
      if (size === undefined || used + size > room - 1) continue;
      used += size;
      if (side === "to") to = index;
      else from = index;
      grew = true;
    }
  }
  const below = items.length - 1 - to;
  const more = [from > 0 ? `↑ ${from}` : "", below > 0 ? `↓ ${below}` : ""].filter((part) => part !== "");
  const mark = lineOf([span(`   ${more.join("  ")} more`, { fg: TONE.quiet })]);
  return [...blocks.slice(from, to + 1).flat(), mark].slice(0, Math.max(0, room));
}

function isAt(selected: SidebarTarget | undefined, target: SidebarTarget): boolean {
  return selected !== undefined && sameTarget(selected, target);
}
