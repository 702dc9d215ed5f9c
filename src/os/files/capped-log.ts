import { closeSync, constants, fstatSync, ftruncateSync, lstatSync, openSync, readSync } from "node:fs";
import { messageOf, systemCode } from "../../errors.ts";
import { ownSecrets, redactText } from "../redact.ts";
import { isMissing, PRIVATE_FILE, removeFile } from "./fs.ts";
import { writeNow } from "./standard-streams.ts";

interface LogBounds {
  /** Size in bytes above which a log is cut. */
  readonly max: number;
  /** Bytes to keep at its end, from the start of a line. */
  readonly kept: number;
}

/** 1 MB contains a screen of 200×50 a hundred times: people scroll back no further, and conversations are stored elsewhere. */
export const LOG_BOUNDS: LogBounds = { max: 8 * 1024 * 1024, kept: 1024 * 1024 };

/** Characters between two checks of a log's size: a check costs as much as a short line. */
const CHECK_EVERY = 1024 * 1024;

/**
 * A new log file that only this process writes, kept within its bounds. Writing never throws: a log that cannot be written (a full
 * disk) must not end the agent. The log says where text is missing.
 */
export interface LogFile {
  write(text: string): void;
  close(): void;
}

/** Creates a log file, replacing an old one. @throws a system error if it cannot be created */
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

/** Returns a writer to standard output. If standard output is the log at `path`, the log is kept within its bounds. */
export function writerToLog(write: (text: string) => void, path: string): (text: string) => void {
  // A stream would close at its first error, and end this process.
  const append = (text: string): void => void writeNow(STANDARD_OUTPUT, text);
  return writerTo(STANDARD_OUTPUT, isOpenAs(STANDARD_OUTPUT, path) ? append : write, path);
}

/** Whether a descriptor of this process is the file at a path. */
function isOpenAs(fd: number, path: string): boolean {
  const own = fstatSync(fd);
  const current = lstatSync(path, { throwIfNoEntry: false });
  return own.ino === current?.ino && own.dev === current.dev;
}

function writerTo(fd: number, write: (text: string) => void, path: string): (text: string) => void {
  let since = 0;
  /** A line about the text that could not be written; usually empty. */
  let lost = "";
  return (text) => {
    try {
      // Text from outside (a message, a typed line) may contain a secret of this process.
      write(`${lost}${redactText(text, ownSecrets())}`);
      lost = "";
      since += text.length;
      if (since < CHECK_EVERY) return;
      since = 0;
      cutLog(fd, path);
    } catch (error) {
      lost = `\n… output is missing here: ${messageOf(error)}\n`;
    }
  };
}

const STANDARD_OUTPUT = 1;

/**
 * Cuts a file that a descriptor of this process appends to if it is too large. It is cut in place, so other processes
 * that append to it continue. A concurrent reader may see only a part of the remaining text.
 * @param path path of the file; does nothing if another file has this path now
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
    const current = fstatSync(file);
    if (current.ino !== written.ino || current.dev !== written.dev) return false;
    const tail = Buffer.alloc(kept);
    const read = readSync(file, tail, 0, kept, Math.max(0, current.size - kept));
    const end = tail.subarray(0, read);
    ftruncateSync(file, 0);
    writeNow(fd, end.subarray(end.indexOf(0x0a) + 1));
    return true;
  } finally {
    closeSync(file);
  }
}
