import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { systemCode } from "../../errors.ts";
import { replaceFile } from "./atomic-write.ts";
import { isMissing, readPart } from "./fs.ts";
import { realPathOf } from "./real-path.ts";

/** What stands at a path, links followed. */
export interface PathStat {
  readonly kind: "missing" | "file" | "directory" | "special";
  readonly size: number;
  /** Milliseconds since the epoch, with their fraction. */
  readonly mtimeMs: number;
}

export function pathStat(path: string): PathStat {
  try {
    const stat = statSync(path);
    const kind = stat.isFile() ? "file" : stat.isDirectory() ? "directory" : "special";
    return { kind, size: stat.size, mtimeMs: stat.mtimeMs };
  } catch (error) {
    // Behind a file there is nothing.
    if (isMissing(error) || systemCode(error) === "ENOTDIR") return { kind: "missing", size: 0, mtimeMs: 0 };
    throw error;
  }
}

/**
 * What a file gives that has no size, as those of /proc: at maxBytes so many bytes, and none where it would have to be waited for.
 * @returns undefined for one that is not there
 */
export function readUnsized(path: string, maxBytes: number): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  try {
    return readPart(fd, 0, maxBytes);
  } catch (error) {
    if (systemCode(error) === "EAGAIN") return Buffer.alloc(0);
    throw error;
  } finally {
    closeSync(fd);
  }
}

/**
 * Writes a file of the user's: whole or not at all, through links to where they lead, with the mode and owner that it
 * had; a new one and the directories above it as the umask says, since they are not ours.
 */
export function writeUserFile(path: string, content: string): void {
  const real = realPathOf(path);
  const old = statSync(real, { throwIfNoEntry: false });
  if (old === undefined) {
    mkdirSync(dirname(real), { recursive: true });
    replaceFile(real, content, { mode: "umask" });
    return;
  }
  // A file with several names stays one file with several names; that costs the rename.
  if (old.nlink > 1) {
    writeFileSync(real, content, { flush: true });
    return;
  }
  replaceFile(real, content, { mode: old.mode & 0o7777 });
  chmodSync(real, old.mode & 0o7777);
  if (process.getuid?.() === old.uid) return;
  try {
    chownSync(real, old.uid, old.gid);
  } catch (error) {
    // Only root may give a file away; for others it becomes theirs, as with any editor that replaces files.
    if (systemCode(error) !== "EPERM") throw error;
  }
}
