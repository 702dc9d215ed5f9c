import type { DiffPlace, Reader } from "../documents.ts";
import type { Span } from "../spans.ts";

/** A row of a document. */
export interface ReaderRow {
  readonly spans: readonly Span[];
  /** The line that a comment on this row is about. */
  readonly place?: DiffPlace;
  /** The first row of a file. */
  readonly isFile?: true;
  /** The team that Enter shows. */
  readonly team?: string;
}

export function row(spans: readonly Span[]): ReaderRow {
  return { spans };
}

export function textOf({ spans }: ReaderRow): string {
  return spans.map(({ text }) => text).join("");
}

/** Whether the document has a selected row; other documents only scroll. */
export function hasCursor({ source }: Reader): boolean {
  return source.kind === "diff" || source.kind === "teams";
}

/** Whether the document grows at its end, which the reader follows. */
export function grows({ source }: Reader): boolean {
  return source.kind === "log" || source.kind === "messages";
}

/** The rows on the screen: the first one, and the selected one. */
export interface Window {
  readonly top: number;
  readonly cursor: number;
}

/** Returns the visible part of a document with `count` rows in `room` rows: the document may have changed meanwhile. */
export function windowOf(reader: Reader, count: number, room: number): Window {
  const last = Math.max(0, count - Math.max(1, room));
  const top = reader.top === "end" ? last : Math.min(Math.max(reader.top, 0), last);
  if (!hasCursor(reader)) return { top, cursor: top };
  const cursor = Math.min(Math.max(reader.cursor, 0), Math.max(0, count - 1));
  const isBelow = cursor >= top + room;
  return { top: cursor < top ? cursor : isBelow ? cursor - room + 1 : top, cursor };
}

/** Moves the selected row, or the first row on the screen, by a number of rows. */
export function movedBy(reader: Reader, by: number, count: number, room: number): Reader {
  const { top, cursor } = windowOf(reader, count, room);
  const last = Math.max(0, count - 1);
  if (hasCursor(reader)) return atRow(reader, Math.min(Math.max(cursor + by, 0), last), count, room);
  const end = Math.max(0, count - room);
  const next = Math.min(Math.max(top + by, 0), end);
  // Rows below the text come and go: keep the end of the text on the screen.
  return { ...reader, top: by > 0 && next === end ? "end" : next };
}

/** Shows a row: selects it, or makes it visible. */
export function atRow(reader: Reader, index: number, count: number, room: number): Reader {
  const { top } = windowOf(reader, count, room);
  if (hasCursor(reader)) {
    const next = windowOf({ ...reader, top, cursor: index }, count, room);
    return { ...reader, ...next };
  }
  return { ...reader, top: Math.min(index, Math.max(0, count - room)) };
}

export function atEnd(reader: Reader, count: number, room: number): Reader {
  if (hasCursor(reader)) return atRow(reader, count - 1, count, room);
  return { ...reader, top: "end" };
}

/** Returns the indexes of the rows with the searched text, ignoring case. */
export function matchesIn(rows: readonly ReaderRow[], search: string): readonly number[] {
  const wanted = search.toLowerCase();
  return rows.flatMap((one, index) => (textOf(one).toLowerCase().includes(wanted) ? [index] : []));
}

/** Shows each occurrence of the searched text with reversed colours. */
export function highlighted(spans: readonly Span[], search: string): readonly Span[] {
  const text = spans
    .map((span) => span.text)
    .join("")
    .toLowerCase();
  const wanted = search.toLowerCase();
  // In a few scripts, lower case changes the length, so that positions do not match.
  if (text.length !== spans.reduce((sum, span) => sum + span.text.length, 0)) return spans;
  const marked = new Set<number>();
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length))
    for (let i = at; i < at + wanted.length; i += 1) marked.add(i);
  if (marked.size === 0) return spans;
  let start = 0;
  return spans.flatMap((span) => {
    const from = start;
    start += span.text.length;
    return partsOf(span, (i) => marked.has(from + i));
  });
}

function partsOf(span: Span, isMarked: (index: number) => boolean): Span[] {
  const parts: Span[] = [];
  for (let i = 0; i < span.text.length; ) {
    const mark = isMarked(i);
    let end = i + 1;
    while (end < span.text.length && isMarked(end) === mark) end += 1;
    const text = span.text.slice(i, end);
    parts.push(mark ? { ...span, text, reverse: span.reverse !== true } : { ...span, text });
    i = end;
  }
  return parts;
}
