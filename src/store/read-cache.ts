import { type Clock, systemClock } from "../os/clock.ts";
import { entryOf, type FileVersion, versionOf } from "../os/files/fs.ts";

/** Files changed within this many milliseconds are not cached: some file systems have such coarse times that two changes look like one. */
const YOUNG_MS = 2_000;
/** Maximum number of cached files: more than the largest team has. The cache is cleared when it is full. */
const MAX_FILES = 20_000;

/** Reads files for a process that reads them repeatedly. Results are shared, so callers must not modify them. */
export interface FileCache {
  /**
   * Returns the result of `read` for a file, cached if the file has not changed.
   * @returns undefined if the file is missing
   * @throws a system error if the file is inaccessible, and errors of `read`
   */
  get<T>(path: string, read: () => T): T | undefined;
  /** Whether the path exists, links not followed. */
  has(path: string): boolean;
}

/** Caches the content of files by their versions: an unchanged file costs one system call. */
export class ReadCache implements FileCache {
  readonly #files = new Map<string, { readonly version: FileVersion; readonly content: unknown }>();
  readonly #clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  get<T>(path: string, read: () => T): T | undefined {
    // The version is taken before the read, so a change during the read shows at the next call.
    const version = versionOf(path);
    const known = this.#files.get(path);
    if (version !== undefined && known !== undefined && isSame(known.version, version))
      return known.content as T;
    this.#files.delete(path);
    if (version === undefined) return undefined;
    const content = read();
    if (this.#clock.now() - version.changedMs < YOUNG_MS) return content;
    if (this.#files.size >= MAX_FILES) this.#files.clear();
    this.#files.set(path, { version, content });
    return content;
  }

  has(path: string): boolean {
    return entryOf(path) !== undefined;
  }
}

function isSame(a: FileVersion, b: FileVersion): boolean {
  return a.inode === b.inode && a.changedMs === b.changedMs && a.size === b.size;
}
