import { lstatSync, readlinkSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { systemCode } from "../../errors.ts";
import { isMissing, temporaryBeside } from "./fs.ts";

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

/** Returns the text of a record link; undefined if it is missing or is no link. */
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
