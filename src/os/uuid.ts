import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";

/**
 * Returns a random UUID for code that every command runs at its start. Linux provides one as a file; loading `node:crypto`
 * takes 3 ms. Code that runs later uses `node:crypto`.
 */
export function newUuid(): string {
  return uuidOfSystem() ?? randomUUID();
}

function uuidOfSystem(): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return readFileSync("/proc/sys/kernel/random/uuid", "utf8").trim();
  } catch {
    // The file is hidden from this process, as in some sandboxes.
    return undefined;
  }
}
