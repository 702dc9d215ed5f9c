import { fstatSync, statSync, writeSync } from "node:fs";
import { systemCode } from "../../errors.ts";

/**
 * Whether a descriptor of this process is a file, a pipe, a socket or the device that throws all away: certainly no terminal,
 * and written to without a stream. Node's streams cost a cold command 2 ms before their first byte.
 */
export function isPlainOutput(fd: number): boolean {
  try {
    const output = fstatSync(fd);
    return !output.isCharacterDevice() || output.rdev === statSync("/dev/null").rdev;
  } catch {
    // Closed by whoever started us; Node has a stream for that, which takes everything and gives it to nobody.
    return false;
  }
}

/**
 * Writes a text, and waits for a reader that is slow, as Node's own streams do on a pipe.
 * @returns what a descriptor that somebody else made non-blocking does not take now; empty when all is written
 * @throws Error of the system: EPIPE, ENOSPC
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
