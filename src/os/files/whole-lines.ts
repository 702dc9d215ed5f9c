import { closeSync, constants, fstatSync, ftruncateSync, openSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { TeamError } from "../../errors.ts";
import { openIfThere, readPart, writeAll } from "./fs.ts";

/** A file of this user that one process extends, line by line. */
export interface WholeLines {
  /** Size in bytes. */
  readonly size: number;
  /** Appends a whole line, without fsync. @throws a system error, after truncating the file to its last whole line */
  append(line: string): void;
  close(): void;
}

/**
 * Opens an existing file to append lines. Never follows a link.
 * @throws TeamError PERMISSION_DENIED if it is not a file of this user; a system error
 */
export function openWholeLines(path: string): WholeLines {
  const fd = openSync(
    path,
    constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  );
  const opened = fstatSync(fd);
  if (!opened.isFile() || opened.uid !== (process.geteuid?.() ?? opened.uid)) {
    closeSync(fd);
    throw new TeamError("PERMISSION_DENIED", `${path} is not a file of this user; nothing was written.`, {
      hint: "Remove it, or choose another path.",
    });
  }
  let { size } = opened;
  return {
    get size() {
      return size;
    },
    append(line) {
      const bytes = Buffer.from(`${line}\n`);
      try {
        writeAll(fd, bytes);
      } catch (error) {
        ftruncateSync(fd, size);
        throw error;
      }
      size += bytes.length;
    },
    close: () => closeSync(fd),
  };
}

/** The lines of a file that other processes extend. The file stays open, so renaming its directory does no harm. */
export interface OpenLines {
  /** Returns the whole lines since the last call. */
  read(): readonly string[];
  close(): void;
}

/** Bytes to read at a time. */
const CHUNK = 1024 * 1024;

/** Opens a file from its beginning; undefined if it is missing. */
export function openLines(path: string): OpenLines | undefined {
  const fd = openIfThere(path);
  if (fd === undefined) return undefined;
  const decoder = new StringDecoder("utf8");
  let offset = 0;
  let rest: string[] = [];
  return {
    read() {
      const lines: string[] = [];
      for (const { size } = fstatSync(fd); offset < size; ) {
        const bytes = readPart(fd, offset, Math.min(size, offset + CHUNK));
        if (bytes.length === 0) break;
        offset += bytes.length;
        const [first = "", ...others] = decoder.write(bytes).split("\n");
        rest.push(first);
        for (const next of others) {
          lines.push(rest.join(""));
          rest = [next];
        }
      }
      return lines;
    },
    close: () => closeSync(fd),
  };
}
