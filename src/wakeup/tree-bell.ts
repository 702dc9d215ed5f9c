import { join, sep } from "node:path";
import { isDirectory, listDir } from "../os/files/fs.ts";
import { type DirectoryWatch, watchDirectory } from "../os/files/watch.ts";
import { type Bell, ManualBell } from "./bell.ts";
/** Names of what comes and goes around a change: locks, their owners, temporary files. */
const TRANSIENT = /(^\.)|(\.(lock|q~*|owner|tmp)$)/;

/**
 * Rings when anything below some directories changes, for whoever shows it (sidebar, `status --watch`). Directories that
 * appear later are watched from then on, one of `dirs` from the next wait; locks and temporary files do not ring.
 */
export function openTreeBell(dirs: readonly string[]): Bell {
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
      // Also one that is there may be another of the same name, of which the old watch hears nothing.
      forget(changed);
      if (name !== undefined && isDirectory(changed)) follow(changed);
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
    for (const dir of missing) follow(dir);
    return missing.some((dir) => watches.has(dir));
  };

  followNew();
  return {
    wait: (options) => {
      // What changed in one before it was watched is looked at as well.
      if (followNew()) rings.ring();
      return rings.wait(options);
    },
    close: () => rings.close(),
  };
}
