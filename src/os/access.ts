import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { Env } from "./env.ts";

/** Whether this user may write there: make entries, for a directory. */
export function isWritable(path: string): boolean {
  return allows(path, constants.W_OK);
}

/** Whether this is a file that this user may execute. */
export function isExecutable(path: string): boolean {
  // First whether it can be reached at all: a directory of the PATH may be closed to us.
  return allows(path, constants.X_OK) && (statSync(path, { throwIfNoEntry: false })?.isFile() ?? false);
}

/** The file that a program's name means on the PATH; undefined when there is none. */
export function findProgram(name: string, env: Env): string | undefined {
  if (isAbsolute(name)) return isExecutable(name) ? name : undefined;
  const directories = (env.PATH ?? "").split(delimiter).filter((directory) => directory !== "");
  return directories.map((directory) => join(directory, name)).find(isExecutable);
}

function allows(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    // What cannot be reached is not allowed: that is the answer.
    return false;
  }
}
