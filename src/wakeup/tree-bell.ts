import { join, sep } from "node:path";
import { isDirectory, listDir } from "../os/files/fs.ts";
import { type DirectoryWatch, watchDirectory } from "../os/files/watch.ts";
import { type Bell, ManualBell } from "./bell.ts";

/** Names of files that exist only during a change: locks, their owners, temporary files. */
const TRANSIENT = /(^\.)|(\.(lock|q~*|owner|tmp)$)/;

/** A bell that also knows which directories are watched. */
export interface TreeBell extends Bell {
  /** Whether changes in this directory are reported now. */
  isWatched(directory: string): boolean;
}

/**
 * Opens a bell that rings when a file below the directories changes, for live views (sidebar, `status --watch`). Directories that
 * are created later are watched at once; a missing one of `dirs` is watched from the next wait. Locks and temporary files do not
 * ring.
 * @param onChange called before a ring with the path of the changed entry; for a directory, anything below it may have changed
 */
export function openTreeBell(
  dirs: readonly string[],
  onChange: (path: string) => void = () => undefined,
): TreeBell {
  const watches = new Map<string, DirectoryWatch>();
  let closed = false;
  const rings = new ManualBell(() => {
    closed = true;
    for (const watching of watches.values()) watching.close();
    watches.clear();
  });

  const follow = (dir: string): void => {
    if (watches.has(dir)) return;
    const watching = watchDirectory(dir, (name) => {
      if (name !== undefined && TRANSIENT.test(name)) return;
      const changed = name === undefined ? dir : join(dir, name);
      // An existing directory may have replaced another of the same name, which the old watch still follows.
      forget(changed);
      try {
        if (name !== undefined && isDirectory(changed)) follow(changed);
      } catch {
        // No descriptor is left, or access is denied. No caller could catch the error here; the reader gets it when it reads.
      }
      // Call it last: a file may have been created in a new directory before it was watched.
      onChange(changed);
      rings.ring();
    });
    if (watching === undefined) return;
    watches.set(dir, watching);
    for (const name of listDir(dir)) {
      if (!TRANSIENT.test(name) && isDirectory(join(dir, name))) follow(join(dir, name));
    }
  };
  const forget = (gone: string): void => {
    for (const [dir, watching] of watches) {
      if (dir !== gone && !dir.startsWith(gone + sep)) continue;
      watching.close();
      watches.delete(dir);
    }
  };

  const followNew = (): boolean => {
    if (closed) return false;
    const missing = dirs.filter((dir) => !watches.has(dir));
    for (const dir of missing) {
      follow(dir);
      onChange(dir);
    }
    return missing.some((dir) => watches.has(dir));
  };

  try {
    followNew();
  } catch (error) {
    // The caller gets no bell that it could close.
    rings.close();
    throw error;
  }
  return {
    isWatched: (directory) => watches.has(directory),
    wait: (options) => {
      // Files in a new directory may have changed before it was watched: wake the reader.
      if (followNew()) rings.ring();
      return rings.wait(options);
    },
    close: () => rings.close(),
  };
}
