import { versionOf } from "../os/files/fs.ts";
import { readTextLines } from "./jsonl.ts";

/** Lines of a file as they come, each once, at the cost of what is new. */
export interface LineFeed<T> {
  /** Those since the last look; at the first all that there are. */
  poll(): T[];
}

/**
 * Follows a file of lines.
 * @param parse what a line gives: nothing for one that is to be passed over
 * @param older where the file goes when it makes way for a new one: what was added before that is read there
 */
export function openLineFeed<T>(
  path: string,
  parse: (text: string) => readonly T[],
  older?: string,
): LineFeed<T> {
  let inode: number | undefined;
  let offset = 0;
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

  /** Of the file that was followed; where none was yet, all. One that made way twice between two looks is gone. */
  function restOf(file: string): readonly string[] {
    const isFollowed = versionOf(file)?.inode === inode;
    return readTextLines(file, isFollowed ? offset : 0).texts;
  }
}
