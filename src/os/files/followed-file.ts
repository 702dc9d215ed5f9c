import { watch } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { after } from "../clock.ts";
import { fileSize, readFrom, truncateFile } from "./fs.ts";

/** Milliseconds between two looks at the file, with a watch and on a file system without one. */
const SLOW_MS = 5_000;
const FAST_MS = 250;
/** Read bytes after which the file is emptied, to keep the disk free. */
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

  /** @param offset the place of the first byte that is read */
  constructor(path: string, onLine: (line: string) => void, offset = 0) {
    this.#path = path;
    this.#onLine = onLine;
    this.#offset = offset;
  }

  /** Reads the file whenever it changes, until `close`. The file must exist. */
  follow(): void {
    const watcher = watchFile(this.#path, () => this.read());
    const stopWatching = (): void => watcher?.close();
    const look = (): void => {
      this.read();
      const stopWaiting = after(watcher === undefined ? FAST_MS : SLOW_MS, look);
      this.#stop = () => {
        stopWaiting();
        stopWatching();
      };
    };
    look();
  }

  close(): void {
    this.#stop();
  }

  /** Reads what is new. A missing file has nothing. */
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

  /** Whether the writer has begun the emptied file again: it appends, instead of continuing at its own place. */
  #isRewound(): boolean {
    const size = this.#emptiedAt === 0 ? 0 : (fileSize(this.#path) ?? 0);
    return size > 0 && size < this.#emptiedAt;
  }

  /** Empties the file if it is large and read to its end. A writer that continues at its own place leaves its beginning empty. */
  empty(): void {
    if (this.#offset - this.#emptiedAt < MAX_READ_BYTES || fileSize(this.#path) !== this.#offset) return;
    truncateFile(this.#path, 0);
    this.#emptiedAt = this.#offset;
  }
}

/**
 * Calls `onChange` when a file is changed. A file that cannot be watched (missing, or no watches left) is no error: callers also read
 * it at other times.
 * @returns undefined if the file cannot be watched
 */
export function watchFile(path: string, onChange: () => void): { close(): void } | undefined {
  try {
    const watcher = watch(path, onChange);
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    // ENOSPC, EMFILE: no watches are left.
    return undefined;
  }
}
