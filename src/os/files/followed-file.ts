import { closeSync, fstatSync, readSync, watch } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { after } from "../clock.ts";
import { fileSize, openIfThere, readFrom, truncateFile, versionOf } from "./fs.ts";

/** Milliseconds between two polls of a watched file. */
const SLOW_MS = 5_000;
/** Milliseconds between two polls on a file system without watches. */
const FAST_MS = 250;
/** Bytes to read before the file is emptied, which frees disk space. */
const MAX_READ_BYTES = 16 * 1024 * 1024;

/** The lines that another program appends to a file. A file, unlike a FIFO, loses none of them while this process is busy. */
export class FollowedFile {
  readonly #path: string;
  readonly #onLine: (line: string) => void;
  readonly #decoder = new StringDecoder("utf8");
  #offset: number;
  #emptiedAt = 0;
  #rest: string[] = [];
  #stop: () => void = () => undefined;

  /** @param offset the first byte to read */
  constructor(path: string, onLine: (line: string) => void, offset = 0) {
    this.#path = path;
    this.#onLine = onLine;
    this.#offset = offset;
  }

  /** Reads the file whenever it changes, until `close`. The file must exist. */
  follow(): void {
    const watcher = watchFile(this.#path, () => this.read());
    const stopWatching = (): void => watcher?.close();
    const poll = (): void => {
      this.read();
      const stopWaiting = after(watcher === undefined ? FAST_MS : SLOW_MS, poll);
      this.#stop = () => {
        stopWaiting();
        stopWatching();
      };
    };
    poll();
  }

  close(): void {
    this.#stop();
  }

  /** Reads the new bytes. A missing file has none. */
  read(): void {
    if (this.#isRewound()) {
      this.#offset = 0;
      this.#emptiedAt = 0;
    }
    const bytes = readFrom(this.#path, this.#offset);
    if (bytes === undefined || bytes.length === 0) return;
    this.#offset += bytes.length;
    const [first = "", ...more] = this.#decoder.write(bytes).split("\n");
    this.#rest.push(first);
    for (const next of more) {
      const line = this.#rest.join("");
      this.#rest = [next];
      this.#onLine(line);
    }
  }

  /** Whether the writer has started at the beginning of the emptied file: it appends, instead of writing at its own offset. */
  #isRewound(): boolean {
    const size = this.#emptiedAt === 0 ? 0 : (fileSize(this.#path) ?? 0);
    return size > 0 && size < this.#emptiedAt;
  }

  /** Empties the file if it is large and read to its end. A writer that continues at its own offset leaves a hole before it. */
  empty(): void {
    if (this.#offset - this.#emptiedAt < MAX_READ_BYTES || fileSize(this.#path) !== this.#offset) return;
    truncateFile(this.#path, 0);
    this.#emptiedAt = this.#offset;
  }
}

/**
 * Calls `onChange` when a file is changed. A file that cannot be watched (missing, or no watches left) is not an error: callers also read
 * it at other times.
 * @returns undefined if the file cannot be watched
 */
export function watchFile(path: string, onChange: () => void): { close(): void } | undefined {
  try {
    const watcher = watch(path, onChange);
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    // ENOENT, ENOSPC, EMFILE: see above.
    return undefined;
  }
}

/** Bytes to read at a time. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Reads the lines that other programs append to a file, from its start. It keeps the file open: the last lines are not lost if
 * another file replaces it, or if it is deleted. The caller closes it.
 */
export class KeptFile {
  readonly #path: () => string;
  #fd: number | undefined;
  #inode: number | undefined;
  #offset = 0;
  #decoder = new StringDecoder("utf8");
  #rest = "";

  /** @param path called at each read: the file may be moved */
  constructor(path: () => string) {
    this.#path = path;
  }

  /** Returns the whole lines since the last read. A missing file has none. */
  lines(): readonly string[] {
    const lines = this.#readOpen();
    if (versionOf(this.#path())?.inode === this.#inode && this.#fd !== undefined) return lines;
    // Its last lines may have been written between the read and the check of the path.
    lines.push(...this.#readOpen());
    this.close();
    this.#fd = openIfThere(this.#path());
    if (this.#fd === undefined) return lines;
    this.#inode = fstatSync(this.#fd).ino;
    return [...lines, ...this.#readOpen()];
  }

  /** Returns whether both have the same file open: it was renamed from one path to the other between their reads. */
  isSameFile(other: KeptFile): boolean {
    return this.#inode !== undefined && this.#inode === other.#inode;
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    this.#inode = undefined;
    this.#offset = 0;
    this.#decoder = new StringDecoder("utf8");
    this.#rest = "";
  }

  #readOpen(): string[] {
    if (this.#fd === undefined) return [];
    const buffer = Buffer.alloc(CHUNK_BYTES);
    const lines: string[] = [];
    for (;;) {
      const count = readSync(this.#fd, buffer, 0, CHUNK_BYTES, this.#offset);
      if (count === 0) return lines;
      this.#offset += count;
      const parts = `${this.#rest}${this.#decoder.write(buffer.subarray(0, count))}`.split("\n");
      this.#rest = parts.pop() ?? "";
      lines.push(...parts.filter((part) => part !== ""));
    }
  }
}
