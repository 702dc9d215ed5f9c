import { execFile } from "node:child_process";
import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats, writeSync } from "node:fs";
import { userInfo } from "node:os";
import { systemCode, TeamError } from "../../errors.ts";

const BYTE = Buffer.from("\n");

/** A FIFO of ours that this process has open, non-blocking. */
interface OpenFifo {
  readonly fd: number;
  /** Whether its path still leads to it: another may have been made under that name, or none be there. */
  isInPlace(): boolean;
  /** For who has not handed the descriptor on. May be called twice. */
  close(): void;
}

/**
 * Opens a FIFO of ours for its owner: for reading and writing, so that it is never at its end, and never creating it.
 * @throws TeamError PERMISSION_DENIED when it is something else or somebody else's; a system error when it is missing
 */
export function openOwnFifo(path: string): OpenFifo {
  return openFifo(path, constants.O_RDWR);
}

/**
 * Opens a FIFO of ours for reading alone: end-of-file comes when its last writer is gone. It does not wait for a writer.
 * @throws as {@link openOwnFifo}
 */
export function openFifoReader(path: string): OpenFifo {
  return openFifo(path, constants.O_RDONLY);
}

function openFifo(path: string, access: number): OpenFifo {
  const fd = openSync(path, access | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  const opened = fstatSync(fd);
  if (!isOwnFifo(opened)) {
    closeSync(fd);
    throw notOurs(path);
  }
  let closed = false;
  return {
    fd,
    isInPlace: () => {
      const there = lstatSync(path, { throwIfNoEntry: false });
      return there?.ino === opened.ino && there.dev === opened.dev;
    },
    close: () => {
      // By then the number may be another file's.
      if (!closed) closeSync(fd);
      closed = true;
    },
  };
}

/**
 * Writes one byte into a FIFO, if somebody has it open for reading; never blocks and never creates it. Full counts as
 * written: its reader has something to wake up for.
 * @returns whether a reader was there
 */
export function touchFifo(path: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    if (NO_READER.has(systemCode(error) ?? "")) return false;
    throw error;
  }
  try {
    if (!isOwnFifo(fstatSync(fd))) return false;
    writeSync(fd, BYTE);
    return true;
  } catch (error) {
    if (systemCode(error) === "EAGAIN") return true;
    if (systemCode(error) === "EPIPE") return false;
    throw error;
  } finally {
    closeSync(fd);
  }
}

/**
 * Whether a FIFO of ours is open in no process for reading, as that of a killed owner is; nothing is written into it.
 * False where there is none of ours.
 */
export function isAbandonedFifo(path: string): boolean {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined || !isOwnFifo(entry)) return false;
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW));
    return false;
  } catch (error) {
    if (NO_READER.has(systemCode(error) ?? "")) return systemCode(error) === "ENXIO";
    throw error;
  }
}

/** No reader, no such file, a link, a directory, or a bell that is not ours to ring: each means that nobody is there for us. */
const NO_READER: ReadonlySet<string> = new Set(["ENXIO", "ENOENT", "ENOTDIR", "ELOOP", "EISDIR", "EACCES"]);

/**
 * Makes FIFOs of mode 0600 with one forked `mkfifo`; those that are there stay. Their directories must exist.
 * @throws TeamError PERMISSION_DENIED when a name is taken by something else
 */
export async function makeOwnFifos(paths: readonly string[]): Promise<void> {
  const missing = paths.filter((path) => !fifoIsThere(path));
  if (missing.length === 0) return;
  try {
    await mkfifo(missing);
  } catch (error) {
    // Somebody may have made one of them at the same moment: what counts is that all are there.
    if (!paths.every(fifoIsThere)) throw error;
  }
}

function mkfifo(paths: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile("mkfifo", ["-m", "600", "--", ...paths], (error, _stdout, stderr) => {
      if (error === null) resolve();
      else reject(new Error(`mkfifo failed: ${stderr.trim() || error.message}`, { cause: error }));
    });
  });
}

function fifoIsThere(path: string): boolean {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return false;
  if (isOwnFifo(entry)) return true;
  throw notOurs(path);
}

/** Whether there is a FIFO of ours; links are not followed. */
export function isOwnFifoAt(path: string): boolean {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  return entry !== undefined && isOwnFifo(entry);
}

function isOwnFifo(stat: Stats): boolean {
  return stat.isFIFO() && stat.uid === userInfo().uid;
}

function notOurs(path: string): TeamError {
  return new TeamError("PERMISSION_DENIED", `${path} is not a FIFO of this user; it was left as it is.`, {
    hint: "Remove it, or set XDG_RUNTIME_DIR to a directory of your own.",
  });
}
