import { versionOf } from "../os/files/fs.ts";
import { readTextLines } from "./jsonl.ts";

/** Returns each new line of a file once; the cost depends only on the new lines. */
export interface LineFeed<T> {
  /** Returns the values of the lines since the last poll; the first poll reads from the start of the feed. */
  poll(): T[];
}

interface FeedOptions {
  /** Path that the file is renamed to when a new one replaces it; its last lines are read there. */
  readonly older?: string | (() => string);
  /** Byte offset that the first poll reads from. */
  readonly from?: number;
}

/**
 * Follows a file of lines.
 * @param path a function is called at each poll, because the file may be moved
 * @param parse returns the values of a line; empty to skip the line
 */
export function openLineFeed<T>(
  path: string | (() => string),
  parse: (text: string) => readonly T[],
  { older, from = 0 }: FeedOptions = {},
): LineFeed<T> {
  const pathNow = (of: string | (() => string)): string => (typeof of === "string" ? of : of());
  let inode = from > 0 ? versionOf(pathNow(path))?.inode : undefined;
  let offset = from;
  /** True while the followed file has the path `older`, or is missing. */
  let isRotated = false;
  return {
    poll() {
      const file = pathNow(path);
      const now = versionOf(file)?.inode;
      const isOther = now === undefined || now !== inode || isRotated;
      const before = older === undefined || !isOther ? [] : restOf(pathNow(older));
      // After a rotation, the new file exists only once a line is written.
      if (now === undefined && older !== undefined) return before.flatMap(parse);
      if (isOther) offset = 0;
      inode = now;
      isRotated = false;
      const { texts, offset: end } = readTextLines(file, offset);
      offset = end;
      return [...before, ...texts].flatMap(parse);
    },
  };

  /**
   * Follows the replaced file, and returns its unread lines: all of them if it was not followed. A file replaced twice between two
   * polls is lost.
   */
  function restOf(file: string): readonly string[] {
    const rotated = versionOf(file)?.inode;
    const { texts, offset: end } = readTextLines(file, rotated === inode ? offset : 0);
    inode = rotated;
    offset = end;
    isRotated = true;
    return texts;
  }
}
