import { versionOf } from "../os/files/fs.ts";
import { readTextLines } from "./jsonl.ts";

/** Returns each new line of a file once; the cost depends only on the new lines. */
export interface LineFeed<T> {
  /** Returns the lines since the last poll; the first poll returns all lines from the start of the feed. */
  poll(): T[];
}

interface FeedOptions {
  /** Path that the file is renamed to when a new one replaces it; its last lines are read there. */
  readonly older?: string;
  /** Byte offset that the first poll reads from. */
  readonly from?: number;
}

/**
 * Follows a file of lines.
 * @param parse returns the values of a line; none to skip it
 */
export function openLineFeed<T>(
  path: string,
  parse: (text: string) => readonly T[],
  { older, from = 0 }: FeedOptions = {},
): LineFeed<T> {
  let inode = from > 0 ? versionOf(path)?.inode : undefined;
  let offset = from;
  return {
    poll() {
      const now = versionOf(path)?.inode;
      const isOther = now !== inode;
      const before = older === undefined || !isOther ? [] : restOf(older);
      if (isOther) offset = 0;
      inode = now;
      const { texts, offset: end } = readTextLines(path, offset);
      offset = end;
      return [...before, ...texts].flatMap(parse);
    },
  };

  /** Returns the unread lines of the replaced file, or all if it was not followed. A file replaced twice between two polls is lost. */
  function restOf(file: string): readonly string[] {
    const isFollowed = versionOf(file)?.inode === inode;
    return readTextLines(file, isFollowed ? offset : 0).texts;
  }
}
