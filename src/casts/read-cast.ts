import { TeamError } from "../errors.ts";
import { fileSize } from "../os/files/fs.ts";
import { lineChunks } from "../os/files/lines.ts";
import { gridText } from "../text/terminal-text.ts";
import { type CastEvent, type CastHeader, parseEvent, parseHeader } from "./cast-format.ts";

/** A marker of a recording. */
export interface CastMarker {
  /** Seconds since the start. */
  readonly time: number;
  /** One line, without control characters. */
  readonly label: string;
}

/** The content of a recording, without its output. */
export interface CastSummary {
  readonly path: string;
  readonly header: CastHeader;
  readonly bytes: number;
  /** Seconds. */
  readonly length: number;
  readonly markers: readonly CastMarker[];
  /** The line numbers of the first malformed lines. */
  readonly badLines: readonly number[];
  /** Number of malformed lines. */
  readonly bad: number;
}

/** Maximum malformed lines that are listed in `badLines`. */
const MAX_LISTED = 5;
/** Maximum markers that are read: a hostile file must not fill the memory. */
const MAX_MARKERS = 100_000;

/**
 * Reads a recording up to its last whole line.
 * @throws TeamError INVALID_INPUT if it is missing, CORRUPT_FILE if its header cannot be used
 */
export function summarizeCast(path: string): CastSummary {
  const { header, lines } = openCast(path);
  const badLines: number[] = [];
  const markers: CastMarker[] = [];
  let bad = 0;
  let length = 0;
  for (const { event, number } of lines) {
    if (event === undefined) {
      bad += 1;
      if (badLines.length < MAX_LISTED) badLines.push(number);
      continue;
    }
    length = Math.max(length, event.time);
    if (event.code === "m" && markers.length < MAX_MARKERS)
      markers.push({ time: event.time, label: gridText(event.data) });
  }
  return { path, header, bytes: fileSize(path) ?? 0, length, markers, badLines, bad };
}

interface CastLine {
  /** Line number in the file; the header is line 1. */
  readonly number: number;
  /** Undefined if the line is malformed. */
  readonly event: CastEvent | undefined;
}

/** Opens a recording; its lines are read lazily. @throws as {@link summarizeCast} */
export function openCast(path: string): { readonly header: CastHeader; readonly lines: Generator<CastLine> } {
  const texts = textsOf(path);
  const first = texts.next();
  if (first.done === true) {
    const why = fileSize(path) === undefined ? "does not exist" : "is empty";
    throw new TeamError("INVALID_INPUT", `${path} ${why}.`, {
      hint: "List the recordings: teams replay --json",
    });
  }
  return { header: parseHeader(first.value, path), lines: eventsIn(texts) };
}

function* eventsIn(texts: Generator<string>): Generator<CastLine> {
  let number = 1;
  for (const text of texts) {
    number += 1;
    yield { number, event: parseEvent(text) };
  }
}

function* textsOf(path: string): Generator<string> {
  for (const { texts } of lineChunks(path)) yield* texts;
}
