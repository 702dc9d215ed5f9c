import { posix } from "node:path";
import { cutToWidth, displayWidth } from "./cell-width.ts";
import { withoutEnd } from "./line-ends.ts";
import { gridText, revealHidden } from "./terminal-text.ts";

/**
 * Returns a path as one line for a person: relative to the working directory if it is in it, and shortened in the middle. The
 * file's name is never cut, so the line can be longer than `width` cells. Hidden characters are escaped.
 */
export function shortPath(path: string, cwd: string | undefined, width: number): string {
  const shown = gridText(revealHidden(relativeTo(path, cwd)).replaceAll("\n", "\\u000a"));
  if (displayWidth(shown) <= width) return shown;
  const [head, name] = split(shown);
  // The parent directory tells files such as index.ts apart.
  const [, parent] = split(head.slice(0, -1));
  const end = parent === "" ? name : `${parent}/${name}`;
  const room = width - displayWidth(`…/${end}`);
  if (room < 0) {
    const left = width - displayWidth(`/${name}`);
    return left < 2 ? name : `${cutToWidth(`${head.slice(0, -1)}…`, left)}/${name}`;
  }
  const start = shown.slice(0, shown.length - end.length);
  const kept = cutToWidth(`${start}…`, room + 1).replace(/…$/, "");
  const whole = kept.slice(0, kept.lastIndexOf("/") + 1);
  return `${whole}…/${end}`;
}

/** Splits a path before its last part. */
function split(path: string): readonly [head: string, name: string] {
  const at = withoutEnd(path, "/").lastIndexOf("/") + 1;
  return [path.slice(0, at), path.slice(at)];
}

function relativeTo(path: string, cwd: string | undefined): string {
  if (cwd === undefined || !posix.isAbsolute(cwd)) return path;
  const whole = posix.resolve(cwd, path);
  const base = cwd === "/" ? cwd : `${posix.resolve(cwd)}/`;
  // A model's “~/x” is in the home directory.
  if (path.startsWith("~") || !`${whole}/`.startsWith(base)) return path;
  return posix.relative(cwd, whole) || ".";
}
