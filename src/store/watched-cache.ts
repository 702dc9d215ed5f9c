import { dirname, sep } from "node:path";
import { entryOf } from "../os/files/fs.ts";
import { type FileCache, ReadCache } from "./read-cache.ts";

/** The state of a path at its last check. A part is missing until a caller needs it. */
interface Remembered {
  content?: { readonly value: unknown };
  isThere?: boolean;
}

/**
 * Caches the content of files in directories that a watch follows: without a report of the watch, a file costs no system call. A watch
 * may lose a report, so call {@link checkAll} from time to time.
 */
export class WatchedCache implements FileCache {
  readonly #cache = new ReadCache();
  readonly #isWatched: (directory: string) => boolean;
  readonly #directories = new Map<string, Map<string, Remembered>>();

  /** @param isWatched whether changes in a directory are reported to {@link changed} */
  constructor(isWatched: (directory: string) => boolean) {
    this.#isWatched = isWatched;
  }

  get<T>(path: string, read: () => T): T | undefined {
    const known = this.#remembered(path);
    if (known?.content !== undefined) return known.content.value as T | undefined;
    const value = this.#cache.get(path, read);
    if (known !== undefined) known.content = { value };
    return value;
  }

  has(path: string): boolean {
    const known = this.#remembered(path);
    const isThere = known?.isThere ?? entryOf(path) !== undefined;
    if (known !== undefined) known.isThere = isThere;
    return isThere;
  }

  /** Forgets a file, or a directory with everything below it. */
  changed(path: string): void {
    this.#directories.get(dirname(path))?.delete(path);
    for (const directory of this.#directories.keys()) {
      if (directory === path || directory.startsWith(path + sep)) this.#directories.delete(directory);
    }
  }

  /** Checks each file again at its next use. The content of an unchanged file is not read again. */
  checkAll(): void {
    this.#directories.clear();
  }

  /** Returns undefined for a path in a directory without a watch. */
  #remembered(path: string): Remembered | undefined {
    const directory = dirname(path);
    if (!this.#isWatched(directory)) return undefined;
    const files = this.#directories.get(directory) ?? new Map<string, Remembered>();
    const known = files.get(path) ?? {};
    this.#directories.set(directory, files.set(path, known));
    return known;
  }
}
