import { headlineOf } from "../protocol/render.ts";
import { sameName } from "../schema/names.ts";
import { deadlockSentence } from "../team/tasks/deadlock.ts";
import { displayWidth } from "../text/cell-width.ts";
import { memberColor, TONE } from "../text/style.ts";
import { gridText } from "../text/terminal-text.ts";
import type { MessageLine, SidebarApproval, SidebarData, SidebarMember, SidebarTask } from "./data.ts";
import { KEYS } from "./keys.ts";
import {
  activityOf,
  lookOf,
  STATE_LOOKS,
  shortCount,
  TASK_LOOKS,
  type TaskState,
  taskState,
  totalTokens,
  wrap,
} from "./labels.ts";
import { BLANK, cut, ends, type Line, lineOf, type Span, type SpanStyle, span } from "./spans.ts";
import type { Answer, SidebarState } from "./state.ts";

/** Minimum width for tokens: below it, the name needs the room. */
const TOKENS_FROM = 26;
/** Minimum width for a message's text in the same row as its names. */
const ONE_LINE_MESSAGE_FROM = 56;
const INDENT = 3;
/** Rows of a requested change; the agent's pane and `teams approvals` show more. */
const CHANGE_ROWS = 2;

const quiet: SpanStyle = { fg: TONE.quiet };
const faint: SpanStyle = { fg: TONE.faint };

/** The team's name and the tokens that it has used. */
export function header(data: SidebarData, width: number): Line[] {
  const { team, displayName = team, members } = data.status;
  const total = shortCount(members.reduce((sum, member) => sum + totalTokens(member.tokens), 0));
  const used = total === "" || width < TOKENS_FROM ? [] : [span(`${total} tokens`, quiet)];
  return [lineOf(ends([span(" "), span(gridText(displayName), { bold: true })], used, width)), BLANK];
}

/** The requests that wait for the user: at most `limit`, each with up to two rows of its summary. */
export function waiting(data: SidebarData, width: number, limit: number): Line[] {
  const { approvals } = data.status;
  if (approvals.length === 0) return deadlockRows(data, width);
  const shown = approvals.slice(0, limit).flatMap((approval) => waitingItem(approval, width));
  const more = approvals.length - limit;
  return [
    ...deadlockRows(data, width),
    ...shown,
    ...(more > 0 ? [lineOf([span(`   and ${more} more`, { fg: TONE.attention })])] : []),
    BLANK,
  ];
}

/** A deadlock of the team and its reason. */
function deadlockRows({ status: { deadlock } }: SidebarData, width: number): Line[] {
  if (deadlock === null || deadlock === undefined) return [];
  const tone = { fg: TONE.bad };
  const title = [span(" "), span("▲", { ...tone, blink: true }), span(" no member can continue", tone)];
  const why = wrap(deadlockSentence(deadlock), width - INDENT, 2);
  return [
    lineOf(cut(title, width)),
    ...why.map((text) => lineOf(cut([span("   "), span(gridText(text))], width))),
    BLANK,
  ];
}

const ASKS: Readonly<Record<SidebarApproval["kind"], string>> = {
  plan: "asks to approve its plan",
  permission: "asks for permission",
  question: "has a question",
  crash: "crashed",
};

function waitingItem(approval: SidebarApproval, width: number): Line[] {
  const tone = { fg: approval.kind === "crash" ? TONE.bad : TONE.attention };
  const target = { kind: "member", name: approval.from } as const;
  const title = [
    span(" "),
    span("▲", { ...tone, blink: true }),
    span(` ${gridText(approval.from)}`, { ...tone, bold: true }),
    span(` ${ASKS[approval.kind]}`, tone),
  ];
  const about = [
    ...wrap(approval.summary, width - INDENT, 2),
    ...(approval.change ?? []).slice(0, CHANGE_ROWS).map(gridText),
  ];
  return [
    lineOf(cut(title, width), target),
    ...about.map((text) => lineOf(cut([span("   "), span(text)], width), target)),
  ];
}

/** A section's title, with a figure at the right end. */
export function heading(title: string, figure: string, width: number): Line {
  return lineOf(
    ends([span(` ${title}`, { ...quiet, bold: true })], figure === "" ? [] : [span(figure, quiet)], width),
  );
}

export function workingCount(data: SidebarData): string {
  const working = data.status.members.filter((member) => member.state === "running").length;
  return working === 0 ? "" : `${working} working`;
}

/** A member in one row, or in two with its activity. */
export function memberRows(
  member: SidebarMember,
  data: SidebarData,
  selected: boolean,
  width: number,
  two: boolean,
): Line[] {
  const look = lookOf(member, data.status);
  const color = { fg: memberColor(member.color) };
  const gone = member.state === "exited";
  const target = { kind: "member", name: member.name } as const;
  const left = [
    bar(selected),
    span(look.sign, { fg: look.tone ?? color.fg, blink: look.blink === true }),
    span(` ${gridText(member.name)}`, gone ? quiet : { ...color, bold: true }),
  ];
  const first = lineOf(ends(left, figures(member, width), width), target);
  if (!two) return [first];
  const tone = { fg: look.tone ?? (member.state === "running" ? TONE.quiet : TONE.faint) };
  return [
    first,
    lineOf(cut([bar(selected), span("  "), span(activityOf(member, data.status), tone)], width), target),
  ];
}

function figures(member: SidebarMember, width: number): Span[] {
  const [task, ...others] = member.taskIds;
  const parts: Span[] = [];
  if (task !== undefined)
    parts.push(span(`#${gridText(task)}${others.length > 0 ? `+${others.length}` : ""}`));
  if (member.unread > 0) parts.push(span(`↓${shortCount(member.unread)}`, { fg: TONE.attention }));
  if (width >= TOKENS_FROM) parts.push(span(shortCount(totalTokens(member.tokens)).padStart(5), quiet));
  return parts.flatMap((part, i) => (i === 0 ? [part] : [span(" "), part]));
}

function bar(selected: boolean): Span {
  return selected ? span("▌", { fg: TONE.busy, bold: true }) : span(" ");
}

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

/** A task in one row; a selected task with its full subject and what it waits for. */
export function taskRows(task: SidebarTask, data: SidebarData, selected: boolean, width: number): Line[] {
  const { list } = data.status.tasks;
  const state = taskState(task, list);
  const look = TASK_LOOKS[state];
  const target = { kind: "task", id: task.id } as const;
  const digits = Math.max(...list.map(({ id }) => id.length));
  const ownerSpan = (name: string): Span =>
    state === "done" ? span(gridText(name), quiet) : nameSpan(name, data);
  const begin = [
    bar(selected),
    span(look.sign, { fg: look.tone }),
    span(` ${task.id.padStart(digits)} `, quiet),
  ];
  const text = state === "done" || state === "blocked" ? quiet : {};
  const owner = task.owner === undefined || width < TOKENS_FROM ? [] : [ownerSpan(task.owner)];
  if (!selected) return [lineOf(ends([...begin, span(gridText(task.subject), text)], owner, width), target)];
  const indent = INDENT + digits + 1;
  const room = width - indent - (owner.length > 0 ? displayWidth(owner[0]?.text ?? "") + 1 : 0);
  const [first = "", ...rest] = wrap(task.subject, Math.max(8, room), 3);
  const waits = state === "blocked" ? `after ${task.blockedBy.map((id) => `#${id}`).join(" ")}` : look.word;
  const below = [...rest.map((row) => span(row)), span(waits, { fg: look.tone })];
  return [
    lineOf(ends([...begin, span(first, { bold: true })], owner, width), target),
    ...below.map((row) => lineOf(cut([bar(true), span(" ".repeat(indent - 1)), row], width), target)),
  ];
}

/** The newest messages that fit into `room` rows, the newest last; if none fits, the beginning of the newest. */
export function messageRows(data: SidebarData, width: number, room: number): Line[] {
  const rows: Line[] = [];
  for (const message of data.messages.toReversed()) {
    const next = messageLines(message, data, width);
    if (rows.length === 0) rows.push(...next.slice(0, room));
    else if (rows.length + next.length <= room) rows.unshift(...next);
    else break;
  }
  return rows;
}

function messageLines(message: MessageLine, data: SidebarData, width: number): Line[] {
  const text = gridText(headlineOf(message.text, message.summary));
  const names = [span(" "), nameSpan(message.from, data), span(" → ", faint), nameSpan(message.to, data)];
  const at = [span(clockTime(message.at), faint)];
  if (width >= ONE_LINE_MESSAGE_FROM) return [lineOf(ends([...names, span(`  ${text}`, quiet)], at, width))];
  const time = width < TOKENS_FROM ? [] : at;
  const rows = wrap(text, width - INDENT, 2);
  return [
    lineOf(ends(names, time, width)),
    ...rows.map((row) => lineOf(cut([span("   "), span(row, quiet)], width))),
  ];
}

function nameSpan(name: string, data: SidebarData): Span {
  const member = data.status.members.find((candidate) => sameName(candidate.name, name));
  return span(gridText(name), { fg: memberColor(member?.color) });
}

/** Hours and minutes. An age would soon be wrong, since the sidebar does not redraw on a timer. */
function clockTime(at: number): string {
  const date = new Date(at);
  return `${String(date.getHours()).padStart(2, "0")}:${String(date.getMinutes()).padStart(2, "0")}`;
}

/** The notice about the last key, else the key hints that fit; help and close are dropped last. */
export function footer(state: SidebarState, width: number): Line {
  if (state.answer !== undefined) return answerLine(state.answer, width);
  if (state.notice !== undefined) {
    return lineOf(cut([span(` ${gridText(state.notice)}`, { fg: TONE.attention })], width));
  }
  let left = width;
  const hints: Span[][] = [];
  for (const { label, short, hint } of KEYS.filter((key) => key.hint !== undefined).toReversed()) {
    const cells = displayWidth(`${short ?? label} ${hint}`) + 2;
    if (cells > left + 1) break;
    left -= cells;
    hints.unshift([span(` ${short ?? label}`, { bold: true }), span(` ${hint}`, quiet)]);
  }
  return lineOf(hints.flatMap((hint, i) => (i === 0 ? hint : [span(" "), ...hint])));
}

/** The input line of a note; shows its end if it is too long. */
function answerLine({ approve, from, note }: Answer, width: number): Line {
  const what = [
    span(approve ? " approve " : " reject ", { fg: approve ? TONE.good : TONE.bad, bold: true }),
    span(`${gridText(from)}: `, { bold: true }),
  ];
  const room = width - 1 - what.reduce((sum, { text }) => sum + displayWidth(text), 0);
  const shown = [...gridText(note)];
  while (displayWidth(shown.join("")) > Math.max(0, room)) shown.shift();
  return lineOf(cut([...what, span(shown.join("")), span("▏", { blink: true })], width));
}

/** All keys and the meaning of the signs. */
export function help(width: number): Line[] {
  const keys = KEYS.map(({ label, does }) => [span(` ${label.padEnd(6)}`, { bold: true }), span(does)]);
  const states = Object.values(STATE_LOOKS).map(({ sign, word, tone }) => [
    span(` ${sign.padEnd(6)}`, { fg: tone }),
    span(word),
  ]);
  const tasks = Object.values(TASK_LOOKS).map(({ sign, word, tone }) => [
    span(` ${sign.padEnd(6)}`, { fg: tone }),
    span(word),
  ]);
  const figures = [
    [span(" #3    "), span("its task")],
    [span(" ↓2    ", { fg: TONE.attention }), span("unread messages")],
    [span(" 12.3k ", quiet), span("tokens in and out")],
  ];
  const part = (title: string, rows: Span[][]): Line[] => [
    heading(title, "", width),
    ...rows.map((row) => lineOf(cut(row, width))),
    BLANK,
  ];
  return [
    ...part("KEYS", keys),
    ...part("MEMBERS", states),
    ...part("TASKS", tasks),
    ...part("FIGURES", figures),
  ];
}
