import { isUtf8 } from "node:buffer";
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { systemCode } from "../../errors.ts";
import { replaceFile } from "./atomic-write.ts";
import {
  isMissing,
  openIfThere,
  PRIVATE_DIR,
  PRIVATE_FILE,
  readFrom,
  readPart,
  temporaryBeside,
  writeNew,
} from "./fs.ts";
import { realPathOf } from "./symlinks.ts";

/** The stats of a path, links followed. */
export interface PathStat {
  readonly kind: "missing" | "file" | "directory" | "special";
  readonly size: number;
  /** Milliseconds since the epoch, with their fraction. */
  readonly mtimeMs: number;
}

export function pathStat(path: string | Buffer): PathStat {
  try {
    const stat = statSync(path);
    const kind = stat.isFile() ? "file" : stat.isDirectory() ? "directory" : "special";
    return { kind, size: stat.size, mtimeMs: stat.mtimeMs };
  } catch (error) {
    if (isMissing(error)) return { kind: "missing", size: 0, mtimeMs: 0 };
    throw error;
  }
}

/** Maximum bytes of a short file. */
const MAX_SHORT = 1024 * 1024;

/** Whether a path leads to a regular file of at most 1 MB: reading any other file could block, or never end. */
export function isShortFile(path: string): boolean {
  const { kind, size } = pathStat(path);
  return kind === "file" && size <= MAX_SHORT;
}

/** Names the encoding problem of a file, given the text that was read from it; undefined for UTF-8. */
export function encodingProblem(path: string, text: string): string | undefined {
  // In UTF-16 every ASCII character has a zero byte.
  if (text.includes("\0")) return "is not UTF-8, but probably UTF-16";
  // The file may contain U+FFFD itself, which also replaces invalid bytes.
  if (!text.includes("\ufffd") || isUtf8(readFrom(path, 0) ?? Buffer.alloc(0))) return undefined;
  return "is not UTF-8";
}

/** Whether a path leads to a special file such as a pipe or a device, which is written in place and never replaced. */
export function isSpecialFile(path: string): boolean {
  return pathStat(path).kind === "special";
}

/** Whether the file system of a directory keeps the executable bit of a file. Tests this with a temporary file. */
export function keepsModes(directory: string): boolean {
  const path = temporaryBeside(join(directory, "mode"));
  try {
    writeNew(path, "", PRIVATE_FILE, false);
    const isSet = (): boolean => (statSync(path).mode & 0o100) !== 0;
    if (isSet()) return false;
    chmodSync(path, PRIVATE_DIR);
    return isSet();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  } finally {
    rmSync(path, { force: true });
  }
}

/**
 * Reads a file without a size, such as a file in /proc: at most `maxBytes` bytes, and none if reading would block.
 * @returns undefined if it is missing
 */
export function readUnsized(path: string | Buffer, maxBytes: number): Buffer | undefined {
  const fd = openIfThere(path);
  if (fd === undefined) return undefined;
  try {
    return readPart(fd, 0, maxBytes);
  } catch (error) {
    if (systemCode(error) === "EAGAIN") return Buffer.alloc(0);
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** Writes to a pipe or a device. @throws ENXIO, instead of waiting, if no process reads the pipe */
function writeSpecial(path: string, content: string): void {
  const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    writeFileSync(fd, content);
  } finally {
    closeSync(fd);
  }
}

/**
 * Writes a file in place. On a full disk its old content is restored: the new end, which alone needs space, is written first, and
 * the file is truncated last.
 */
function overwrite(path: string, content: string): void {
  const bytes = Buffer.from(content);
  const fd = openSync(path, constants.O_RDWR);
  try {
    const old = readFileSync(fd);
    try {
      writeAt(fd, bytes.subarray(old.length), old.length);
      writeAt(fd, bytes.subarray(0, old.length), 0);
    } catch (error) {
      writeAt(fd, old, 0);
      ftruncateSync(fd, old.length);
      throw error;
    }
    ftruncateSync(fd, bytes.length);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function writeAt(fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(fd, bytes, done, bytes.length - done, position + done);
}

/**
 * Writes a file of the user, completely or not at all. Follows links, and keeps mode, owner and group. Never replaces a pipe, a device,
 * or a file that this user may not write. A new file and its missing parent directories get their modes from the umask.
 */
export function writeUserFile(path: string, content: string): void {
  const real = realPathOf(path);
  const old = statSync(real, { throwIfNoEntry: false });
  if (old === undefined) {
    mkdirSync(dirname(real), { recursive: true });
    replaceFile(real, content, { mode: "umask" });
    return;
  }
  if (!old.isFile()) {
    writeSpecial(real, content);
    return;
  }
  // A rename needs only the right to write the directory.
  closeSync(openSync(real, constants.O_WRONLY));
  // A file with several hard links is written in place, since a rename would separate them.
  if (old.nlink > 1) {
    overwrite(real, content);
    return;
  }
  replaceFile(real, content, { mode: old.mode & 0o7777 });
  restoreOwner(real, old);
  // A change of the owner clears some bits of the mode.
  chmodSync(real, old.mode & 0o7777);
}

/** Gives a file the owner and the group of the file that it replaced, as far as this user may. */
function restoreOwner(path: string, { uid, gid }: Stats): void {
  const now = statSync(path);
  if (now.gid !== gid) changeOwner(path, now.uid, gid);
  if (now.uid !== uid) changeOwner(path, uid, gid);
}

function changeOwner(path: string, uid: number, gid: number): void {
  try {
    chownSync(path, uid, gid);
  } catch (error) {
    // Only root may choose any owner, others only a group of theirs, and a container only users that it knows (EINVAL). Otherwise
    // the file becomes ours, as with any editor that replaces files.
    if (systemCode(error) !== "EPERM" && systemCode(error) !== "EINVAL") throw error;
  }
}
