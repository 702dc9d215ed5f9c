import { closeSync, fstatSync, statSync } from "node:fs";
import { systemClock } from "../clock.ts";
import { openIfThere, readPart } from "./fs.ts";

/** Maximum bytes to read from the end of a file. */
const END_BYTES = 64 * 1024;
/** Bytes of each chunk when two files are compared. */
const CHUNK = 1024 * 1024;
/**
 * Milliseconds after a change in which a later change may get the same time: more than a tick of the system's clock (`fine`), or
 * more than the unit of a file system that counts in milliseconds or seconds (`coarse`).
 */
const YOUNG_MS = { fine: 100, coarse: 2_000 };

/** The end of a file, and the version of the file that it belongs to. */
export interface FileEnd {
  /** The first two bytes of the file, as text. */
  readonly start: string;
  /** The last bytes of the file. */
  readonly bytes: Buffer;
  readonly size: number;
  readonly version: string;
  /** True if a later change may have kept this version. */
  readonly isYoung: boolean;
}

/** Reads the end of a file. @returns undefined if there is no such file */
export function readEnd(path: string): FileEnd | undefined {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return undefined;
  const fd = openIfThere(path);
  if (fd === undefined) return undefined;
  try {
    const { size: exactSize, ctimeNs, ino } = fstatSync(fd, { bigint: true });
    const size = Number(exactSize);
    const limit = ctimeNs % 1_000_000n === 0n ? YOUNG_MS.coarse : YOUNG_MS.fine;
    return {
      start: readPart(fd, 0, 2).toString("latin1"),
      bytes: readPart(fd, Math.max(0, size - END_BYTES), size),
      size,
      version: `${ino} ${size} ${ctimeNs}`,
      isYoung: systemClock.now() - Number(ctimeNs / 1_000_000n) < limit,
    };
  } finally {
    closeSync(fd);
  }
}

/**
 * Returns whether a file has not changed since its end was read. Compares the content if the version is not certain.
 * @param copy a file that begins as the file did, up to the bytes of `end`
 */
export function isUnchanged(path: string, { bytes, size, version, isYoung }: FileEnd, copy: string): boolean {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined || `${stat.ino} ${stat.size} ${stat.ctimeNs}` !== version) return false;
  return !isYoung || isSameContent(path, copy, size - bytes.length, bytes);
}

/** Returns whether a file consists of the first `length` bytes of a copy, and of `end`. */
function isSameContent(path: string, copy: string, length: number, end: Buffer): boolean {
  const fds = [openIfThere(path), openIfThere(copy)] as const;
  try {
    const [file, other] = fds;
    if (file === undefined || other === undefined) return false;
    for (let at = 0; at < length; at += CHUNK) {
      const to = Math.min(length, at + CHUNK);
      if (!readPart(file, at, to).equals(readPart(other, at, to))) return false;
    }
    return readPart(file, length, length + end.length + 1).equals(end);
  } finally {
    for (const fd of fds) if (fd !== undefined) closeSync(fd);
  }
}
