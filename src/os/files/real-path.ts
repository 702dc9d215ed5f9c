import { readlinkSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemCode } from "../../errors.ts";
import { isMissing } from "./fs.ts";

/** Maximum number of links in one path, the same as in Linux. */
const MAX_LINKS = 40;

/**
 * Resolves a path like the system: `..` is the parent of a link's target. A link to a missing file is resolved too, since
 * writing to the link creates that file. Missing parts of the path keep their names.
 */
export function realPathOf(path: string): string {
  const whole = path.startsWith("/") ? path : `${process.cwd()}/${path}`;
  if (!whole.includes("/..")) {
    try {
      return realpathSync(whole);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return walk(whole);
}

/** Resolves an absolute path, link by link. */
function walk(path: string): string {
  let at = "/";
  let links = MAX_LINKS;
  const parts = path.split("/").reverse();
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    if (part === "" || part === ".") continue;
    const next = part === ".." ? dirname(at) : join(at, part);
    const target = part === ".." ? undefined : linkAt(next);
    if (target === undefined) {
      at = next;
      continue;
    }
    links -= 1;
    // Fails with the system error for a loop of links.
    if (links < 0) return realpathSync(next);
    if (target.startsWith("/")) at = "/";
    parts.push(...target.split("/").reverse());
  }
  return at;
}

/** Returns the target of a link; undefined if the path is missing or is no link. */
function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (isMissing(error) || systemCode(error) === "EINVAL") return undefined;
    throw error;
  }
}
