import { parseProtocol } from "../protocol/messages.ts";
import { headlineOf } from "../protocol/render.ts";
import { sameName } from "../schema/names.ts";
import { memberColor, TONE } from "../text/style.ts";
import { gridText } from "../text/terminal-text.ts";
import type { MessageLine, SidebarData } from "./data.ts";
import { wrap } from "./labels.ts";
import {
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

/** Minimum width for a message's text in the same row as its names. */
const ONE_LINE_MESSAGE_FROM = 56;

const quiet: SpanStyle = { fg: TONE.quiet };
const faint: SpanStyle = { fg: TONE.faint };

/** Requests wait at the top of the sidebar, where they can be answered: a message would show them twice. */
const REQUESTS: ReadonlySet<string> = new Set([
  "permission_request",
  "plan_approval_request",
  "question_request",
  "sandbox_permission_request",
]);

/** Whether a message is a request for the user. */
function isRequest(text: string): boolean {
  return text.trimStart().startsWith("{") && REQUESTS.has(parseProtocol(text)?.type ?? "");
}

/** The newest messages that fit into `room` rows, the newest last; if none fits, the beginning of the newest. */
export function messageRows(data: SidebarData, width: number, room: number): Line[] {
  const rows: Line[] = [];
  for (const message of data.messages.toReversed().filter(({ text }) => !isRequest(text))) {
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
  const at = [span(clockTime(message.at, data.now), faint)];
  if (width >= ONE_LINE_MESSAGE_FROM) return [lineOf(ends([...names, span(`  ${text}`, quiet)], at, width))];
  const time = width < FIGURES_FROM ? [] : at;
  const rows = wrap(text, width - INDENT, 2);
  return [
    lineOf(ends(names, time, width)),
    ...rows.map((row) => lineOf(cut([span("   "), span(row, quiet)], width))),
  ];
}

export function nameSpan(name: string, data: SidebarData): Span {
  const member = data.status.members.find((candidate) => sameName(candidate.name, name));
  return span(gridText(name), { fg: memberColor(member?.color) });
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/**
 * Hours and minutes, with the day if that is not today: `Nov 28 23:25`. An age would soon be wrong, since the sidebar does not
 * redraw on a timer.
 */
export function clockTime(at: number, now = at): string {
  const [date, today] = [new Date(at), new Date(now)];
  const two = (value: number): string => String(value).padStart(2, "0");
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (date.toDateString() === today.toDateString()) return time;
  const day = `${MONTHS[date.getMonth()]} ${date.getDate()}`;
  return date.getFullYear() === today.getFullYear() ? `${day} ${time}` : `${day} ${date.getFullYear()}`;
}
