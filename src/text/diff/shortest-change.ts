import { diffArrays } from "diff";
import { type Run, replacedLines } from "./change-lines.ts";

/** Limits of the search, so that a large file cannot block the agent. */
const MAX_EDITS = 1_000;
const MAX_MS = 200;

/** Finds the change with the fewest lines. Replaces all lines if the search takes too long. */
export function shortestChange(
  before: readonly string[],
  after: readonly string[],
  maxMs = MAX_MS,
): readonly Run[] {
  if (before.length === 0 || after.length === 0) return replacedLines(before, after);
  const found = diffArrays([...before], [...after], { maxEditLength: MAX_EDITS, timeout: maxMs });
  if (found === undefined) return replacedLines(before, after);
  return found.map(({ added, removed, value }) => ({
    sign: added ? "+" : removed ? "-" : " ",
    lines: value,
  }));
}
