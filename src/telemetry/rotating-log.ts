import { fileSize, rename } from "../os/files/fs.ts";
import { appendLines } from "../os/files/lines.ts";

/**
 * Appends whole lines in one write, without waiting for the disk. A log that has grown past its bound makes way for a new one,
 * and the one before that goes: the newest lines are always there, at least so many bytes of them once there were.
 * @throws a system error when nothing was written
 */
export function appendBounded(path: string, lines: string, mostBytes: number): void {
  if (appendLines(path, lines, false) < mostBytes) return;
  // Another writer may have turned it over since: then this one is small again.
  if ((fileSize(path) ?? 0) >= mostBytes) rename(path, olderLog(path));
}

/** Where a log goes that made way: `events.jsonl` to `events.1.jsonl`. */
export function olderLog(path: string): string {
  return path.replace(/(\.[^./]*)?$/, ".1$1");
}
