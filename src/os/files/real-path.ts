import { readlinkSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemCode } from "../../errors.ts";
import { isMissing } from "./fs.ts";

/** Links on the way of one path, as many as Linux follows. */
const MAX_LINKS = 40;

/**
 * Where a path leads, as the system goes it: `..` is the parent of where a link has led, and a link to what is not there yet
 * leads there all the same, since whoever writes to it makes that. Of what is not there the name stays.
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

/** The way of an absolute path, link by link. */
function walk(path: string): string {
  let at = "/";
  let links = MAX_LINKS;
  const left = path.split("/").reverse();
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    if (part === "" || part === ".") continue;
    const next = part === ".." ? dirname(at) : join(at, part);
    const target = part === ".." ? undefined : linkAt(next);
    if (target === undefined) {
      at = next;
      continue;
    }
    links -= 1;
    // As the system says it of a loop; its own words need the call that it fails.
    if (links < 0) return realpathSync(next);
    if (target.startsWith("/")) at = "/";
    left.push(...target.split("/").reverse());
  }
  return at;
}

/** What a link names; undefined for what is none, or not there. */
function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (isMissing(error) || systemCode(error) === "EINVAL") return undefined;
    throw error;
  }
}
