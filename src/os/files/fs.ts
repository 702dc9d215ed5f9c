import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
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
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { systemCode } from "../../errors.ts";

/** Nobody else reads a team's files, whatever the umask (protocol.md section 1). */
export const PRIVATE_DIR = 0o700;
export const PRIVATE_FILE = 0o600;

/** Makes a directory and what is missing above it, each 0700. */
export function ensureDir(path: string): void {
  if (isDirectory(path)) return;
  ensureDir(dirname(path));
  // What stands there instead is told as the system tells it.
  if (!makePrivateDir(path) && !isDirectory(path)) mkdirSync(path);
}

/** Makes a directory, 0700 whatever the umask. @returns false when the name is taken */
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

/** A FIFO under a file's name is an empty file: to open it otherwise waits for a writer, who may never come. */
const TO_READ = constants.O_RDONLY | constants.O_NONBLOCK;
/** Node takes the number, of which its types know nothing. */
const FLAG_TO_READ = TO_READ as unknown as string;

/** A file's text, or undefined when it is not there. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, { encoding: "utf8", flag: FLAG_TO_READ });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw namingPath(error, path);
  }
}

/** The system names no path where the file could be opened and not be read, as a directory. */
function namingPath(error: unknown, path: string): unknown {
  const isNameless = error instanceof Error && systemCode(error) !== undefined && !("path" in error);
  if (isNameless) error.message += ` '${path}'`;
  return error;
}

/** The bytes of a file from `offset` on; undefined when it is not there. */
export function readFrom(path: string, offset: number): Buffer | undefined {
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

/** A descriptor to read from, for the caller to close; undefined when there is no such file. */
export function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, TO_READ);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The bytes of an open file from `from` up to `to`; fewer where it ends before. */
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

/** At most the last `bytes` of a file as text, from the start of a line; undefined when it is not there. */
export function readTail(path: string, bytes: number): string | undefined {
  const size = fileSize(path);
  const from = Math.max(0, (size ?? 0) - bytes);
  const text = readFrom(path, from)?.toString("utf8");
  return from === 0 ? text : text?.slice(text.indexOf("\n") + 1);
}

/** Names in a directory, sorted; none when it is not there. */
export function listDir(path: string): string[] {
  try {
    return readdirSync(path).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Tells a file from what its path led to before. */
export interface FileVersion {
  readonly inode: number;
  readonly size: number;
  /** Milliseconds since the epoch of the last change of content, name or rights. */
  readonly changedMs: number;
}

/** Undefined when nothing is there. */
export function versionOf(path: string): FileVersion | undefined {
  const entry = statSync(path, { throwIfNoEntry: false });
  return entry && { inode: entry.ino, size: entry.size, changedMs: entry.ctimeMs };
}

/** Size in bytes, or undefined when nothing is there. */
export function fileSize(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/** Tells this process from another with its pid: a later one, or one in another container. Microseconds, of which some days are enough. */
const WORD = (process.hrtime.bigint() / 1_000n).toString(36).slice(-7);
let sequence = 0;

/**
 * A name beside `path` for its next content. Hidden, and with the pid, so that what a killed writer left is told
 * from a living one's.
 */
export function temporaryBeside(path: string): string {
  sequence += 1;
  return join(dirname(path), `.${basename(path)}.${process.pid}.${WORD}${sequence}.tmp`);
}

/** The pid of whoever was to write a file of this name, as {@link temporaryBeside} gives it; undefined for any other name. */
export function temporaryWriter(name: string): number | undefined {
  const pid = /^\..+\.([1-9][0-9]*)\.[0-9a-z]+\.tmp$/.exec(name)?.[1];
  return pid === undefined ? undefined : Number(pid);
}

/** Appends whole lines in one write, so that two writers' lines never mix, and puts them on the disk. */
export function appendDurably(path: string, text: string, sync = true): void {
  const fd = openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, PRIVATE_FILE);
  try {
    setFileMode(fd, PRIVATE_FILE);
    writeAll(fd, Buffer.from(text));
    if (sync) fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Makes a file 0600. */
export function makePrivate(path: string): void {
  chmodSync(path, PRIVATE_FILE);
}

/** Removes a file; that it was not there is no failure. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** Removes a directory with nothing in it; one that is not there, or not empty, is left as it is. */
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

/** Renames a file or directory, in one step. */
export function rename(from: string, to: string): void {
  renameSync(from, to);
}

export function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** The entry itself, links not followed; undefined when nothing is there, as behind a file. */
export function entryOf(path: string): ReturnType<typeof lstatSync> {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  const code = systemCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/** Writes a file that is not there yet. @throws a system error EEXIST when it is */
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

function writeAll(fd: number, bytes: Uint8Array): void {
  let at = 0;
  while (at < bytes.length) at += writeSync(fd, bytes, at, bytes.length - at);
}

/** The mode whatever the umask, which stays as it is, since children inherit it. */
export function setFileMode(fd: number, mode: number): void {
  if ((fstatSync(fd).mode & 0o7777) !== mode) fchmodSync(fd, mode);
}

/** Cuts a file off behind `length` bytes. */
export function truncateFile(path: string, length: number): void {
  truncateSync(path, length);
}
