import { fileSize, readFrom, readTail } from "../os/fs.ts";
import type { Sight, SightRow } from "./sight.ts";

/** A log's end is read, never the whole: this holds some thousand lines. */
const TAIL_BYTES = 256 * 1024;

/** The last lines of a log, oldest first; undefined when it is gone. */
export function tailOfLog(path: string, lines: number): readonly string[] | undefined {
  const text = readTail(path, TAIL_BYTES);
  if (text === undefined) return undefined;
  return text === "" ? [] : text.replace(/\n$/, "").split("\n").slice(-lines);
}

/** The end of a log, each row at its byte. */
export function sightOfLog(path: string): Sight | undefined {
  const from = Math.max(0, (fileSize(path) ?? 0) - TAIL_BYTES);
  const bytes = readFrom(path, from);
  if (bytes === undefined) return undefined;
  const rows: SightRow[] = [];
  let start = from === 0 ? 0 : bytes.indexOf(LINE_END) + 1;
  for (let end = start; end < bytes.length; start = end + 1) {
    end = bytes.indexOf(LINE_END, start);
    if (end === -1) end = bytes.length;
    if (start < bytes.length) rows.push({ at: from + start, text: bytes.toString("utf8", start, end) });
  }
  const settled = from + bytes.lastIndexOf(LINE_END) + 1;
  return { surface: "log", rows, settled, most: Number.POSITIVE_INFINITY };
}

const LINE_END = 0x0a;
