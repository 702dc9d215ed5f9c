import { type Clock, systemClock } from "../os/clock.ts";
import { type FileVersion, versionOf } from "../os/files/fs.ts";

/** Milliseconds: the times of some file systems are so coarse that two changes within them look like one. */
const YOUNG_MS = 2_000;
/** Files that are remembered: more than the largest team has. Past it all are read once more. */
const MAX_FILES = 20_000;

/**
 * What a process that looks at the same files again and again has read: a file that has not changed costs it one call of
 * the system. What it gives out is shared, and nobody changes it.
 */
export class ReadCache {
  readonly #files = new Map<string, { readonly version: FileVersion; readonly content: unknown }>();
  readonly #clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /**
   * What `read` makes of a file, from before where it is the same file still.
   * @returns undefined when there is none
   * @throws a system error when it cannot be looked at, and what `read` throws
   */
  get<T>(path: string, read: () => T): T | undefined {
    // Before it is read: a change behind this look is another version at the next one.
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
}

function isSame(a: FileVersion, b: FileVersion): boolean {
  return a.inode === b.inode && a.changedMs === b.changedMs && a.size === b.size;
}
