/** The beginning of a line that says how much is left out. No line of a change begins with it: each has a sign. */
export const MARK = "… ";

/** Whether a line only says how much is left out. */
export function isMark(line: string): boolean {
  return line.startsWith(MARK);
}

/** Whether a part of a change is left out. */
export function isShortened(lines: readonly string[]): boolean {
  return lines.some(isMark);
}

export function moreLines(count: number): string {
  return `${MARK}${count} more ${count === 1 ? "line" : "lines"}`;
}
