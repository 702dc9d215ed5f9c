import { appendLines, lineChunks, linesBackwards } from "../os/files/lines.ts";
import { parseShape, type Shape } from "../schema/guards/guard.ts";

interface AppendOptions {
  /** Waits until the lines are on disk; default false, since a killed process loses nothing that it has written. */
  readonly sync?: boolean;
}

/**
 * Appends JSON lines in one write. First terminates an incomplete line that a killed writer left at the end, so it does
 * not corrupt the new ones.
 */
export function appendJsonLines(path: string, values: readonly unknown[], options: AppendOptions = {}): void {
  if (values.length === 0) return;
  const lines = values.map((value) => `${JSON.stringify(value)}\n`).join("");
  appendLines(path, lines, options.sync ?? false);
}

interface JsonLines<T> {
  readonly lines: T[];
  /** Offset for the next read: after the last whole line. */
  readonly offset: number;
  /** Number of whole lines that were skipped because they do not parse. */
  readonly bad: number;
}

/** Reads the whole lines from a byte offset to the end. An incomplete last line is left for the next read; a missing file has no lines. */
export function readJsonLines<T>(path: string, shape: Shape<T>, fromOffset = 0): JsonLines<T> {
  const { texts, offset } = readTextLines(path, fromOffset);
  const lines = texts.flatMap((text) => parseLine(text, shape));
  return { lines, offset, bad: texts.length - lines.length };
}

/** Reads the whole non-empty lines between two byte offsets, unparsed; by default to the end of the file. */
export function readTextLines(
  path: string,
  fromOffset = 0,
  endOffset?: number,
): { readonly texts: readonly string[]; readonly offset: number } {
  const texts: string[] = [];
  let offset = fromOffset;
  for (const chunk of lineChunks(path, fromOffset, endOffset)) {
    for (const text of chunk.texts) texts.push(text);
    offset = chunk.offset;
  }
  return { texts, offset };
}

/** Yields the whole lines of a file of any size, oldest first. Lines that do not parse are skipped; a missing file has no lines. */
export function* jsonLines<T>(path: string, shape: Shape<T>): Generator<T, undefined> {
  for (const { texts } of lineChunks(path)) {
    for (const text of texts) yield* parseLine(text, shape);
  }
}

interface BackwardReading {
  /** Text that every wanted line contains literally; other lines are not parsed. */
  readonly contains?: string;
  /** Maximum number of bytes to read, from the end; default: the whole file. */
  readonly maxBytes?: number;
}

/**
 * Yields the whole lines, newest first; reads only as much as the caller consumes. Lines that do not parse are skipped; a
 * missing file has no lines.
 */
export function* jsonLinesBackwards<T>(
  path: string,
  shape: Shape<T>,
  { contains = "", maxBytes }: BackwardReading = {},
): Generator<T, undefined> {
  for (const text of linesBackwards(path, maxBytes)) {
    if (text.includes(contains)) yield* parseLine(text, shape);
  }
}

/** Returns a parser of one line; its result is empty if the line does not parse. */
export function parseJsonLine<T>(shape: Shape<T>): (text: string) => readonly T[] {
  return (text) => parseLine(text, shape);
}

function parseLine<T>(text: string, shape: Shape<T>): T[] {
  try {
    const parsed = parseShape(shape, JSON.parse(text));
    return parsed.success ? [parsed.data] : [];
  } catch {
    // The caller counts it: a line truncated by a crash, with others after it.
    return [];
  }
}
