import { cutToWidth, displayWidth } from "./cell-width.ts";
import { shortPath } from "./short-path.ts";
import { gridRow, gridText } from "./terminal-text.ts";

/** A call of a tool that names a file by its whole path, optionally after a text such as `asks: `. */
const CALL_OF_FILE = /^((?:[^()]{0,200}: )?)(\w{1,40})\(((?:\/|~\/)[^()]{1,4096})\)$/;

/**
 * Returns a call such as `Edit(/home/me/project/src/main.ts)` with a relative path, shortened in the middle to the width.
 * @returns the text, and whether the path is whole; any other text is returned unchanged
 */
export function shortCall(
  text: string,
  cwd: string | undefined,
  width: number,
): { readonly text: string; readonly isWhole: boolean } {
  const [, before = "", tool, path] = CALL_OF_FILE.exec(text) ?? [];
  if (tool === undefined || path === undefined) return { text, isWhole: true };
  const whole = shortPath(path, cwd, Number.POSITIVE_INFINITY);
  const shown = shortPath(path, cwd, Math.max(1, width - displayWidth(before) - tool.length - 2));
  return { text: `${before}${tool}(${shown})`, isWhole: shown === whole };
}

/** Returns a rule with its path relative to the working directory, if the file is in it. The rule means the same. */
export function shortRule(rule: string, cwd: string | undefined): string {
  const [, tool, path = ""] = /^(\w+)\(\/(\/.*)\)$/s.exec(rule) ?? [];
  const base = cwd === undefined || cwd === "/" ? undefined : `${cwd}/`;
  if (tool === undefined || base === undefined || !path.startsWith(base)) return rule;
  const inside = path.slice(base.length);
  // A name alone would mean such files in all directories, and a tilde the home directory.
  return inside === "" ? rule : `${tool}(${/^[^/~].*\/[^/]/s.test(inside) ? inside : `./${inside}`})`;
}

/** A call, with the path that its summary begins or ends with. */
export interface CallWithPath {
  readonly summary: string;
  readonly path?: string | undefined;
}

/** Minimum columns of the text before a path. */
const MIN_BEFORE = 8;

/**
 * Returns the summary of a call in one line, safe to print: its path is relative, and shortened in the middle to the width.
 * @returns undefined if the summary neither begins nor ends with a path
 */
export function shortSummary(
  { summary, path }: CallWithPath,
  cwd: string | undefined,
  width: number,
): string | undefined {
  if (path === undefined || path === "") return undefined;
  if (summary.startsWith(path)) {
    // A pattern that a model searches for may begin like the path: the rest is not only line numbers.
    const rest = gridRow(summary.slice(path.length)).replace(/\s+/gu, " ");
    return `${shortPath(path, cwd, width - displayWidth(rest))}${rest}`;
  }
  if (!summary.endsWith(path)) return undefined;
  const before = gridText(summary.slice(0, summary.length - path.length));
  const short = shortPath(path, cwd, width - displayWidth(before) - 1);
  // The search text is more important than the path.
  const room = width - 1 - displayWidth(short);
  return `${cutToWidth(before, Math.max(MIN_BEFORE, room))} ${short}`;
}
