import { fileSize, readFrom, readTail } from "../os/files/fs.ts";

/** One row, and where it stands among all that its surface has shown. */
interface VisibleRow {
  readonly at: number;
  readonly text: string;
}

/** What is to be seen of an agent at one moment, for one that looks again and again. */
export interface VisibleRows {
  readonly surface: "screen" | "alternate" | "log";
  /** Without the blank ones at the end. */
  readonly rows: readonly VisibleRow[];
  /** Rows before this position have scrolled away, or were written to their end: they never change. */
  readonly settled: number;
  /** From so many settled rows on, the oldest go and the positions of all others change. */
  readonly maxSettled: number;
}

export interface ScreenChanges {
  readonly rows: readonly string[];
  /** Rows that came and went unseen before these; undefined when nobody can say how many. */
  readonly leftOut: number | undefined;
}

/** What was seen last, of each surface: a program that leaves the alternate screen goes on where it was. */
export type LastSeen = Readonly<Partial<Record<VisibleRows["surface"], VisibleRows>>>;

/** What has changed since, oldest first, and what is to be handed in with the next sight. */
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
  // A row that was cleared has nothing to be read.
  const rows = now.rows.filter(({ at, text }) => known.get(at) !== text && !(text === "" && known.has(at)));
  return { rows: textsOf(rows), leftOut: gapBetween(before, now, shift) };
}

/** How many rows lie between the last that was seen and the first that is. Positions in a log are bytes, and count nothing. */
function gapBetween(before: VisibleRows, now: VisibleRows, shift: number): number | undefined {
  const first = now.rows[0]?.at;
  const next = (before.rows.at(-1)?.at ?? before.settled - 1) + shift + 1;
  if (first === undefined || first <= next) return 0;
  return now.surface === "log" ? undefined : first - next;
}

/**
 * By how much the positions of a sight differ from those of the one before: 0 unless the history was full, cleared or laid
 * out anew, or an alternate screen has scrolled. Undefined when the two have nothing in common.
 */
function shiftBetween(before: VisibleRows, now: VisibleRows): number | undefined {
  if (now.surface === "alternate")
    return similarity(before, now, 0) >= MIN_SIMILARITY ? 0 : (bestShift(before, now) ?? 0);
  const cannotHaveMoved = now.settled >= before.settled && now.settled < now.maxSettled;
  return cannotHaveMoved && isContinued(before, now) ? 0 : bestShift(before, now);
}

/** What never changes has not. Where there is too much new to see any of it, its place alone tells. */
function isContinued(before: VisibleRows, now: VisibleRows): boolean {
  const known = new Map(now.rows.map(({ at, text }) => [at, text]));
  return before.rows.every(({ at, text }) => at >= before.settled || (known.get(at) ?? text) === text);
}

/** Share of the rows at the same place that are the same when two sights belong together. */
const MIN_SIMILARITY = 0.5;

function similarity(before: VisibleRows, now: VisibleRows, shift: number): number {
  const known = new Map(before.rows.map(({ at, text }) => [at + shift, text]));
  const shared = now.rows.filter(({ at, text }) => text !== "" && known.has(at));
  const same = shared.filter(({ at, text }) => known.get(at) === text);
  return shared.length === 0 ? 0 : same.length / shared.length;
}

/** The shift under which most rows are the same; of several the smallest. */
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

/** Rows that are all alike say little about where they belong; so many of them are held against each other. */
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

/** Rows from their positions on, without the blank ones at their end. */
export function rowsFrom(texts: readonly string[], first: number): VisibleRow[] {
  const last = texts.findLastIndex((text) => text !== "");
  return texts.slice(0, last + 1).map((text, i) => ({ at: first + i, text }));
}

/** A log's end is read, never the whole: this holds some thousand lines. */
const TAIL_BYTES = 256 * 1024;

/** The last lines of a log, oldest first; undefined when it is gone. */
export function logTail(path: string, lines: number): readonly string[] | undefined {
  const text = readTail(path, TAIL_BYTES);
  if (text === undefined) return undefined;
  return text === "" ? [] : text.replace(/\n$/, "").split("\n").slice(-lines);
}

/** The end of a log, each row at its byte. */
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
