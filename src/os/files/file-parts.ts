import { closeSync, existsSync, openSync } from "node:fs";
import { isSystemError } from "../../errors.ts";
import { BYTE_ORDER_MARK } from "../../text/characters/byte-order-mark.ts";
import { fileSize, readFrom, readPart } from "./fs.ts";

/** Returns at most the first `bytes` of a file; undefined if this user cannot read it. */
export function readStart(path: string, bytes: number): Buffer | undefined {
  try {
    const fd = openSync(path, "r");
    try {
      return readPart(fd, 0, bytes);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    // The file is missing, is a directory, or may not be read by this user.
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

const MARK_BYTES = Buffer.from(BYTE_ORDER_MARK);

/** Returns the byte order mark at the start of a file; empty without a mark or a file. */
export function markOf(path: string): string {
  return readStart(path, MARK_BYTES.length)?.equals(MARK_BYTES) ? BYTE_ORDER_MARK : "";
}

/** True if this user can see a file or a directory at this path. */
export function isThere(path: string): boolean {
  return existsSync(path);
}

/** Returns at most the last `bytes` of a file as text, from the start of a line; undefined if it is missing. */
export function readTail(path: string, bytes: number): string | undefined {
  const size = fileSize(path);
  const from = Math.max(0, (size ?? 0) - bytes);
  const text = readFrom(path, from)?.toString("utf8");
  return from === 0 ? text : text?.slice(text.indexOf("\n") + 1);
}
