import { lstatSync, readlinkSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { systemCode } from "../../errors.ts";
import { isMissing, temporaryBeside } from "./fs.ts";

/**
 * A symbolic link as a record: it comes into being with its whole text in one system call or not at all, and points
 * nowhere.
 * @returns false when the name is taken
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

/** The text of such a record; undefined when it is not there or is something else. */
export function readRecordLink(path: string): string | undefined {
  // Asked first, since it is missing more often than not and an exception costs more than the call.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  try {
    return readlinkSync(path);
  } catch (error) {
    if (isMissing(error) || systemCode(error) === "EINVAL") return undefined;
    throw error;
  }
}

/** Makes a symbolic link, in one step in the place of whatever had the name. @throws a system error; nothing is changed then */
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
