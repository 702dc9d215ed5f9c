import { deadlockSentence } from "../team/tasks/deadlock.ts";
import { displayWidth } from "../text/cell-width.ts";
import { diffRows } from "../text/diff/diff-rows.ts";
import { isShortened } from "../text/diff/left-out.ts";
import { shortCall } from "../text/short-call.ts";
import { TONE } from "../text/style.ts";
import { gridText, revealHidden } from "../text/terminal-text.ts";
import type { SidebarApproval, SidebarData } from "./data.ts";
import { wrap } from "./labels.ts";
import { BLANK, bar, cut, INDENT, type Line, lineOf, type Span, span, widthOf } from "./spans.ts";
import { askerDirectory, currentRequest, type SidebarState } from "./state.ts";
import { spansOfStyled } from "./views/styled-spans.ts";

/** Maximum number of shown requests, and on a low screen. A longer queue ends in the number of the other requests. */
const SHOWN = 3;
const SHOWN_LOW = 1;
/** Rows of a change that are shown in spite of many requests; a lower screen than {@link CHANGE_FROM} shows none. */
const MIN_CHANGE_ROWS = 2;
const CHANGE_FROM = 12;
/** Rows of a title and of a summary. */
const OWN_ROWS = 3;

/**
 * The requests that wait for the user: the selected request, else the first one, with its change, and others with their summary.
 * @param room rows of the screen; the requests take less than half of them
 */
export function waiting(data: SidebarData, state: SidebarState, width: number, room: number): Line[] {
  const { approvals } = data.status;
  if (approvals.length === 0) return deadlockRows(data, width);
  const current = currentRequest(state, data);
  const limit = room < 16 ? SHOWN_LOW : SHOWN;
  const at = current === undefined ? 0 : approvals.indexOf(current);
  const first = Math.max(0, Math.min(at - limit + 1, approvals.length - limit));
  const listed = approvals.slice(first, first + limit);
  const withChange = current ?? listed[0];
  const isLow = room < CHANGE_FROM;
  const left = Math.floor(room * 0.45) - listed.length * OWN_ROWS;
  const changeRows = isLow ? 0 : Math.max(MIN_CHANGE_ROWS, left);
  const shown = listed.flatMap((one) =>
    waitingItem(one, data, width, {
      isCurrent: one === current,
      changeRows: one === withChange ? changeRows : 0,
    }),
  );
  const more = approvals.length - listed.length;
  return [
    ...deadlockRows(data, width),
    ...shown,
    ...(more > 0 ? [lineOf([span(`   and ${more} more`, { fg: TONE.attention })])] : []),
    ...(isLow ? [] : [BLANK]),
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

function waitingItem(
  approval: SidebarApproval,
  data: SidebarData,
  width: number,
  { isCurrent, changeRows }: { readonly isCurrent: boolean; readonly changeRows: number },
): Line[] {
  const tone = { fg: approval.kind === "crash" ? TONE.bad : TONE.attention };
  const target = { kind: "member", name: approval.from } as const;
  const mark = bar(isCurrent);
  const title = [
    mark,
    span("▲", { ...tone, blink: true }),
    span(` ${gridText(approval.from)}`, { ...tone, bold: true }),
    span(` ${ASKS[approval.kind]}`, tone),
  ];
  const room = Math.max(1, width - INDENT);
  const call = shortCall(approval.summary, askerDirectory(data, approval), room);
  const summary = wrap(call.text, room, 2);
  const change = changeOf(approval, room, changeRows);
  // The rows of a command's change are the command itself. The grid changes some characters, and shows several spaces as one.
  const isSummaryAll =
    isCommand(approval) ||
    (call.isWhole && summary.every((row) => displayWidth(row) <= room) && gridText(call.text) === call.text);
  const isWhole = approval.kind === "crash" || (!saysMore(approval) && isSummaryAll && change.isWhole);
  const rows = [...summary.map((text) => [span(text)]), ...change.rows.map(spansOfStyled)];
  const shown = isWhole || change.isMarked ? rows : withMore(rows, room);
  const lines = [
    lineOf(cut(title, width), target),
    ...shown.map((row) => lineOf(cut([mark, span("  "), ...row], width), target)),
  ];
  // A key answers only the selected request: others are read once they are selected.
  if (!isWhole || !isCurrent) return lines;
  return lines.map((line, i) => (i === lines.length - 1 ? { ...line, wholeRequest: approval.id } : line));
}

/** Whether the lines of a change are those of a command. */
function isCommand({ change = [] }: SidebarApproval): boolean {
  return change[0]?.startsWith("$ ") === true;
}

/** Whether only the whole view shows all of a request: its details, or the answer that a key would give to a question. */
function saysMore({ partial, default: byDefault }: SidebarApproval): boolean {
  return partial === true || byDefault !== undefined;
}

/** Ends the last row in `…`; a row that is too wide gets it when it is cut. */
function withMore(rows: readonly (readonly Span[])[], width: number): readonly (readonly Span[])[] {
  const last = rows.at(-1);
  if (last === undefined || widthOf(last) > width) return rows;
  return [...rows.slice(0, -1), [...cut(last, width - 2), span(" …")]];
}

/** The rows of a requested change, with line numbers, context and colours; `isMarked` if one of them says how much is left out. */
function changeOf(
  { change = [] }: SidebarApproval,
  width: number,
  limit: number,
): { readonly rows: readonly string[]; readonly isWhole: boolean; readonly isMarked: boolean } {
  if (change.length === 0) return { rows: [], isWhole: true, isMarked: false };
  if (limit === 0) return { rows: [], isWhole: false, isMarked: false };
  const all = diffRows(change, { width, plain: false });
  const rows = diffRows(change, { width, plain: false, limit });
  // The grid changes some characters that it cannot show; hidden ones are escaped already.
  const isShownAsIs = change.every((text) => {
    const own = revealHidden(text).replaceAll("\t", " ").replace(/\s+/g, " ").trim();
    return gridText(own) === own;
  });
  const isWhole = rows.length === all.length && rows.at(-1) === all.at(-1) && isShownAsIs;
  // Its last row is a mark if rows, or lines of the change, are left out.
  return { rows, isWhole, isMarked: rows.length < all.length || isShortened(change) };
}
