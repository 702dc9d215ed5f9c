import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync } from "node:fs";
import { systemCode } from "../../errors.ts";
import { ownSecrets, redactText } from "../redact.ts";
import { isMissing, PRIVATE_FILE, removeFile, writeNow } from "./fs.ts";

interface LogBounds {
  /** Bytes from which on a log is cut. */
  readonly max: number;
  /** Bytes at its end that stay, from the next line's beginning. */
  readonly kept: number;
}

/** A screen of 200×50 a hundred times over is 1 MB: nobody looks back further, and conversations are kept elsewhere. */
export const LOG_BOUNDS: LogBounds = { max: 8 * 1024 * 1024, kept: 1024 * 1024 };

/** Characters between two looks at a log's size: a look costs as much as a short line. */
const CHECK_EVERY = 1024 * 1024;

/** A log that this process alone writes, begun anew and kept below its bounds. */
export interface LogFile {
  write(text: string): void;
  close(): void;
}

/** @throws Error of the system when it cannot be made */
export function openLogFile(path: string): LogFile {
  removeFile(path);
  const { O_WRONLY, O_CREAT, O_EXCL, O_APPEND } = constants;
  const fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, PRIVATE_FILE);
  const append = writerTo(fd, (text) => void writeNow(fd, text), path);
  let isOpen = true;
  return {
    write: (text) => {
      if (isOpen) append(text);
    },
    close: () => {
      if (isOpen) closeSync(fd);
      isOpen = false;
    },
  };
}

/** A writer to standard output that keeps the log below its bounds where that is one, and else does nothing more. */
export function writerToLog(write: (text: string) => void, path: string): (text: string) => void {
  return writerTo(STANDARD_OUTPUT, write, path);
}

function writerTo(fd: number, write: (text: string) => void, path: string): (text: string) => void {
  let since = 0;
  return (text) => {
    // What came from elsewhere (a message, a typed line) may hold a secret of ours.
    write(redactText(text, ownSecrets()));
    since += text.length;
    if (since < CHECK_EVERY) return;
    since = 0;
    cutLog(fd, path);
  };
}

const STANDARD_OUTPUT = 1;

/**
 * Cuts the file that a descriptor of this process appends to once it is too large, in place, so that whoever else
 * appends to it goes on. A reader in between sees a part of what stays.
 * @param path by which it can be read; when something else is there by now, nothing is done
 * @returns whether it was cut
 */
export function cutLog(fd: number, path: string, { max, kept }: LogBounds = LOG_BOUNDS): boolean {
  const written = fstatSync(fd);
  if (!written.isFile() || written.size <= max) return false;
  let file: number;
  try {
    file = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isMissing(error) || systemCode(error) === "ELOOP") return false;
    throw error;
  }
  try {
    const there = fstatSync(file);
    if (there.ino !== written.ino || there.dev !== written.dev) return false;
    const tail = Buffer.alloc(kept);
    const read = readSync(file, tail, 0, kept, Math.max(0, there.size - kept));
    const end = tail.subarray(0, read);
    ftruncateSync(file, 0);
    writeNow(fd, end.subarray(end.indexOf(0x0a) + 1));
    return true;
  } finally {
    closeSync(file);
  }
}
