import { TONE } from "../../text/style.ts";
import { gridText } from "../../text/terminal-text.ts";
import type { SidebarData } from "../data.ts";
import type { Reader } from "../documents.ts";
import { failureLines } from "../failures.ts";
import { footer, hintLimit } from "../footer.ts";
import type { Condition } from "../keys.ts";
import { BLANK, bar, cut, ends, type Line, lineOf, type Span, span } from "../spans.ts";
import { commentsOn, listConditions, type ScreenSize, type SidebarState } from "../state.ts";
import { diffFigures } from "./diff-view.ts";
import { documentRows } from "./document-rows.ts";
import { grows, hasCursor, highlighted, type ReaderRow, windowOf } from "./reader.ts";
import { requestTitle } from "./whole-view.ts";

/** Minimum height for a blank line below the title. */
const BLANK_FROM = 16;
/** The column of the mark of the selected row. */
const MARGIN = 1;

/** Returns the rows of the document for a screen. */
export function rowsFor(
  reader: Reader,
  state: SidebarState,
  data: SidebarData,
  { width }: Pick<ScreenSize, "width">,
): readonly ReaderRow[] {
  const { source } = reader;
  const comments = commentsOn(state, source.kind === "diff" ? source.member : "");
  return documentRows(reader, { data, comments, width: Math.max(1, width - MARGIN) });
}

/** Returns the conditions of keys that hold now. */
export function conditions(state: SidebarState, data: SidebarData, size: ScreenSize): ReadonlySet<Condition> {
  const { reader } = state;
  if (reader === undefined) return listConditions(state, data);
  const { source, content, search } = reader;
  const rows = rowsFor(reader, state, data, size);
  const below = failureLines(state, size).length + hintLimit(size);
  const facts: readonly (readonly [Condition, boolean])[] = [
    ["has-rules", content?.kind === "request" && (content.request.always ?? []).length > 0],
    ["has-more", rows.length > size.height - headRows(size) - below],
    ["has-place", rows[reader.cursor]?.place !== undefined],
    ["has-comments", source.kind === "diff" && commentsOn(state, source.member).length > 0],
    ["has-files", content?.kind === "diff" && content.diff.files.length > 1],
    ["has-search", search !== undefined],
  ];
  return new Set(facts.flatMap(([condition, holds]) => (holds ? [condition] : [])));
}

/** Returns the failures and the footer. */
export function bottomLines(state: SidebarState, data: SidebarData, size: ScreenSize): readonly Line[] {
  const keys = footer(state, conditions(state, data, size), size);
  const failures = failureLines(state, size);
  return [...failures, ...keys].slice(-size.height);
}

function headRows({ height }: ScreenSize): number {
  return height < BLANK_FROM ? 1 : 2;
}

/** Returns how many rows of a document the screen shows. */
export function readerRoom(state: SidebarState, data: SidebarData, size: ScreenSize): number {
  return Math.max(1, size.height - headRows(size) - bottomLines(state, data, size).length);
}

/** Records which rows of a request are on the screen, before a key moves them. */
export function withRead(state: SidebarState, data: SidebarData, size: ScreenSize): SidebarState {
  const { reader } = state;
  if (reader?.source.kind !== "request" || reader.content === undefined) return state;
  const { length } = rowsFor(reader, state, data, size);
  const rows = rowsRead(reader, length, readerRoom(state, data, size), size.width);
  return { ...state, reader: { ...reader, read: { width: size.width, rows } } };
}

/** Returns how many rows were on the screen, from the first one without a gap. At another width the rows differ, so it starts over. */
function rowsRead(reader: Reader, count: number, room: number, width: number): number {
  const before = reader.read?.width === width ? reader.read.rows : 0;
  const { top } = windowOf(reader, count, room);
  return top > before ? before : Math.max(before, Math.min(count, top + room));
}

/** Renders the document of a state, without the rows below it. */
export function readerLines(
  reader: Reader,
  state: SidebarState,
  data: SidebarData,
  size: ScreenSize,
): readonly Line[] {
  const { width } = size;
  const rows = rowsFor(reader, state, data, size);
  const room = readerRoom(state, data, size);
  const { top, cursor } = windowOf(reader, rows.length, room);
  const shown = rows.slice(top, top + room);
  const isRead = rowsRead(reader, rows.length, room, width) >= rows.length;
  const range = rows.length <= room ? "" : `${top + 1}–${top + shown.length} of ${rows.length}`;
  const position = reader.top === "end" && grows(reader) ? "following" : range;
  const title = lineOf(ends([span(" "), ...titleOf(reader)], [span(position, { fg: TONE.quiet })], width));
  const lines = shown.map((one, i): Line => {
    const index = top + i;
    const isSelected = hasCursor(reader) && index === cursor;
    const { search } = reader;
    const spans = search === undefined ? one.spans : highlighted(one.spans, search);
    const line = lineOf(cut([bar(isSelected), ...spans], width), { kind: "row", index });
    const isLast = i === shown.length - 1;
    return isRead && isLast && reader.source.kind === "request"
      ? { ...line, wholeRequest: reader.source.id }
      : line;
  });
  const loading = reader.content === undefined ? [lineOf([span(" reading …", { fg: TONE.quiet })])] : [];
  return [title, ...(headRows(size) > 1 ? [BLANK] : []), ...loading, ...lines];
}

function titleOf({ source, content }: Reader): Span[] {
  switch (source.kind) {
    case "request":
      return content?.kind === "request"
        ? requestTitle(content.request)
        : [span(gridText(source.from), { bold: true })];
    case "diff": {
      if (content?.kind !== "diff") return titleWith(source.member, "changes");
      const { added, removed } = diffFigures(content.diff);
      return [
        ...titleWith(source.member, "changes "),
        span(`+${added}`, { fg: TONE.good }),
        span(` -${removed}`, { fg: TONE.bad }),
      ];
    }
    case "task":
      return titleWith(`#${source.id}`, "task");
    case "messages":
    case "log":
      return titleWith(source.member, source.kind === "log" ? "log" : "messages");
    case "teams":
      return [span("TEAMS", { bold: true })];
    case "help":
      return [span("HELP", { bold: true })];
  }
}

function titleWith(name: string, what: string): Span[] {
  return [span(gridText(name), { bold: true }), span(` · ${what}`, { fg: TONE.quiet })];
}
