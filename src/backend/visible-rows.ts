import { readTail } from "../os/files/file-parts.ts";
import { fileSize, readFrom } from "../os/files/fs.ts";
import type { Screen } from "../tmux/screen.ts";

/** A row and its position among all rows that its surface has shown. */
interface VisibleRow {
  /** The row number in the screen and its history; in a log, the byte offset. */
  readonly at: number;
  readonly text: string;
}

/** The rows that an agent shows at one moment, comparable with an earlier moment by {@link changesSince}. */
export interface VisibleRows {
  readonly surface: "screen" | "alternate" | "log";
  /** Without blank rows at the end. */
  readonly rows: readonly VisibleRow[];
  /** Rows before this position have scrolled away or are complete, so they never change. */
  readonly settled: number;
  /** Once this many rows have settled, the oldest rows are dropped and the positions of all others change. */
  readonly maxSettled: number;
}

export interface ScreenChanges {
  readonly rows: readonly string[];
  /** Number of rows that appeared and disappeared between the two readings; undefined if unknown. */
  readonly leftOut: number | undefined;
}

/** The last rows of each surface: a program that leaves the alternate screen continues on its earlier screen. */
export type LastSeen = Readonly<Partial<Record<VisibleRows["surface"], VisibleRows>>>;

/** Returns the rows that changed, oldest first, and the state to pass with the next rows. */
export function changesSince(
  seen: LastSeen,
  now: VisibleRows,
): { readonly changes: ScreenChanges; readonly seen: LastSeen } {
  const before = seen[now.surface];
  const changes = before === undefined ? { rows: textsOf(now.rows), leftOut: 0 } : compare(before, now);
  return { changes, seen: { ...seen, [now.surface]: now } };
}

function compare(before: VisibleRows, now: VisibleRows): ScreenChanges {
  if (isSame(before.rows, now.rows)) return { rows: [], leftOut: 0 };
  const shift = shiftBetween(before, now);
  if (shift === undefined) return { rows: textsOf(now.rows), leftOut: undefined };
  const known = new Map(before.rows.map(({ at, text }) => [at + shift, text]));
  // A cleared row has no text to report.
  const rows = now.rows.filter(({ at, text }) => known.get(at) !== text && !(text === "" && known.has(at)));
  return { rows: textsOf(rows), leftOut: gapBetween(before, now, shift) };
}

/** Number of rows between the last known and the first visible one; undefined in a log, whose positions are bytes. */
function gapBetween(before: VisibleRows, now: VisibleRows, shift: number): number | undefined {
  const first = now.rows[0]?.at;
  const next = (before.rows.at(-1)?.at ?? before.settled - 1) + shift + 1;
  if (first === undefined || first <= next) return 0;
  return now.surface === "log" ? undefined : first - next;
}

/**
 * The difference between the positions of two readings: 0 unless the history was full, cleared or rewrapped, or an
 * alternate screen has scrolled. Undefined if the readings have nothing in common.
 */
function shiftBetween(before: VisibleRows, now: VisibleRows): number | undefined {
  if (now.surface === "alternate")
    return similarity(before, now, 0) >= MIN_SIMILARITY ? 0 : (bestShift(before, now) ?? 0);
  const cannotHaveMoved = now.settled >= before.settled && now.settled < now.maxSettled;
  return cannotHaveMoved && isContinued(before, now) ? 0 : bestShift(before, now);
}

/** True if no settled row has changed. A settled row that is no longer visible counts as unchanged. */
function isContinued(before: VisibleRows, now: VisibleRows): boolean {
  const known = new Map(now.rows.map(({ at, text }) => [at, text]));
  return before.rows.every(({ at, text }) => at >= before.settled || (known.get(at) ?? text) === text);
}

/** Two readings match if at least this share of the rows at the same positions is equal. */
const MIN_SIMILARITY = 0.5;

function similarity(before: VisibleRows, now: VisibleRows, shift: number): number {
  const known = new Map(before.rows.map(({ at, text }) => [at + shift, text]));
  const shared = now.rows.filter(({ at, text }) => text !== "" && known.has(at));
  const same = shared.filter(({ at, text }) => known.get(at) === text);
  return shared.length === 0 ? 0 : same.length / shared.length;
}

/** The shift under which most rows are equal; among several, the smallest. */
function bestShift(before: VisibleRows, now: VisibleRows): number | undefined {
  const places = new Map<string, number[]>();
  for (const { at, text } of before.rows) {
    if (text !== "") places.set(text, [...(places.get(text) ?? []).slice(1 - MAX_ALIKE), at]);
  }
  const votes = new Map<number, number>();
  for (const { at, text } of now.rows) {
    for (const was of places.get(text) ?? []) votes.set(at - was, (votes.get(at - was) ?? 0) + 1);
  }
  const [best] = [...votes].sort(([a, one], [b, other]) => other - one || Math.abs(a) - Math.abs(b));
  return best !== undefined && similarity(before, now, best[0]) >= MIN_SIMILARITY ? best[0] : undefined;
}

/** Maximum number of identical rows that are compared: they say little about the shift. */
const MAX_ALIKE = 50;

function isSame(one: readonly VisibleRow[], other: readonly VisibleRow[]): boolean {
  return (
    one.length === other.length &&
    one.every(({ at, text }, i) => other[i]?.at === at && other[i].text === text)
  );
}

function textsOf(rows: readonly VisibleRow[]): string[] {
  return rows.map(({ text }) => text);
}

/** Numbers rows, starting at a first position, and drops blank rows at the end. */
export function rowsFrom(texts: readonly string[], first: number): VisibleRow[] {
  const last = texts.findLastIndex((text) => text !== "");
  return texts.slice(0, last + 1).map((text, i) => ({ at: first + i, text }));
}

/** Bytes that are read at the end of a log: a few thousand lines. */
const TAIL_BYTES = 256 * 1024;

/** Returns the last lines of a log, oldest first; undefined if the file is missing. */
export function logTail(path: string, lines: number): readonly string[] | undefined {
  const text = readTail(path, TAIL_BYTES);
  if (text === undefined) return undefined;
  return text === "" ? [] : text.replace(/\n$/, "").split("\n").slice(-lines);
}

/** Returns the last rows of a log, each at its byte offset; undefined if the file is missing. */
export function visibleRowsOfLog(path: string): VisibleRows | undefined {
  const from = Math.max(0, (fileSize(path) ?? 0) - TAIL_BYTES);
  const bytes = readFrom(path, from);
  if (bytes === undefined) return undefined;
  const rows: VisibleRow[] = [];
  let start = from === 0 ? 0 : bytes.indexOf(LINE_END) + 1;
  for (let end = start; end < bytes.length; start = end + 1) {
    end = bytes.indexOf(LINE_END, start);
    if (end === -1) end = bytes.length;
    if (start < bytes.length) rows.push({ at: from + start, text: bytes.toString("utf8", start, end) });
  }
  const settled = from + bytes.lastIndexOf(LINE_END) + 1;
  return { surface: "log", rows, settled, maxSettled: Number.POSITIVE_INFINITY };
}

const LINE_END = 0x0a;

/** Maximum history rows in one reading, about 0.1 MB. If more rows pass between two readings, `leftOut` counts the rest. */
export const HISTORY_ROWS = 1_000;

/** Converts a pane's screen to rows whose positions count from the start of its history. */
export function visibleRowsOfScreen({ rows, height, history, historyLimit, alternate }: Screen): VisibleRows {
  if (alternate) {
    // The history above belongs to the normal screen.
    const visible = rows.slice(-height);
    return {
      surface: "alternate",
      rows: rowsFrom(visible, 0),
      settled: 0,
      maxSettled: Number.POSITIVE_INFINITY,
    };
  }
  return {
    surface: "screen",
    rows: rowsFrom(rows, history - (rows.length - height)),
    settled: history,
    // At its limit, tmux drops the oldest tenth of the history at once, and at least one row.
    maxSettled: historyLimit - Math.max(1, Math.floor(historyLimit / 10)),
  };
}
