import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";

/** A random uuid. Linux gives one as a file, and to load `node:crypto` takes a start two milliseconds. */
export function newUuid(): string {
  return uuidOfSystem() ?? randomUUID();
}

function uuidOfSystem(): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return readFileSync("/proc/sys/kernel/random/uuid", "utf8").trim();
  } catch {
    // Not shown to this process: the other way gives as good a one.
    return undefined;
  }
}
