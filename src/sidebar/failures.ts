import { parseProtocol } from "../protocol/messages.ts";
import { TONE } from "../text/style.ts";
import { gridText } from "../text/terminal-text.ts";
import type { MessageLine, SidebarData, SidebarTask } from "./data.ts";
import { wrap } from "./labels.ts";
import { cut, type Line, lineOf, span } from "./spans.ts";
import type { ScreenSize, SidebarState } from "./state.ts";

/** Maximum number of failures that are kept, and of rows for each. */
const KEPT = 3;
const ROWS = 2;
/** Minimum height for more than one failure. */
const ALL_FROM = 20;

/**
 * Returns the failures between two reads of the team. A crash is not among them: it waits as a request.
 * @param before undefined for the first read, which has no new failure
 */
export function newFailures(before: SidebarData | undefined, data: SidebarData): readonly string[] {
  if (before === undefined) return [];
  const { status } = data;
  const members = status.members.flatMap(({ name, state, activity }) => {
    const was = before.status.members.find((one) => one.name === name)?.state;
    return state === "failed" && was !== "failed"
      ? [`${name} failed${activity === "" ? "" : `: ${activity}`}`]
      : [];
  });
  const failed = ({ shown }: SidebarTask): boolean => shown === "failed";
  const known = new Set(before.status.tasks.list.filter(failed).map(({ id }) => id));
  const tasks = status.tasks.list
    .filter((task) => failed(task) && !known.has(task.id))
    .map(({ id, subject }) => `the verify command of #${id} failed: ${subject}`);
  return [...members, ...failedTurns(before, data), ...tasks];
}

/** Returns the failed turns that new messages report: after such a turn, our own agents are idle. */
function failedTurns(before: SidebarData, { status, messages }: SidebarData): readonly string[] {
  const keyOf = ({ at, from, text }: MessageLine): string => `${at} ${from} ${text}`;
  const known = new Set(before.messages.map(keyOf));
  const shown = new Set(status.members.flatMap(({ name, state }) => (state === "failed" ? [name] : [])));
  return messages.flatMap((message) => {
    if (known.has(keyOf(message)) || shown.has(message.from)) return [];
    const notice = parseProtocol(message.text);
    if (notice?.type !== "idle_notification" || notice.idleReason !== "failed") return [];
    return [`${message.from} failed${notice.failureReason ? `: ${notice.failureReason}` : ""}`];
  });
}

export function withFailures(state: SidebarState, failures: readonly string[]): SidebarState {
  const { failures: before = [] } = state;
  // A failure that lasts is reported once.
  const fresh = failures.filter((text) => !before.includes(text));
  return fresh.length === 0 ? state : { ...state, failures: [...before, ...fresh].slice(-KEPT) };
}

/** The failures above the footer, the newest last. */
export function failureLines({ failures = [] }: SidebarState, { width, height }: ScreenSize): Line[] {
  const shown = height >= ALL_FROM ? failures : failures.slice(-1);
  return shown.flatMap((text) =>
    wrap(gridText(text), Math.max(8, width - 3), ROWS).map((part, i) =>
      lineOf(
        cut(
          [span(i === 0 ? " ✗ " : "   ", { fg: TONE.bad, bold: true }), span(part, { fg: TONE.bad })],
          width,
        ),
      ),
    ),
  );
}
