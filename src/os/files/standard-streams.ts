import { fstatSync, statSync, writeSync } from "node:fs";
import { systemCode } from "../../errors.ts";

/**
 * True if a descriptor of this process is a file, a pipe, a socket or /dev/null, and so not a terminal. It can be written
 * to without Node's streams, which take a cold command 2 ms to load.
 */
export function isPlainOutput(fd: number): boolean {
  try {
    const output = fstatSync(fd);
    return !output.isCharacterDevice() || output.rdev === statSync("/dev/null").rdev;
  } catch {
    // The parent process closed the descriptor; Node's stream discards all output in that case.
    return false;
  }
}

/** Returns whether a descriptor is a directory. */
export function isDirectoryInput(fd: number): boolean {
  try {
    return fstatSync(fd).isDirectory();
  } catch {
    // The parent process closed the descriptor; Node's stream is empty in that case.
    return false;
  }
}

/**
 * Writes a text, waiting for a slow reader, as Node's own streams do on a pipe.
 * @returns the rest that the descriptor does not accept now, if another program made it non-blocking; empty if all is written
 * @throws a system error: EPIPE, ENOSPC
 */
export function writeNow(fd: number, text: string | Uint8Array): Buffer {
  let rest = Buffer.from(text as string);
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
  } catch (error) {
    if (systemCode(error) !== "EAGAIN") throw error;
  }
  return rest;
}
