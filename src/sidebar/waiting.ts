import { deadlockSentence } from "../team/tasks/deadlock.ts";
import { displayWidth } from "../text/cell-width.ts";
import { diffRows } from "../text/diff/diff-rows.ts";
import { shortCall } from "../text/short-call.ts";
import { TONE } from "../text/style.ts";
import { gridText, revealHidden } from "../text/terminal-text.ts";
import type { SidebarApproval, SidebarData } from "./data.ts";
import { wrap } from "./labels.ts";
import { BLANK, bar, cut, INDENT, type Line, lineOf, span } from "./spans.ts";
import { currentRequest, type SidebarState } from "./state.ts";
import { spansOfStyled } from "./styled-spans.ts";

/** Requests shown; of a longer queue, the number of further ones. */
const SHOWN = 3;
const SHOWN_LOW = 1;
/** Rows of a change that are shown in spite of many requests; a lower screen than {@link CHANGE_FROM} shows none. */
const MIN_CHANGE_ROWS = 2;
const CHANGE_FROM = 12;
/** Rows of a title and of a summary. */
const OWN_ROWS = 3;

/**
 * The requests that wait for the user: the selected request with its change, and others with their summary.
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
  const isLow = room < CHANGE_FROM;
  const left = Math.floor(room * 0.45) - listed.length * OWN_ROWS;
  const changeRows = isLow ? 0 : Math.max(MIN_CHANGE_ROWS, left);
  const shown = listed.flatMap((one) => {
    const isCurrent = one === current;
    return waitingItem(one, data, width, {
      isMarked: isCurrent && approvals.length > 1,
      changeRows: isCurrent ? changeRows : 0,
    });
  });
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
  { isMarked, changeRows }: { readonly isMarked: boolean; readonly changeRows: number },
): Line[] {
  const tone = { fg: approval.kind === "crash" ? TONE.bad : TONE.attention };
  const target = { kind: "member", name: approval.from } as const;
  const mark = bar(isMarked);
  const title = [
    mark,
    span("▲", { ...tone, blink: true }),
    span(` ${gridText(approval.from)}`, { ...tone, bold: true }),
    span(` ${ASKS[approval.kind]}`, tone),
  ];
  const room = Math.max(1, width - INDENT);
  const cwd = data.status.members.find(({ name }) => name === approval.from)?.cwd;
  const call = shortCall(approval.summary, cwd, room);
  const summary = wrap(call.text, room, 2);
  const change = changeOf(approval, room, changeRows);
  const isSummaryAll =
    call.isWhole &&
    summary.every((row) => displayWidth(row) <= room) &&
    gridText(call.text) === call.text.replace(/[ \t]+/g, " ").trim();
  const isWhole = approval.kind === "crash" || (approval.partial !== true && isSummaryAll && change.isWhole);
  const lines = [
    lineOf(cut(title, width), target),
    ...summary.map((text) => lineOf(cut([mark, span("  "), span(text)], width), target)),
    ...change.rows.map((row) => lineOf(cut([mark, span("  "), ...spansOfStyled(row)], width), target)),
  ];
  if (!isWhole) return lines;
  return lines.map((line, i) => (i === lines.length - 1 ? { ...line, wholeRequest: approval.id } : line));
}

/** The rows of a requested change, with line numbers, context and colours. */
function changeOf(
  { change = [] }: SidebarApproval,
  width: number,
  limit: number,
): { readonly rows: readonly string[]; readonly isWhole: boolean } {
  if (change.length === 0) return { rows: [], isWhole: true };
  if (limit === 0) return { rows: [], isWhole: false };
  const all = diffRows(change, { width, plain: false });
  const rows = diffRows(change, { width, plain: false, limit });
  // The grid changes some characters that it cannot show; hidden ones are escaped already.
  const isShownAsIs = change.every((text) => {
    const own = revealHidden(text).replaceAll("\t", " ").replace(/\s+/g, " ").trim();
    return gridText(own) === own;
  });
  return { rows, isWhole: rows.length === all.length && rows.at(-1) === all.at(-1) && isShownAsIs };
}
