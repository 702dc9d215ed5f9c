import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { systemCode } from "../../errors.ts";
import { withoutMark } from "../../text/characters/byte-order-mark.ts";

/** Only the user may read a team's files, regardless of the umask (protocol.md section 1). */
export const PRIVATE_DIR = 0o700;
export const PRIVATE_FILE = 0o600;

/** Creates a directory and its missing parents, each 0700. */
export function ensureDir(path: string): void {
  if (isDirectory(path)) return;
  ensureDir(dirname(path));
  // If something else is there, mkdir throws the system error.
  if (!makePrivateDir(path) && !isDirectory(path)) mkdirSync(path);
}

/** Creates a directory, 0700 regardless of the umask. @returns false if the name is taken */
export function makePrivateDir(path: string): boolean {
  try {
    mkdirSync(path, { mode: PRIVATE_DIR });
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
  if ((statSync(path).mode & 0o777) !== PRIVATE_DIR) chmodSync(path, PRIVATE_DIR);
  return true;
}

/** A FIFO in place of a file reads as empty: without O_NONBLOCK, opening it would wait for a writer. */
const TO_READ = constants.O_RDONLY | constants.O_NONBLOCK;
/** Node accepts the number, but its types do not. */
const FLAG_TO_READ = TO_READ as unknown as string;

/** Returns a file's text without the byte order mark that some editors write; undefined if it is missing. */
export function readText(path: string): string | undefined {
  try {
    return withoutMark(readFileSync(path, { encoding: "utf8", flag: FLAG_TO_READ }));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw namingPath(error, path);
  }
}

/** Adds the path to a system error that lacks it: if a file could be opened, but not read (a directory) or written (a full disk). */
export function namingPath(error: unknown, path: string | Buffer): unknown {
  const isNameless = error instanceof Error && systemCode(error) !== undefined && !("path" in error);
  if (isNameless) error.message += ` '${path}'`;
  return error;
}

/** Returns the bytes of a file from `offset` to its end; undefined if it is missing. */
export function readFrom(path: string | Buffer, offset: number): Buffer | undefined {
  const fd = openIfThere(path);
  if (fd === undefined) return undefined;
  try {
    return readPart(fd, offset, fstatSync(fd).size);
  } catch (error) {
    throw namingPath(error, path);
  } finally {
    closeSync(fd);
  }
}

/** Opens a file for reading; the caller must close the descriptor. Undefined if the file is missing. */
export function openIfThere(path: string | Buffer): number | undefined {
  try {
    return openSync(path, TO_READ);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Returns the bytes of an open file from `from` to `to`; fewer if the file ends first. */
export function readPart(fd: number, from: number, to: number): Buffer {
  const buffer = Buffer.alloc(Math.max(0, to - from));
  let filled = 0;
  while (filled < buffer.length) {
    const read = readSync(fd, buffer, filled, buffer.length - filled, from + filled);
    if (read === 0) break;
    filled += read;
  }
  return buffer.subarray(0, filled);
}

/** Returns the sorted names in a directory; none if it is missing. */
export function listDir(path: string): string[] {
  try {
    return readdirSync(path).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Identifies a version of a file: it differs after each change of the file, or of the path. */
export interface FileVersion {
  readonly inode: number;
  readonly size: number;
  /** Time of the last change of content, name or rights, in milliseconds since the epoch. */
  readonly changedMs: number;
}

/** Returns the version of a file; undefined if it is missing. */
export function versionOf(path: string): FileVersion | undefined {
  const entry = statSync(path, { throwIfNoEntry: false });
  return entry && { inode: entry.ino, size: entry.size, changedMs: entry.ctimeMs };
}

/** Returns the size in bytes; undefined if the file is missing. */
export function fileSize(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/** Start time in microseconds: distinguishes this process from later ones with its pid, and from processes in other containers. */
const START_WORD = (process.hrtime.bigint() / 1_000n).toString(36).slice(-7);
let sequence = 0;

/**
 * Returns a temporary name next to `path` for its next content. It is hidden, and contains the pid, so that files of
 * killed writers can be recognized.
 */
export function temporaryBeside(path: string): string {
  sequence += 1;
  return join(dirname(path), `.${basename(path)}.${process.pid}.${START_WORD}${sequence}.tmp`);
}

/** Returns the pid in a name of {@link temporaryBeside}; undefined for any other name. */
export function temporaryWriter(name: string): number | undefined {
  const pid = /^\..+\.([1-9][0-9]*)\.[0-9a-z]+\.tmp$/.exec(name)?.[1];
  return pid === undefined ? undefined : Number(pid);
}

/**
 * Appends text to a file with mode 0600 that only this process writes. Not synced: for files that may lose their end in a power cut.
 * @throws a system error, after truncating the file to its previous size
 */
export function appendPrivate(path: string, text: string): void {
  const fd = openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, PRIVATE_FILE);
  try {
    setFileMode(fd, PRIVATE_FILE);
    const { size } = fstatSync(fd);
    try {
      writeAll(fd, Buffer.from(text));
    } catch (error) {
      ftruncateSync(fd, size);
      throw namingPath(error, path);
    }
  } finally {
    closeSync(fd);
  }
}

/** Sets a file's mode to 0600. */
export function makePrivate(path: string): void {
  chmodSync(path, PRIVATE_FILE);
}

/** Removes a file; does nothing if it is missing. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** Removes a directory if it exists and is empty. */
export function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch (error) {
    const code = systemCode(error);
    if (!isMissing(error) && code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
  }
}

/** Removes a directory and everything below it. */
export function removeTree(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

/** Renames a file or directory atomically. */
export function rename(from: string, to: string): void {
  renameSync(from, to);
}

export function isDirectory(path: string | Buffer): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Returns the stats of an entry, links not followed; undefined if it is missing, or a part of its path is a file. */
export function entryOf(path: string | Buffer): ReturnType<typeof lstatSync> {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Returns the uid of the owner of a file or directory, links followed; undefined if it does not exist. */
export function ownerOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.uid;
}

/** True if a file or directory belongs to the user of this process, links followed; false if it does not exist. */
export function isOwnEntry(path: string): boolean {
  const uid = process.geteuid?.();
  return uid === undefined || ownerOf(path) === uid;
}

export function isMissing(error: unknown): boolean {
  const code = systemCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/** Copies a file to a new path; the system shares its blocks if it can. @throws a system error EEXIST if the name is taken */
export function copyToNew(path: string, copy: string): void {
  copyFileSync(path, copy, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
}

/** Writes a new file. @throws a system error EEXIST if the name is taken */
export function writeNew(
  path: string,
  content: string | Uint8Array,
  mode: number | "umask" = PRIVATE_FILE,
  sync = true,
): void {
  const access = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  const fd = openSync(path, access, mode === "umask" ? 0o666 : mode);
  try {
    if (mode !== "umask") setFileMode(fd, mode);
    writeAll(fd, typeof content === "string" ? Buffer.from(content) : content);
    if (sync) fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Replaces everything after the first `keep` bytes of a file, and syncs it. Its mode becomes 0600. */
export function replaceEnd(path: string, keep: number, text: string): void {
  const fd = openSync(path, constants.O_RDWR | constants.O_APPEND);
  try {
    setFileMode(fd, PRIVATE_FILE);
    ftruncateSync(fd, keep);
    writeAll(fd, Buffer.from(text));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Writes all bytes at the position of a descriptor. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  let at = 0;
  while (at < bytes.length) at += writeSync(fd, bytes, at, bytes.length - at);
}

/** Sets the mode regardless of the umask, which is not changed because child processes inherit it. */
export function setFileMode(fd: number, mode: number): void {
  if ((fstatSync(fd).mode & 0o7777) !== mode) fchmodSync(fd, mode);
}

/** Sets when a file was changed last. @param at milliseconds since the epoch */
export function setModifiedTime(path: string, at: number): void {
  utimesSync(path, at / 1000, at / 1000);
}

/** Truncates a file to `length` bytes. */
export function truncateFile(path: string, length: number): void {
  truncateSync(path, length);
}
