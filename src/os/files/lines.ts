import { closeSync, constants, fstatSync, fsyncSync, openSync, writeFileSync } from "node:fs";
import { openIfThere, PRIVATE_FILE, readPart, setFileMode } from "./fs.ts";

const NEWLINE = 0x0a;

/**
 * Appends whole lines in one write, so that two writers' lines never mix; a torn line that a killed writer left at the
 * end is closed first, so that it takes nothing with it.
 * @returns bytes that the file had before
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
  } finally {
    closeSync(fd);
  }
}

/** Most of what is looked for is among the newest lines: two pages hold some ten of them. */
const FIRST_CHUNK = 8 * 1024;
/** What one piece may take of memory while a whole file is read. */
const MAX_CHUNK = 1024 * 1024;

/**
 * Gives the whole lines of a file from the newest to the oldest, and reads no more of it than is asked for, in pieces
 * that grow. What stands behind the last line's end is torn, and left out; a missing file has no lines.
 * @param maxBytes from the end that are read at most
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
    /** Up to and with its end, a line whose beginning has not been read yet; at first what is torn. */
    let begun = Buffer.alloc(0);
    for (let chunk = FIRST_CHUNK; to > least; chunk = Math.min(chunk * 2, MAX_CHUNK)) {
      const from = Math.max(least, to - chunk);
      const bytes = Buffer.concat([readPart(fd, from, to), begun]);
      const whole = from === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
      yield* linesOf(bytes.subarray(whole)).reverse();
      begun = bytes.subarray(0, whole);
      to = from;
    }
  } finally {
    closeSync(fd);
  }
}

/** What stands behind the last end of a line is none. */
function linesOf(bytes: Buffer): string[] {
  const lines = bytes.toString("utf8").split("\n");
  lines.pop();
  return lines.filter((line) => line !== "");
}
