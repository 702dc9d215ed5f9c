import { lstatSync, readlinkSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemCode } from "../../errors.ts";
import { isMissing, temporaryBeside } from "./fs.ts";

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

/** Resolves a path that need not be UTF-8; undefined if it is missing. */
export function realBytes(path: Buffer): Buffer | undefined {
  try {
    // The other realpathSync takes no bytes.
    return realpathSync.native(path, "buffer");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
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

/** Returns the target of a link; undefined if the path is missing or is not a link. */
function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (isMissing(error) || systemCode(error) === "EINVAL") return undefined;
    throw error;
  }
}

/** Creates a symbolic link to a target, which may be missing. @throws a system error EEXIST if the name is taken */
export function createLink(target: string, path: string): void {
  symlinkSync(target, path);
}

/**
 * Creates a symbolic link as a record: one system call creates it with its whole text, or not at all. It points nowhere.
 * @returns false if the name is taken
 */
export function createRecordLink(path: string, text: string): boolean {
  try {
    symlinkSync(text, path);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** Returns the text of a record link; undefined if it is missing or is not a link. */
export function readRecordLink(path: string): string | undefined {
  // Checked first: it is usually missing, and an exception costs more than this call.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  try {
    return readlinkSync(path);
  } catch (error) {
    if (isMissing(error) || systemCode(error) === "EINVAL") return undefined;
    throw error;
  }
}

/** Creates a symbolic link, atomically replacing an existing entry. @throws a system error; nothing is changed in that case */
export function replaceRecordLink(path: string, text: string): void {
  const temporary = temporaryBeside(path);
  symlinkSync(text, temporary);
  try {
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
