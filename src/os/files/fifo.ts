import { execFile } from "node:child_process";
import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats, writeSync } from "node:fs";
import { systemCode, TeamError } from "../../errors.ts";

const BYTE = Buffer.from("\n");

/** A FIFO of this user that this process has opened without blocking. */
interface OpenFifo {
  readonly fd: number;
  /** True if the path still leads to this FIFO: it may have been removed or replaced. */
  isInPlace(): boolean;
  /** Closes the descriptor, unless it was passed on. Idempotent. */
  close(): void;
}

/**
 * Opens a FIFO of this user as its owner: for reading and writing, so that it never reports end-of-file. Never creates it.
 * @throws TeamError PERMISSION_DENIED if it is not a FIFO or belongs to another user; a system error if it is missing
 */
export function openOwnFifo(path: string): OpenFifo {
  return openFifo(path, constants.O_RDWR);
}

/**
 * Opens a FIFO of this user for reading only: end-of-file comes when its last writer is gone. Does not wait for a writer.
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
      const current = lstatSync(path, { throwIfNoEntry: false });
      return current?.ino === opened.ino && current.dev === opened.dev;
    },
    close: () => {
      // Closed only once: the number may belong to another file afterwards.
      if (!closed) closeSync(fd);
      closed = true;
    },
  };
}

/**
 * Writes one byte into a FIFO if a process has it open for reading. Never blocks and never creates it. A full FIFO counts
 * as written, since its reader wakes up anyway.
 * @returns whether there was a reader
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
 * True if no process has this FIFO open for reading, as after its owner was killed. Writes nothing into it. False if
 * there is no FIFO of this user.
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

/** No reader, no such file, a link, a directory, or no permission: each counts as a FIFO without a reader. */
export const NO_READER: ReadonlySet<string> = new Set([
  "ENXIO",
  "ENOENT",
  "ENOTDIR",
  "ELOOP",
  "EISDIR",
  "EACCES",
]);

/**
 * Creates missing FIFOs of mode 0600 with one forked `mkfifo`. Their directories must exist.
 * @throws TeamError PERMISSION_DENIED if a name is taken by something else
 */
export async function makeOwnFifos(paths: readonly string[]): Promise<void> {
  const missing = paths.filter((path) => !hasFifoAt(path));
  if (missing.length === 0) return;
  try {
    await mkfifo(missing);
  } catch (error) {
    // Another process may have created one of them at the same moment.
    if (!paths.every(hasFifoAt)) throw error;
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

function hasFifoAt(path: string): boolean {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return false;
  if (isOwnFifo(entry)) return true;
  throw notOurs(path);
}

/** True if there is a FIFO of this user; links are not followed. */
export function isOwnFifoAt(path: string): boolean {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  return entry !== undefined && isOwnFifo(entry);
}

export function isOwnFifo(stat: Stats): boolean {
  // Not os.userInfo(), which reads the system's list of users each time a bell rings.
  return stat.isFIFO() && stat.uid === process.geteuid?.();
}

function notOurs(path: string): TeamError {
  return new TeamError("PERMISSION_DENIED", `${path} is not a FIFO of this user; it was left as it is.`, {
    hint: "Remove it, or set XDG_RUNTIME_DIR to a directory of your own.",
  });
}
