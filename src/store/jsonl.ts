import * as z from "zod/mini";
import { readFrom } from "../os/files/fs.ts";
import { appendLines, linesBackwards } from "../os/files/lines.ts";

const NEWLINE = 0x0a;

interface AppendOptions {
  /** Whether the lines are on the disk before this returns; off by default, since a killed process loses nothing that it has written. */
  readonly sync?: boolean;
}

/**
 * Appends lines of JSON in one write; a torn line that a killed writer left at the end is closed first, so that it
 * takes nothing with it.
 */
export function appendJsonLines(path: string, values: readonly unknown[], options: AppendOptions = {}): void {
  if (values.length === 0) return;
  const lines = values.map((value) => `${JSON.stringify(value)}\n`).join("");
  appendLines(path, lines, options.sync ?? false);
}

interface JsonLines<T> {
  readonly lines: T[];
  /** Where the next read begins: behind the last whole line. */
  readonly offset: number;
  /** Whole lines that were no JSON or not of this shape, and were skipped. */
  readonly bad: number;
}

/** Reads the whole lines from a byte offset on; a torn last line is left for the next read, a missing file has none. */
export function readJsonLines<T>(path: string, schema: z.core.$ZodType<T>, fromOffset = 0): JsonLines<T> {
  const { texts, offset } = readTextLines(path, fromOffset);
  const lines = texts.flatMap((text) => parseLine(text, schema));
  return { lines, offset, bad: texts.length - lines.length };
}

/** The same as they are, but for empty ones. */
export function readTextLines(
  path: string,
  fromOffset = 0,
): { readonly texts: readonly string[]; readonly offset: number } {
  const bytes = readFrom(path, fromOffset);
  const end = bytes?.lastIndexOf(NEWLINE) ?? -1;
  if (bytes === undefined || end < 0) return { texts: [], offset: fromOffset };
  const texts = bytes.subarray(0, end).toString("utf8").split("\n");
  return { texts: texts.filter((line) => line.trim() !== ""), offset: fromOffset + end + 1 };
}

interface BackwardReading {
  /** Text that every wanted line holds as it stands: a line without it is not even parsed. */
  readonly holding?: string;
  /** Bytes from the end that are read at most; without it all, if need be. */
  readonly maxBytes?: number;
}

/**
 * Gives the whole lines from the newest to the oldest; whoever stops early has read no more than that. Lines that are no
 * JSON or not of this shape are skipped, a missing file has none.
 */
export function* jsonLinesBackwards<T>(
  path: string,
  schema: z.core.$ZodType<T>,
  { holding = "", maxBytes }: BackwardReading = {},
): Generator<T, undefined> {
  for (const text of linesBackwards(path, maxBytes)) {
    if (text.includes(holding)) yield* parseLine(text, schema);
  }
}

/** What one line is of this shape: nothing where it is no JSON, or of another. */
export function parseJsonLine<T>(schema: z.core.$ZodType<T>): (text: string) => readonly T[] {
  return (text) => parseLine(text, schema);
}

function parseLine<T>(text: string, schema: z.core.$ZodType<T>): T[] {
  try {
    const parsed = z.safeParse(schema, JSON.parse(text));
    return parsed.success ? [parsed.data] : [];
  } catch {
    // Counted by the caller: a line cut by a crash, with others behind it.
    return [];
  }
}
