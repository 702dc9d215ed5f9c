import { closeSync, constants, fstatSync, fsyncSync, openSync, writeFileSync } from "node:fs";
import { namingPath, openIfThere, PRIVATE_FILE, readPart, setFileMode } from "./fs.ts";

const NEWLINE = 0x0a;

/**
 * Appends whole lines in one write, so that lines of two writers never mix. First terminates an incomplete line that a
 * killed writer left at the end, so it does not corrupt the new ones.
 * @returns the file's previous size in bytes
 */
export function appendLines(path: string, lines: string, sync: boolean): number {
  const fd = openSync(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, PRIVATE_FILE);
  try {
    const { size } = fstatSync(fd);
    if (size === 0) setFileMode(fd, PRIVATE_FILE);
    const isTorn = size > 0 && readPart(fd, size - 1, size)[0] !== NEWLINE;
    writeFileSync(fd, isTorn ? `\n${lines}` : lines);
    if (sync) fsyncSync(fd);
    return size;
  } catch (error) {
    throw namingPath(error, path);
  } finally {
    closeSync(fd);
  }
}

/** Most searches end among the newest lines: two pages contain about ten of them. */
const FIRST_CHUNK = 8 * 1024;
/** Limits the memory for one chunk while a whole file is read. */
const MAX_CHUNK = 1024 * 1024;

/**
 * Yields the whole lines of a file, newest first. Reads growing chunks, and no more than the caller consumes. An
 * incomplete last line is left out; a missing file has no lines.
 * @param maxBytes maximum number of bytes to read, from the end
 */
export function* linesBackwards(
  path: string,
  maxBytes = Number.POSITIVE_INFINITY,
): Generator<string, undefined> {
  const fd = openIfThere(path);
  if (fd === undefined) return;
  try {
    let to = fstatSync(fd).size;
    const least = Math.max(0, to - maxBytes);
    /** The end of a line whose beginning has not been read yet, last part first; initially the incomplete last line. */
    let lineEnd: Buffer[] = [];
    for (let chunk = FIRST_CHUNK; to > least; chunk = Math.min(chunk * 2, MAX_CHUNK)) {
      const from = Math.max(least, to - chunk);
      const bytes = readPart(fd, from, to);
      to = from;
      const start = from === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
      if (start === 0 && from > 0) {
        lineEnd.push(bytes);
        continue;
      }
      yield* linesOf(Buffer.concat([bytes.subarray(start), ...lineEnd.reverse()])).reverse();
      lineEnd = [bytes.subarray(0, start)];
    }
  } catch (error) {
    throw namingPath(error, path);
  } finally {
    closeSync(fd);
  }
}

/**
 * Returns the offset at which the last `count` whole lines before `end` begin: 0 if there are no more. Reads only these lines, from the
 * end. A missing file has no lines.
 * @param end offset after a line; default: the end of the file
 */
export function startOfLastLines(path: string, count: number, end = Number.POSITIVE_INFINITY): number {
  const fd = openIfThere(path);
  if (fd === undefined) return 0;
  try {
    let left = count;
    let chunk = FIRST_CHUNK;
    for (let to = Math.min(end, fstatSync(fd).size); to > 0; chunk = Math.min(chunk * 2, MAX_CHUNK)) {
      const from = Math.max(0, to - chunk);
      const bytes = readPart(fd, from, to);
      for (
        let at = bytes.lastIndexOf(NEWLINE);
        at >= 0;
        at = at > 0 ? bytes.lastIndexOf(NEWLINE, at - 1) : -1
      ) {
        // The first newline found ends the last line.
        if (left === 0) return from + at + 1;
        left -= 1;
      }
      to = from;
    }
    return 0;
  } catch (error) {
    throw namingPath(error, path);
  } finally {
    closeSync(fd);
  }
}

/** Maximum bytes of a line. A longer one is skipped: it does not fit into a string, and teams writes no such line. */
const MAX_LINE = 256 * 1024 * 1024;

/** Some whole lines of a file. */
interface LineChunk {
  /** The lines that are not blank. */
  readonly texts: readonly string[];
  /** Offset in bytes after the last of these lines. */
  readonly offset: number;
}

/**
 * Yields the whole lines between two byte offsets, oldest first, in chunks of about 1 MB: the file may be larger than the engine's longest
 * string. An incomplete last line is left out; a missing file has no lines.
 */
export function* lineChunks(
  path: string,
  fromOffset = 0,
  endOffset = Number.POSITIVE_INFINITY,
): Generator<LineChunk, undefined> {
  const fd = openIfThere(path);
  if (fd === undefined) return;
  try {
    const size = Math.min(fstatSync(fd).size, endOffset);
    /** The beginning of a line whose end has not been read yet. */
    let begun: Buffer[] = [];
    let begunBytes = 0;
    for (let at = fromOffset; at < size; ) {
      const bytes = readPart(fd, at, Math.min(size, at + MAX_CHUNK));
      if (bytes.length === 0) return;
      const end = bytes.lastIndexOf(NEWLINE);
      if (end >= 0) {
        // The beginning of a line that is too long was dropped, so its end is dropped too.
        const from = begunBytes > MAX_LINE ? bytes.indexOf(NEWLINE) : 0;
        const whole = Buffer.concat([...begun, bytes.subarray(from, end)]);
        const texts = whole.toString("utf8").split("\n");
        yield { texts: texts.filter((text) => text.trim() !== ""), offset: at + end + 1 };
        begun = [];
        begunBytes = 0;
      }
      begun.push(bytes.subarray(end + 1));
      begunBytes += bytes.length - end - 1;
      if (begunBytes > MAX_LINE) begun = [];
      at += bytes.length;
    }
  } catch (error) {
    throw namingPath(error, path);
  } finally {
    closeSync(fd);
  }
}

/** Splits whole lines; text after the last line end is dropped. */
function linesOf(bytes: Buffer): string[] {
  const lines = bytes.toString("utf8").split("\n");
  lines.pop();
  return lines.filter((line) => line !== "");
}
