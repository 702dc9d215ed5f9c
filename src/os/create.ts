import { chmodSync, linkSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { systemCode } from "../errors.ts";
import { makePrivateDir, PRIVATE_DIR, temporaryBeside, writeNew } from "./fs.ts";

/**
 * Makes a directory and what is missing between it and `base`, each 0700, but never `base` itself: what was deleted is
 * not brought back by a late writer.
 * @throws a system error ENOENT when `base` is gone
 */
export function makeDirBelow(base: string, path: string): void {
  let current = base;
  for (const part of relative(base, path).split(sep)) {
    current = join(current, part);
    makePrivateDir(current);
  }
}

/**
 * Creates a file with its whole content in one step: a reader never meets half of it.
 * @returns false when the name is taken
 */
export function createWhole(path: string, content: string | Uint8Array): boolean {
  const temporary = temporaryBeside(path);
  try {
    writeNew(temporary, content);
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** A new directory of our own, 0700, below the system's temporary one; whoever makes it removes it. */
export function createTemporaryDirectory(prefix: string): string {
  const path = mkdtempSync(join(tmpdir(), prefix));
  // It is made with what the umask leaves of 0700.
  chmodSync(path, PRIVATE_DIR);
  return path;
}
